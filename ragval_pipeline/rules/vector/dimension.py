"""Collection and embedder do not fit."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule


class Whole(NamedTuple):
    """What was measured on the finding as a whole.

    Attributes:
        found: Dimension of the queries' vectors.
    """

    found: int | None = None


RULE = Rule(
    code="vector.dimension",
    severity="error",
    level="run",
    group="vectors",
    subject_kind="collection",
    action="setting",
    title="Collection and embedder do not fit",
    means="and the embedder differ in dimension or distance",
    many="and the embedder differ in dimension or distance",
    measured="The collection's dimension and distance are compared with the embedder's.",
    cause="The collection was created with a different model than the one in the suite.",
    remedy="Set embedding.model to the model of the collection, or re-embed the collection.",
    breaks={Aspect.SPACE, Aspect.MODEL},
    repair="untried",
    prevents="measuring",
)
