"""Site without pages in scope."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="source.empty",
    severity="error",
    level="run",
    group="coverage",
    subject_kind="url",
    action="setting",
    title="Site without pages in scope",
    means="lists no page in scope",
    many="list no page in scope",
    measured="The listed pages that pass source.include and source.exclude are counted.",
    cause="No listed page passes source.include and source.exclude, or the list is empty.",
    remedy="Correct source.include and source.exclude, or rebuild the sitemap or list.",
    breaks={Aspect.PAGE},
    prevents="measuring",
)
