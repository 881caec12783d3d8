"""Chunks longer than the model reads."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="chunk.over_model_limit",
    severity="warning",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="chunker",
    title="Chunks longer than the model reads",
    means="has more tokens than the embedding model reads",
    many="have more tokens than the embedding model reads",
    measured=(
        "The tokens of each text are counted with the model's own tokenizer if ragval has it, otherwise "
        "with the stored counts or a cautious estimate, and compared with the model's limit. The model is the one "
        "named in the payload, otherwise the one in the suite."
    ),
    cause="The chunker makes chunks longer than the model's input limit. Text beyond the limit is not searchable.",
    remedy="Make chunks shorter than the model's limit and re-ingest.",
    breaks={Aspect.LENGTH},
    reads={Aspect.LENGTH, Aspect.LETTERS},
    error_share=0.5,
    repair="cut",
)
