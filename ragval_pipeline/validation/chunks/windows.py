"""Sliding windows: chunks of one ingestion that overlap as much as those of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragval_pipeline.validation.thresholds import FEW, NESTED, PASSAGE_LETTERS, SLIDING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


@dataclass
class SlidingWindows:
    """The pages whose chunks may be windows, and whether all of them are.

    How an ingestion chunks shows on all pages together, not on a single page of a few sentences.

    Attributes:
        copies: How often each page is stored.
        pairs: Pairs of a chunk and its successor, at a distance of the number of chunks that begin the page.
        overlapping: Pairs whose successor begins well inside. With several ingestions it would continue where the chunk
            ends.
    """

    copies: dict[str, float] = field(default_factory=dict)
    pairs: int = 0
    overlapping: int = 0

    def ingested_twice(self) -> dict[str, float]:
        """The pages, with how often they are stored, unless they were chunked into windows."""
        return {} if self.overlapping > SLIDING * self.pairs else self.copies

    def without(
        self, copies: dict[str, float], keys: Sequence[str], page: Numbers, begin: Numbers, end: Numbers
    ) -> dict[str, float]:
        """Take out the pages on which each chunk begins and ends after the previous one.

        Several may begin with the page, and several may end with it.

        Args:
            copies: How often each page is stored.
            keys: Of the pages.
            page: The page of each chunk, as an index into ``keys``.
            begin: Its first letter on the page.
            end: The letter after its last one.

        Returns:
            The other entries of ``copies``.
        """
        import numpy as np

        order, pages = np.lexsort((begin + end, page)), len(keys)
        page, begin, end = page[order], begin[order], end[order]
        first, last = np.full(pages, np.iinfo(np.int64).max), np.full(pages, -1)
        np.minimum.at(first, page, begin)
        np.maximum.at(last, page, end)
        held = np.bincount(page, minlength=pages)
        size = np.bincount(page, end - begin, minlength=pages)[page] / held[page]
        # Windows of a few sentences advance by less than a passage.
        opens = begin - first[page] < np.minimum(PASSAGE_LETTERS, FEW * size)
        closes = last[page] - end < PASSAGE_LETTERS
        on = ((np.diff(begin) > 0) | opens[1:]) & ((np.diff(end) > 0) | closes[:-1])
        behind = np.bincount(page[1:][~on & (np.diff(page) == 0)], minlength=pages)
        windows = (held > 0) & (behind < NESTED * held)
        here = np.flatnonzero(windows[page])
        there = here + np.bincount(page, opens, minlength=pages).astype(np.int64)[page[here]]
        kept = there < len(page)
        here, there = here[kept], there[kept]
        kept = page[here] == page[there]
        here, there = here[kept], there[kept]
        self.pairs += len(here)
        self.overlapping += int((begin[there] < end[here] - SLIDING * (end - begin)[here]).sum())
        taken = {keys[number] for number in np.flatnonzero(windows).tolist()}
        self.copies |= {key: times for key, times in copies.items() if key in taken}
        return {key: times for key, times in copies.items() if key not in taken}
