"""Ground truth that matches nothing."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="query.unmatched_judgements",
    severity="warning",
    level="run",
    group="queries",
    subject_kind="judgement",
    action="query",
    title="Ground truth that matches nothing",
    means="is in the qrels but in no query file or index",
    many="are in the qrels but in no query file or index",
    measured="The ids of the ground truth are looked up among the queries and in the index.",
    cause="The qrels belong to other topics or documents, or the ids are written differently.",
    remedy="Use the qrels of these topics and this collection, or correct the ids.",
    reads={Aspect.FIELD, Aspect.PRESENCE},
)
