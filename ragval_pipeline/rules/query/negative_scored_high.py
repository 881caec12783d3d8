"""Off-topic questions score too high."""

from __future__ import annotations

from ragval_pipeline.rules.aspects import OF_TEXTS, OF_VECTORS, Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.query.failed import Details as Failed
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.numbers import show_score


class Details(Failed):
    """The score of a query that should find nothing."""

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"scores {show_score(self.best_similarity)}, its limit is {self.threshold:g}"


RULE = Rule(
    code="query.negative_scored_high",
    severity="error",
    level="subject",
    group="queries",
    subject_kind="query",
    action="query",
    title="Off-topic questions score too high",
    means="is off topic but scores above its limit",
    many="are off topic but score above their limit",
    measured="Each off-topic query is run, and its best score is compared with its limit.",
    cause="The limit is too low for this embedder, or the index does contain text about the topic.",
    remedy="Raise min_similarity for the query, or look at the hits.",
    breaks={Aspect.ANSWER},
    reads=OF_TEXTS | OF_VECTORS | {Aspect.DISTINCTION, Aspect.SELECTION},
    lowers=("critical_queries",),
    judged_by=("query_pass_rate", "negative_pass_rate"),
    simulated_as="negative queries that scored high",
    details=Details,
)
