"""Long pages stored as one chunk."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.chunk.over_model_limit import Details
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="chunk.one_per_page",
    severity="warning",
    level="corpus",
    group="chunks",
    subject_kind="page",
    action="chunker",
    title="Long pages stored as one chunk",
    means="is longer than the model's limit but stored as one chunk",
    many="are longer than the model's limit but stored as one chunk each",
    measured=(
        "Pages whose only chunk is longer than the model's limit are counted. They are reported if there "
        "are at least two and they are at least half of all pages longer than the limit."
    ),
    cause="The chunker does not split.",
    remedy="Split pages into chunks below the model's limit and re-ingest.",
    breaks={Aspect.LENGTH, Aspect.SPLIT},
    repair="cut",
    details=Details,
)
