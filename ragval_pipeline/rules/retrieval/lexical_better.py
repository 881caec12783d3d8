"""Keyword search answers more questions."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="retrieval.lexical_better",
    severity="warning",
    level="corpus",
    group="queries",
    subject_kind="query",
    action="setting",
    title="Keyword search answers more questions",
    means="is answered by plain BM25 and not by your search",
    many="are answered by plain BM25 and not by your search",
    measured=(
        "BM25 is computed in memory over the stored texts and asked the same questions. A question is "
        "answered if every condition holds that it states, but for its score. The finding is reported if BM25 answers "
        "significantly more of them (paired permutation test), or at least three that the judged search does not."
    ),
    cause="The questions contain names, codes or identifiers that the embedding model does not tell apart.",
    remedy="Add a sparse vector and search both ways (hybrid), or choose a model that knows these words.",
    reads={Aspect.ANSWER},
)
