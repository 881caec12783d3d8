"""Most of the index was replaced."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="regression.corpus_turnover",
    severity="info",
    level="run",
    group="regression",
    subject_kind="collection",
    action="query",
    title="Most of the index was replaced",
    means="changed so much that chunk labels are no longer valid",
    many="changed so much that chunk labels are no longer valid",
    measured="The chunks of the baseline are compared with those of this run, by page and text.",
    cause="Most of the corpus was replaced.",
    remedy="Label pages instead of chunks, or label the chunks again.",
    judged_by=("no_regression",),
)
