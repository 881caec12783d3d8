"""Whether what was found of a block stands together, or is gathered from all over a page that repeats itself.

What lives here: the places of the chunks that hold most of a block, and what they hold of it. What does not: what that
means for the block (``content``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ragval_pipeline.validation.integrity.folding import fold
from ragval_pipeline.validation.integrity.match import match_text
from ragval_pipeline.validation.integrity.searched import SearchedText

#: A block that a chunker cut in two stands in two places, wherever the second one was put.
PLACES = 2
#: Letters that may stand between two parts of a block: what an ingestion puts before a chunk, words that were added.
BETWEEN = 160


def letters_together(text: str, chunks: SearchedText) -> int:
    """How many letters of a text stand in the places of the chunks that hold most of it.

    Reference pages say the same of everything they list: half of a paragraph that was lost may stand in pieces of some
    words in the others. In one place, or two, there is less of it.

    Args:
        text: A block of the page.
        chunks: All chunks of the page.
    """
    places = list(_places(fold(text), chunks))
    return match_text(text, SearchedText(*places)).letters_found if places else 0


def _places(letters: str, chunks: SearchedText) -> Iterator[str]:
    """The stretches of the chunks, each about as long as the block, with the most runs of letters of it."""
    import numpy as np

    hits = chunks.grams.runs_shared_with(letters).astype(np.int64)
    length = len(letters) + BETWEEN
    for _ in range(PLACES):
        if not hits.any():
            return
        sums = np.cumsum(hits)
        ends = np.minimum(np.arange(len(hits)) + length, len(hits)) - 1
        start = int(np.argmax(sums[ends] - sums + hits))
        last = start + int(np.flatnonzero(hits[start : start + length])[-1])
        yield chunks.folded.between(start, min(last + chunks.grams.width_for(letters), len(chunks.folded.letters)))
        hits[start : start + length] = 0
