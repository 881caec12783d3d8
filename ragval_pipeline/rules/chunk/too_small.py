"""Chunks too short to answer anything."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="chunk.too_small",
    severity="info",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="chunker",
    title="Chunks too short to answer anything",
    means="is too short to answer anything",
    many="are too short to answer anything",
    measured="The letters and digits of each chunk are counted, without lines that only repeat its headings.",
    cause="The chunker stores titles or leftovers as separate chunks.",
    remedy="Merge short chunks with their neighbours.",
    breaks={Aspect.CUT},
    reads={Aspect.LETTERS},
    repair="complete",
)
