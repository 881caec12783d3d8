"""Embedding provider not reachable."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="embedder.unreachable",
    severity="error",
    level="run",
    group="queries",
    subject_kind="system",
    action="setting",
    title="Embedding provider not reachable",
    means="refuses, times out or limits requests",
    many="refuse, time out or limit requests",
    measured=(
        "ragval calls the embedding provider and repeats failed calls. After the last attempt the run "
        "ends with exit code 3."
    ),
    cause=(
        "The API key or the URL is wrong, the quota is used up, or the model at that URL is not an embedding model."
    ),
    remedy="Check embedding.api_key, embedding.base_url and the provider's limits.",
    prevents="run",
)
