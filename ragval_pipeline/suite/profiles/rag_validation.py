"""Profile ``rag-validation``: relevance and precision over the questions of a syllabus."""

from __future__ import annotations

from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.profiles.base import QDRANT_API_KEY, QDRANT_URL, Profile, QueryRule, Variable, are_http_urls

CATEGORIES = ("ROS 2", "Digital Twin (Gazebo/Unity)", "NVIDIA Isaac", "VLA", "Capstone", "General")
MIN_CHARACTERS = 5

PROFILE = Profile(
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
        "embedding": {"provider": "cohere", "model": "embed-multilingual-v3.0"},
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
    variables=(
        Variable("COHERE_API_KEY", "embedding.api_key"),
        QDRANT_URL,
        QDRANT_API_KEY,
        Variable("QDRANT_COLLECTION_NAME", "qdrant.collection"),
    ),
    query_rules=(
        QueryRule(
            "query_text",
            lambda text: len(text.strip()) >= MIN_CHARACTERS,
            f"must have at least {MIN_CHARACTERS} characters",
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
)  # fmt: skip
