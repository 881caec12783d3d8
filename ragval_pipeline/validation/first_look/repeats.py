"""How often the words of a typical page are stored, by its chunks alone."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from ragval_pipeline.validation.thresholds import MOST

#: Words per n-gram: two equal ones of this length have the same origin.
_RUN = 8  # definition
#: Pages with fewer n-grams are too short to be measured.
_FEWEST_RUNS = 30  # definition
#: Pages examined.
_PAGES = 400  # work


@dataclass(frozen=True)
class Repeats:
    """How often the words of pages are stored.

    Attributes:
        usual: Times of the median page, at least 1: a site may repeat itself on single pages.
        pages: Pages measured.
        more: Those stored more often than once, or whose chunks overlap by more than half.
    """

    usual: float
    pages: int
    more: int

    @property
    def is_usual(self) -> bool:
        """Whether a typical page is one of those."""
        return self.usual > 1 + MOST


def repeats_of(pages: Iterable[Sequence[str]]) -> Repeats | None:
    """How often some pages are stored, from the texts of their chunks; None if all pages are short.

    Word n-grams per distinct one: those repeated within a chunk count once.
    """
    times = [found for chunks in islice(pages, _PAGES) if (found := _times(chunks)) is not None]
    if not times:
        return None
    return Repeats(statistics.median(times), len(times), sum(found > 1 + MOST for found in times))


def _times(chunks: Iterable[str]) -> float | None:
    total, distinct = 0, set[tuple[str, ...]]()
    for chunk in chunks:
        words = re.findall(r"\w+", chunk.casefold())
        runs = {tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}
        total += len(runs)
        distinct |= runs
    return total / len(distinct) if len(distinct) >= _FEWEST_RUNS else None
