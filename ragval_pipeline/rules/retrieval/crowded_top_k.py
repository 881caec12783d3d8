"""One page fills the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import OF_VECTORS, Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """How a result repeats itself.

    Attributes:
        hits: All hits.
        repeated: Those that nearly repeat a better one.
        crowded_out: Pages that the query expects and that come right after.
        points: Ids of the hits.
    """

    hits: int
    repeated: int
    crowded_out: Sequence[str]
    points: Sequence[str] = ()

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        repeated = f"{self.repeated} of {plural(self.hits, 'hit')} nearly repeat a better one"
        waiting = [names.page(str(url)) for url in self.crowded_out]
        beyond = f"no place is left for {names.value('pages', waiting)}" if waiting else ""
        return "; ".join(part for part in (repeated if self.repeated else "", beyond) if part)


RULE = Rule(
    code="retrieval.crowded_top_k",
    severity="warning",
    level="subject",
    group="queries",
    subject_kind="query",
    action="chunker",
    title="One page fills the results",
    means="gets results dominated by one page or by near-duplicates",
    many="get results dominated by one page or by near-duplicates",
    measured=(
        "The hits of each query are grouped by page and by nearly identical text. A hit that mostly has what "
        "better hits of its page have repeats them. Hits of different partitions do not repeat each other."
    ),
    cause="Chunks overlap too much, or a page is stored several times.",
    remedy="Remove duplicates, or group hits by page.",
    reads=OF_VECTORS
    | {
        Aspect.POSITION,
        Aspect.COPIES,
        Aspect.CURRENT,
        Aspect.TEXT,
        Aspect.CUT,
        Aspect.LETTERS,
        Aspect.WORDS,
        Aspect.DISTINCTION,
    },
    simulated_as="crowded answers",
    details=Details,
)
