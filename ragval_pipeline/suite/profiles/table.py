"""The five profiles: each seed's settings, gates, variables and rules."""

from __future__ import annotations

import re

from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.profiles.base import (
    SYSTEM_VARIABLES,
    Profile,
    QueryRule,
    SettingRule,
    Variable,
    are_http_urls,
    sitemap_of,
)

#: Modules as ``retrieval-pipeline-testing`` names them.
MODULE_PATTERN = re.compile(r"Module \d+ \S.*")
#: Categories of ``rag-validation``'s queries, and how short these may be.
CATEGORIES = ("ROS 2", "Digital Twin (Gazebo/Unity)", "NVIDIA Isaac", "VLA", "Capstone", "General")
MIN_CHARACTERS = 5
#: How long a query of ``retrieval-pipeline`` may be, and how many hits it may ask for.
PIPELINE_MAX_CHARACTERS = 8000
MAX_TOP_K = 50
#: How long a query of ``rag-retrieval-testing`` may be.
TESTING_MAX_CHARACTERS = 1000
#: Cohere truncates long texts by default, and no seed changes that: their limits are in characters.
_COHERE = {"provider": "cohere", "long_queries": "cut"}

# fmt: off
#: A book checked by module and similarity.
RETRIEVAL_PIPELINE_TESTING = Profile(
    name="retrieval-pipeline-testing",
    seed="000 Retrieval Pipeline Testing",
    settings={
        "qdrant": {"collection": "rag_embedding"},
        "payload": {
            "fields": {
                "text": "chunk_text",
                "source_url": "source_url",
                "module": "module_name",
                "chapter": "chapter_id",
                "headings": "heading_hierarchy",
                "token_count": "token_count",
                "chunk_index": "chunk_index",
                "model": "model_version",
                "embedded_at": "timestamp",
                "chunk_id": "chunk_id",
            },
            "required": (
                "source_url", "chapter_id", "module_name", "heading_hierarchy", "token_count", "chunk_index",
            ),
        },
        "embedding": {**_COHERE, "model": "embed-english-v3.0"},
        "retrieval": {"top_k": 5, "k": (3, 5), "min_similarity": 0.70, "judge": ("score", "module")},
        # The seed's system fails fast, with a hint.
        "retry": {"max": 0},
    },
    gates={
        "query_pass_rate": Gate(0.90, required=True),
        "coverage": Gate(1.0, required=True),
        "metadata_completeness": Gate(1.0, required=True),
        "avg_similarity": Gate(0.70, required=False),
        "latency_p95_ms": Gate(2000.0, required=False),
    },
    variables=(
        *SYSTEM_VARIABLES,
        Variable("DOCUSAURUS_BASE_URL", "source.sitemap", sitemap_of, unless=("source",)),
        Variable("SIMILARITY_THRESHOLD", "retrieval.min_similarity"),
        Variable("TOP_K_RESULTS", "retrieval.top_k"),
    ),
    query_rules=(
        # Real books have an "Intro" besides their modules: the pattern is advice.
        QueryRule(
            "expected_module",
            lambda value: value is None or bool(MODULE_PATTERN.fullmatch(value)),
            'does not follow the pattern "Module N Name"',
            fatal=False,
        ),
    ),
    expects=("expected_module", "min_similarity"),
    max_input_tokens=512,
)

#: Known answers, found the same way every time.
RETRIEVAL_VALIDATION = Profile(
    name="retrieval-validation",
    seed="001 Retrieval Validation & End-to-End Pipeline Testing",
    settings={
        "qdrant": {"collection": "book_embeddings"},
        "payload": {
            "fields": {
                "text": "text",
                "source_url": "source_url",
                "module": "module",
                "chapter": "chapter",
                "chunk_index": "chunk_index",
                "chunk_id": "chunk_id",
                "text_hash": "text_hash",
                "model": "model",
                "original_length": "original_length",
                "embedded_at": "processed_at",
            },
            "required": ("source_url", "module", "chapter", "chunk_index"),
        },
        "embedding": {**_COHERE, "model": "embed-english-v3.0"},
        "retrieval": {"top_k": 5, "k": (3, 5), "min_similarity": 0.3, "judge": ("results", "score"), "repeats": 2},
    },
    gates={
        "query_pass_rate": Gate(0.95, required=True),
        "retrieved_metadata_completeness": Gate(1.0, required=True),
        "accuracy": Gate(0.95, required=True),
        "determinism": Gate(1.0, required=True),
        "negative_pass_rate": Gate(1.0, required=True),
        "latency_p95_ms": Gate(500.0, required=False),
    },
    variables=(
        *SYSTEM_VARIABLES,
        Variable("QDRANT_COLLECTION_NAME", "qdrant.collection"),
        Variable("COHERE_MODEL", "embedding.model"),
        Variable("RETRIEVAL_THRESHOLD", "retrieval.min_similarity"),
    ),
    query_rules=(
        QueryRule(
            "expected_results",
            bool,
            "must have at least one expected chunk",
            remedy="Add one, leave the key out, or mark a query that must find nothing with negative: true.",
        ),
    ),
    expects=("expected_results",),
    max_input_tokens=512,
    holds_vectors=True,
)

