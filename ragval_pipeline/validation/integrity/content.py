"""A page in its chunks: which of its content they hold.

What lives here: the content of one page against all its chunks. What does not: the way there, a chunk in its page
(``match``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, islice, pairwise, takewhile

from ragval_pipeline.sources.page_text import Block
from ragval_pipeline.validation.integrity.common import CommonBlocks
from ragval_pipeline.validation.integrity.folding import fold
from ragval_pipeline.validation.integrity.gathered import letters_together
from ragval_pipeline.validation.integrity.markup import without_markup
from ragval_pipeline.validation.integrity.match import match_text
from ragval_pipeline.validation.integrity.searched import SearchedText

#: A block of fewer letters that is missed says little: a caption, a cell, a label of the theme.
PASSAGE_LETTERS = 40
#: Below this share of its letters a block counts as lost.
LOST_BELOW = 0.5
#: From this share on a block is there, whatever its pieces stand beside.
SURELY_HELD = 0.9
#: Letters that an ingestion may put before a chunk.
_FRAME_LETTERS = 160


@dataclass(frozen=True)
class HeldBlock:
    """A block of a page's content and how many of its letters stand in the page's chunks."""

    block: Block
    letters: int
    held: int

    @property
    def lost(self) -> bool:
        """Whether less than half of the block stands in any chunk."""
        return self.held < LOST_BELOW * self.letters


def chunk_side(texts: Sequence[str], labels: Iterable[str]) -> SearchedText:
    """All chunks of a page to look in.

    Args:
        texts: The chunks in the order of the page, put together without a break: the page goes on where a chunk ends.
        labels: Titles and headings stored with them: an ingestion that keeps them there did not lose them.
    """
    whole = "\n".join(texts)
    bare = without_markup(whole)
    return SearchedText(whole, bare if bare != whole else None, *dict.fromkeys(labels))


def held_blocks(blocks: Iterable[Block], chunks: SearchedText, common: CommonBlocks) -> list[HeldBlock]:
    """How much of each block of a page's content stands in its chunks, in the order of the page.

    Blocks without letters and those that stand on most pages are left out.
    """
    folded = [(block, letters) for block in blocks if (letters := fold(block.text)) and letters not in common]
    found = chunks.grams.covers("".join(letters for _, letters in folded))
    held, start = [], 0
    for block, letters in folded:
        end = start + len(letters)
        count = int(found[start:end].sum())
        if count < len(letters):
            # Short lines, cells, and blocks of which some words differ: seen one by one.
            count = max(count, match_text(block.text, chunks).letters_found)
        if len(letters) >= PASSAGE_LETTERS and LOST_BELOW * len(letters) <= count < SURELY_HELD * len(letters):
            count = min(count, letters_together(block.text, chunks))
        held.append(HeldBlock(block, len(letters), min(count, len(letters))))
        start = end
    return held


def lost_passages(held: Iterable[HeldBlock]) -> list[HeldBlock]:
    """Blocks of at least ``PASSAGE_LETTERS`` letters of which less than half stands in any chunk."""
    return [entry for entry in held if entry.letters >= PASSAGE_LETTERS and entry.lost]


def lost_headings(
    held: Sequence[HeldBlock], chunks: SearchedText, *, verified: bool, texts: Iterable[str] = ()
) -> list[str]:
    """Headings that stand in no chunk.

    A heading that was lost together with a passage below it is part of what was not captured.

    Args:
        held: The page's blocks.
        chunks: What they were looked for in.
        verified: Whether every chunk stands on the page letter for letter. Otherwise a heading of which half is there
            has changed and is not lost.
        texts: The chunks one by one: a heading that the chunker cut in two is not lost.
    """
    lost = (entry for entry, texts_below in _with_texts(held) if texts_below and not _is_told(texts_below))
    missed = [
        entry.block.text
        for entry in lost
        if (entry.lost or verified) and not _stands_whole(fold(entry.block.text), chunks)
    ]
    folded = [fold(text) for text in texts] if missed else []
    return [text for text in missed if not _is_cut(fold(text), folded)]


def _stands_whole(letters: str, chunks: SearchedText) -> bool:
    """Whether a heading stands in the chunks in one, with or without its number."""
    return chunks.place(letters) is not None or chunks.place(letters.lstrip("0123456789") or letters) is not None


def _is_cut(letters: str, chunks: Sequence[str]) -> bool:
    """Whether a chunk ends with the beginning of a heading and the next one has the rest near its own beginning."""
    for before, after in pairwise(chunks):
        longest = next((size for size in range(len(letters) - 1, 0, -1) if before.endswith(letters[:size])), 0)
        if longest and letters[longest:] in after[: len(letters) + _FRAME_LETTERS]:
            return True
    return False


def _is_told(below: Sequence[HeldBlock]) -> bool:
    """Whether what a heading heads was lost, and is said to be."""
    return below[0].lost and bool(lost_passages(below))


def _with_texts(held: Sequence[HeldBlock]) -> Iterator[tuple[HeldBlock, list[HeldBlock]]]:
    """Each heading with the texts below it, up to the next heading that has any; the last ones with the text before."""
    for number, entry in enumerate(held):
        if entry.block.kind == "heading":
            after = dropwhile(_is_heading, held[number + 1 :])
            below = list(takewhile(lambda other: not _is_heading(other), after))
            before = (other for other in reversed(held[:number]) if not _is_heading(other))
            yield entry, below or list(islice(before, 1))


def _is_heading(entry: HeldBlock) -> bool:
    return entry.block.kind == "heading"
