"""Index not reachable."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="index.unreachable",
    severity="error",
    level="run",
    group="index",
    subject_kind="system",
    action="setting",
    title="Index not reachable",
    means="does not answer",
    many="do not answer",
    measured=(
        "ragval calls Qdrant, or the search that retrieval.retriever names, and repeats failed calls. After "
        "the last attempt the run ends with exit code 3."
    ),
    cause="The server is down, the address is wrong, or the key is refused.",
    remedy="Check qdrant.url, qdrant.api_key and the network.",
    prevents="run",
)
