"""Profile ``retrieval-validation``: known answers found again, every time alike."""

from __future__ import annotations

from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.profiles.base import QDRANT_API_KEY, QDRANT_URL, Profile, QueryRule, Variable

PROFILE = Profile(
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
        # The seed takes queries of any length.
        "embedding": {"provider": "cohere", "model": "embed-english-v3.0", "long_queries": "cut"},
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
        Variable("COHERE_API_KEY", "embedding.api_key"),
        QDRANT_URL,
        QDRANT_API_KEY,
        Variable("QDRANT_COLLECTION_NAME", "qdrant.collection"),
        Variable("COHERE_MODEL", "embedding.model"),
        Variable("RETRIEVAL_THRESHOLD", "retrieval.min_similarity"),
    ),
    query_rules=(
        QueryRule("expected_results", bool, "must hold at least one expected chunk"),
    ),
    expects=("expected_results",),
    max_input_tokens=512,
)  # fmt: skip
