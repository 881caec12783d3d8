"""What of a page's content was cut off behind the end of a chunk."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import itemgetter
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np
from ragval_pipeline.text.folding import SEPARATOR, amount_of, code_points
from ragval_pipeline.validation.facts.page import Page, Range
from ragval_pipeline.validation.facts.spans import Alignment
from ragval_pipeline.validation.thresholds import MOST

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragval_pipeline.sources.site.html.page_text import Block

    Mask = npt.NDArray[np.bool_]


@dataclass
class Cut:
    """A part of a page behind the last letter of a chunk, up to the next one.

    Attributes:
        block: Number of the block that it begins in.
        text: That block's text.
        first: Its first letter there.
        is_within: Whether that is within a block, or a list of blocks: the part goes on in the next ones.
        letters: Its letters in the content.
        lacking: How much text of it is in no chunk.
    """

    block: int
    text: str
    first: int
    is_within: bool
    letters: int = 0
    lacking: float = 0


class Cuts:
    """What of a page's content is behind the last letter of a chunk, up to the next one.

    A chunk ends where the chunker meant it to end: if no other goes on there, either was cut off. A chunk in which the
    page has other words at its end does not tell where it would have gone on.

    Args:
        page: The page.
        chunks: The alignments of its chunks.
        held: Which of its letters they hold.
        known: Which letters of a text are in some chunk, wherever that is on the page.
    """

    def __init__(self, page: Page, chunks: Sequence[Alignment], held: Mask, known: Callable[[str], Mask]) -> None:
        lasts = [chunk.spans[-1] for chunk in chunks if chunk.spans and chunk.spans[-1].end == chunk.letters]
        ends = {last.beyond for last in lasts if last.place >= 0}
        # Nothing goes on from one text of the page to another.
        parted = held | (code_points(page.letters) == ord(SEPARATOR))
        edges = np.flatnonzero(np.diff(parted, prepend=True, append=True)).reshape(-1, 2).tolist()
        self._holes = [(first, last) for first, last in edges if first in ends]
        self._known = known
        self._cuts: dict[int, Cut] = {}

    def add(
        self, number: int, block: Block, letters: str, places: Sequence[Range], *, is_listed: bool, missing: int
    ) -> None:
        """Count a block, given its number, letters, positions, whether it goes on a list, and how much chunks lack."""
        parts = list(self._parts(places))
        lacks = ~self._known(letters) if parts else np.empty(0, dtype=np.bool_)
        for hole, first, end in parts:
            cut = self._cuts.setdefault(hole, Cut(number, block.text, first, is_within=first > 0 or is_listed))
            if cut.block == number or cut.is_within:
                lacking = "".join(compress(letters[first:end], lacks[first:end]))
                cut.letters += end - first
                cut.lacking += amount_of(lacking[:missing])

    def longest(self) -> dict[int, Cut]:
        """By the number of a block the cut that begins in it and lacks most, if that is most of its letters."""
        cuts = (cut for cut in self._cuts.values() if 0 < cut.lacking >= MOST * cut.letters)
        return {cut.block: cut for cut in sorted(cuts, key=lambda cut: cut.lacking)}

    def _parts(self, places: Sequence[Range]) -> Iterator[tuple[int, int, int]]:
        """Numbers of such parts that a block with these positions has, as ranges of its letters."""
        seen = 0
        for begin, end in places:
            for hole in range(bisect_right(self._holes, begin, key=itemgetter(1)), len(self._holes)):
                first, last = self._holes[hole]
                if first >= end:
                    break
                yield hole, seen + max(first, begin) - begin, seen + min(last, end) - begin
            seen += end - begin
