"""Profile ``rag-retrieval-testing``: texts true to their pages, traceable and fast."""

from __future__ import annotations

from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.profiles.base import QDRANT_API_KEY, QDRANT_URL, Profile, QueryRule, Variable, sitemap_of

MAX_CHARACTERS = 1000

PROFILE = Profile(
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
        "embedding": {"provider": "cohere", "model": "embed-multilingual-v3.0"},
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
        Variable("COHERE_API_KEY", "embedding.api_key"),
        QDRANT_URL,
        QDRANT_API_KEY,
        Variable("QDRANT_COLLECTION_NAME", "qdrant.collection"),
        Variable("COHERE_MODEL", "embedding.model"),
        Variable("BASE_URL", "source.sitemap", sitemap_of, unless=("source",)),
    ),
    query_rules=(
        QueryRule(
            "query_text",
            lambda text: len(text.strip()) <= MAX_CHARACTERS,
            f"must have at most {MAX_CHARACTERS} characters",
        ),
    ),
    expects=("relevant_urls",),
    max_input_tokens=512,
)  # fmt: skip
