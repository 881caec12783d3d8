"""Search too slow."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="retrieval.slow",
    severity="warning",
    level="run",
    group="latency",
    subject_kind="metric",
    action="setting",
    title="Search too slow",
    means="is over its latency budget",
    many="are over their latency budget",
    measured=(
        "Single, warm embedding and search calls are timed, and their 95th percentile is compared with the "
        "budget in latency_p95_ms."
    ),
    cause="The server, the network or the embedder is slow.",
    remedy="Check embedding and search separately.",
    lowers=("latency_p95_ms",),
)
