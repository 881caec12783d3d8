"""Worse than the baseline."""

from ragval_pipeline.rules.aspects import OF_TEXTS, OF_VECTORS, Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="regression.significant_drop",
    severity="error",
    level="run",
    group="regression",
    subject_kind="metric",
    action="reingest",
    title="Worse than the baseline",
    means="fell below the baseline by more than the tolerated drop, and not by chance",
    many="fell below the baseline by more than the tolerated drop, and not by chance",
    measured=(
        "The run is compared with the baseline query by query. A metric is reported if it fell by more "
        "than history.tolerated_drop and a paired test rules out chance."
    ),
    cause="The index or the ranker got worse.",
    remedy="Compare the runs and look at the queries that lost.",
    reads=OF_TEXTS
    | OF_VECTORS
    | {
        Aspect.ANSWER,
        Aspect.VALUE,
        Aspect.KEPT,
        Aspect.COPIES,
        Aspect.DISTINCTION,
    },
    judged_by=("no_regression",),
    simulated_as="metrics that fell",
)
