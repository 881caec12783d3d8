"""Questions no longer answered."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="regression.query_lost",
    severity="warning",
    level="run",
    group="regression",
    subject_kind="query",
    action="query",
    title="Questions no longer answered",
    means="passed before and fails now",
    many="passed before and fail now",
    measured="Queries that passed in the baseline and fail now are listed.",
    cause="The answer to the query is gone or ranks lower.",
    remedy="Compare the hits of both runs.",
    reads={Aspect.ANSWER},
    judged_by=("no_regression",),
    simulated_as="lost queries",
)
