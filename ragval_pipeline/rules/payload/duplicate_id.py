"""Chunk id used twice."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.copies import Copies
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="payload.duplicate_id",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="delete",
    title="Chunk id used twice",
    means="has a chunk id that another point has too",
    many="have a chunk id that another point has too",
    measured=(
        "Points are grouped by the id in their payload. Numbers that start again on every page are positions, not ids."
    ),
    cause="Points were copied, or the ingestion makes ids that are not unique.",
    remedy="Make ids unique, review the points under review_point_ids in remediation.json, and delete the copies.",
    reads={Aspect.POSITION, Aspect.COPIES},
    repair="copies",
    keeps_one=True,
    details=Copies,
)
