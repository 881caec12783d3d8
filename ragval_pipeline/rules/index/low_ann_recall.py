"""Approximate search misses hits."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="index.low_ann_recall",
    severity="warning",
    level="run",
    group="index",
    subject_kind="collection",
    action="setting",
    title="Approximate search misses hits",
    means="returns different hits from an exact search",
    many="return different hits from an exact search",
    measured=(
        "Queries and stored vectors are searched twice, with the default search and exactly, and the hits are compared."
    ),
    cause="The HNSW parameters used for building or searching are too small.",
    remedy="Raise hnsw_ef, or rebuild the index with larger m and ef_construct.",
    breaks={Aspect.SEARCH},
    reads={Aspect.STABLE},
    lowers=("ann_recall",),
    repair="search_exactly",
)
