"""Profile ``retrieval-pipeline-testing``: a book checked by module and similarity."""

from __future__ import annotations

import re

from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.profiles.base import QDRANT_API_KEY, QDRANT_URL, Profile, QueryRule, Variable, sitemap_of

MODULE_PATTERN = re.compile(r"Module \d+ \S.*")

PROFILE = Profile(
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
        "embedding": {"provider": "cohere", "model": "embed-english-v3.0"},
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
        Variable("COHERE_API_KEY", "embedding.api_key"),
        QDRANT_URL,
        QDRANT_API_KEY,
        Variable("DOCUSAURUS_BASE_URL", "source.sitemap", sitemap_of, unless=("source",)),
        Variable("SIMILARITY_THRESHOLD", "retrieval.min_similarity"),
        Variable("TOP_K_RESULTS", "retrieval.top_k"),
    ),
    query_rules=(
        # Real books have an "Intro" beside their modules: the pattern is advice.
        QueryRule(
            "expected_module",
            lambda value: value is None or bool(MODULE_PATTERN.fullmatch(value)),
            'does not follow the pattern "Module N Name"',
            fatal=False,
        ),
    ),
    expects=("expected_module", "min_similarity"),
    max_input_tokens=512,
)  # fmt: skip
