"""Gates that cannot be reached."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="query.unreachable_gate",
    severity="warning",
    level="run",
    group="queries",
    subject_kind="metric",
    action="setting",
    title="Gates that cannot be reached",
    means="has a gate above, or just below, the best value that the ground truth allows",
    many="have a gate above, or just below, the best value that the ground truth allows",
    measured=(
        "The best value that a perfect ranking could reach with this ground truth is computed and "
        "compared with the gate."
    ),
    cause="There are fewer relevant pages than ranks in the top k.",
    remedy="Gate on recall or on a smaller k, or list all relevant pages.",
    fails_rankings=True,
)
