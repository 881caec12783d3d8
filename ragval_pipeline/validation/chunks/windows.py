"""Sliding windows: chunks of one ingestion that overlap as much as those of several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ragval_pipeline.lazy import np
from ragval_pipeline.validation.thresholds import FEW, NESTED, PASSAGE_LETTERS, SLIDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]

#: More letters than a page has: offset between the positions of different pages.
PAGE = 1 << 40  # definition


class Windows(NamedTuple):
    """Chunks of some pages as sliding windows.

    Attributes:
        pages: Which pages have chunks that each begin and end after the previous one. Several may begin with the page,
            and several may end with it.
        pairs: Pairs of a chunk there and its successor, at a distance of the number of chunks that begin the page.
        overlapping: Pairs whose successor begins well inside. With several ingestions it would continue where the chunk
            ends.
    """

    pages: Mask
    pairs: int
    overlapping: int


@dataclass
class SlidingWindows:
    """The pages whose chunks may be windows, and whether all of them are.

    How an ingestion chunks shows on all pages together, not on a single page of a few sentences.

    Attributes:
        copies: How often each page is stored.
        pairs: All pairs, as of ``Windows``.
        overlapping: Those that overlap.
    """

    copies: dict[str, float] = field(default_factory=dict)
    pairs: int = 0
    overlapping: int = 0

    def add(self, found: Windows, copies: Mapping[str, float]) -> None:
        """Add some pages with windows, and how often each is stored."""
        self.copies.update(copies)
        self.pairs += found.pairs
        self.overlapping += found.overlapping

    def ingested_twice(self) -> dict[str, float]:
        """The pages, with how often they are stored, unless they were chunked into windows."""
        return {} if self.overlapping > SLIDING * self.pairs else self.copies


def windows_of(page: Numbers, begin: Numbers, end: Numbers, *, pages: int) -> Windows:
    """The windows among some chunks.

    A chunk is given by its page, from 0, its first letter there, and the letter after its last.
    """
    order = np.lexsort((begin + end, page))
    page, begin, end = page[order], begin[order], end[order]
    first, last = np.full(pages, np.iinfo(np.int64).max), np.full(pages, -1)
    np.minimum.at(first, page, begin)
    np.maximum.at(last, page, end)
    counts = np.bincount(page, minlength=pages)
    size = np.bincount(page, end - begin, minlength=pages)[page] / counts[page]
    # Windows of a few sentences advance by less than a passage.
    opens = begin - first[page] < np.minimum(PASSAGE_LETTERS, FEW * size)
    closes = last[page] - end < PASSAGE_LETTERS
    on = ((np.diff(begin) > 0) | opens[1:]) & ((np.diff(end) > 0) | closes[:-1])
    behind = np.bincount(page[1:][~on & (np.diff(page) == 0)], minlength=pages)
    most = NESTED * counts
    windows = (counts > 0) & (behind < most) & (_inside(page, begin, end, size, pages=pages) < most)
    here = np.flatnonzero(windows[page])
    there = here + np.bincount(page, opens, minlength=pages).astype(np.int64)[page[here]]
    kept = there < len(page)
    here, there = here[kept], there[kept]
    kept = page[here] == page[there]
    here, there = here[kept], there[kept]
    overlapping = int((begin[there] < end[here] - SLIDING * (end - begin)[here]).sum())
    return Windows(windows, len(here), overlapping)


def _inside(page: Numbers, begin: Numbers, end: Numbers, size: NDArray[np.float64], *, pages: int) -> Numbers:
    """How many chunks of each page begin after another and end before it, which no window does.

    ``size`` is the mean length of the chunks of each one's page, of which a small part is tolerated at the edges.
    """
    order = np.lexsort((begin, page))
    page, begin, end, edge = page[order], begin[order], end[order], (FEW * size[order]).astype(np.int64)
    starts = page * PAGE + begin
    before = np.searchsorted(starts, starts - edge)
    reached = np.append(-1, np.maximum.accumulate(page * PAGE + end))[before]
    return np.bincount(page, reached > page * PAGE + end + edge, minlength=pages).astype(np.int64)