#: Relevance and precision over the questions of a syllabus.
RAG_VALIDATION = Profile(
    name="rag-validation",
    seed="002 RAG Validation",
    settings={
        "qdrant": {"collection": "robotics_textbook"},
        "payload": {
            "fields": {
                "text": "text",
                "source_url": "url",
                "title": "title",
                "headings": "heading",
                "token_count": "token_count",
                "chunk_index": "position",
            },
            "required": ("url", "title", "heading", "text"),
        },
        "embedding": {**_COHERE, "model": "embed-multilingual-v3.0"},
        "retrieval": {
            "top_k": 5, "k": (3, 5), "min_similarity": 0.5, "relevance_similarity": 0.5, "judge": ("score",),
        },
    },
    gates={
        "relevance_rate": Gate(0.80, required=True),
        # Not applicable, and so no obstacle, without ground truth.
        "precision_at_3": Gate(0.70, required=True),
        "retrieved_metadata_completeness": Gate(1.0, required=False),
    },
    variables=(*SYSTEM_VARIABLES, Variable("QDRANT_COLLECTION_NAME", "qdrant.collection")),
    query_rules=(
        QueryRule(
            "query_text",
            lambda text: len(text.strip()) >= MIN_CHARACTERS,
            f"must have at least {MIN_CHARACTERS} characters",
            remedy="Write a complete question.",
        ),
        QueryRule(
            "category",
            lambda category: category is None or category in CATEGORIES,
            f"must be one of: {'; '.join(CATEGORIES)}",
        ),
        QueryRule("relevant_urls", are_http_urls, "must be http(s) URLs, at least one"),
    ),
    expects=("category",),
    max_input_tokens=512,
    plain_headings=True,
    # The seed knows one threshold: a query passes when its first hit is relevant.
    follows={"retrieval.min_similarity": "retrieval.relevance_similarity"},
)

#: A search checked by keywords and a threshold.
RETRIEVAL_PIPELINE = Profile(
    name="retrieval-pipeline",
    seed="003 Data Retrieval & Pipeline Validation",
    settings={
        "qdrant": {"collection": "Physical-AI-Book"},
        "payload": {
            "fields": {
                "text": "content",
                "source_url": "url",
                "title": "title",
                "token_count": "token_count",
                "chunk_index": "chunk_index",
                "embedded_at": "embedded_at",
            },
            "required": ("url", "title", "chunk_index", "content", "token_count", "embedded_at"),
        },
        "embedding": {**_COHERE, "model": "embed-english-v3.0"},
        "retrieval": {"top_k": 5, "k": (3, 5), "min_similarity": 0.7, "judge": ("keywords", "score")},
        "retry": {"max": 3, "delay_s": 1.0},
    },
    gates={
        "query_pass_rate": Gate(1.0, required=True),
        "hit_at_5": Gate(0.80, required=False),
        "latency_p95_ms": Gate(2000.0, required=False),
    },
    variables=(*SYSTEM_VARIABLES, Variable("QDRANT_COLLECTION_NAME", "qdrant.collection")),
    query_rules=(
        QueryRule(
            "query_text",
            lambda text: 1 <= len(text) <= PIPELINE_MAX_CHARACTERS,
            f"must have 1 to {PIPELINE_MAX_CHARACTERS} characters",
            remedy="Shorten it.",
        ),
        QueryRule(
            "top_k", lambda top_k: top_k is None or 1 <= top_k <= MAX_TOP_K, f"must be 1 to {MAX_TOP_K}"
        ),
    ),
    setting_rules=(
        SettingRule("retrieval.top_k", lambda top_k: 1 <= top_k <= MAX_TOP_K, f"must be 1 to {MAX_TOP_K}"),
    ),
    expects=("expected_keywords",),
    max_input_tokens=512,
    vector_size=1024,
    results_reach_threshold=True,
    id_rule="{source_url}_{chunk_index}",
)

#: Texts true to their pages, traceable and fast.
RAG_RETRIEVAL_TESTING = Profile(
    name="rag-retrieval-testing",
    seed="004 RAG Retrieval Testing",
    settings={
        "qdrant": {"collection": "rag-embeddings"},
        "payload": {
            "fields": {
                "text": "content",
                "source_url": "url",
                "title": "source_title",
                "chunk_id": "chunk_id",
                "text_hash": "text_hash",
                "model": "model",
                "embedded_at": "created_at",
            },
            "required": ("url", "chunk_id"),
        },
        "embedding": {**_COHERE, "model": "embed-multilingual-v3.0"},
        "retrieval": {"top_k": 5, "k": (3, 5), "min_similarity": 0.5, "judge": ("url", "score")},
    },
    gates={
        "query_pass_rate": Gate(0.90, required=True),
        "content_integrity": Gate(0.99, required=True),
        "error_findings": Gate(0.0, required=True),
        "retrieved_metadata_completeness": Gate(1.0, required=True),
        "latency_p95_ms": Gate(2000.0, required=True),
        "recall_at_5": Gate(0.90, required=True),
    },
    variables=(
        *SYSTEM_VARIABLES,
        Variable("QDRANT_COLLECTION_NAME", "qdrant.collection"),
        Variable("COHERE_MODEL", "embedding.model"),
        Variable("BASE_URL", "source.sitemap", sitemap_of, unless=("source",)),
    ),
    query_rules=(
        QueryRule(
            "query_text",
            lambda text: len(text) <= TESTING_MAX_CHARACTERS,
            f"must have at most {TESTING_MAX_CHARACTERS} characters",
            remedy="Shorten it.",
        ),
    ),
    expects=("relevant_urls",),
    max_input_tokens=512,
    holds_vectors=True,
)
# fmt: on

#: The profiles by name, in the order of their schemas.
PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        RETRIEVAL_PIPELINE_TESTING,
        RETRIEVAL_VALIDATION,
        RAG_VALIDATION,
        RETRIEVAL_PIPELINE,
        RAG_RETRIEVAL_TESTING,
    )
}
