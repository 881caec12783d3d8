"""Profile ``retrieval-pipeline``: a search checked by keywords and a threshold."""

from __future__ import annotations

from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.profiles.base import QDRANT_API_KEY, QDRANT_URL, Profile, QueryRule, SettingRule, Variable

MAX_CHARACTERS = 8000
MAX_TOP_K = 50

PROFILE = Profile(
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
        # The seed's limit is a number of characters, and a text below it may have more tokens than the model reads.
        "embedding": {"provider": "cohere", "model": "embed-english-v3.0", "long_queries": "cut"},
        "retrieval": {"top_k": 5, "k": (3, 5), "min_similarity": 0.7, "judge": ("keywords", "score")},
        "retry": {"max": 3, "delay_s": 1.0},
    },
    gates={
        "query_pass_rate": Gate(1.0, required=True),
        "hit_at_5": Gate(0.80, required=False),
        "latency_p95_ms": Gate(2000.0, required=False),
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
            lambda text: 1 <= len(text.strip()) <= MAX_CHARACTERS,
            f"must have 1 to {MAX_CHARACTERS} characters",
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
)  # fmt: skip
