"""A text that others are looked for in: a page, or all chunks of a page.

What lives here: its parts, folded when they are first needed. What does not: the comparison (``match``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ragval_pipeline.validation.integrity.folding import FoldedText, joined, word_text
from ragval_pipeline.validation.integrity.grams import GramSet

#: A passage that stands more often in a text than this is not told apart by its place.
OCCURRENCES = 8


class SearchedText:
    """Some texts to look in, the first parts first.

    Args:
        parts: The texts; nothing is found across two of them.
    """

    def __init__(self, *parts: str | None) -> None:
        self._parts = tuple(part for part in parts if part)

    @cached_property
    def folded(self) -> FoldedText:
        """All parts, with separators between them."""
        return FoldedText.of(joined(self._parts))

    @cached_property
    def grams(self) -> GramSet:
        """Runs of letters of all parts."""
        return GramSet(self.folded.letters)

    @cached_property
    def words(self) -> str:
        """All words, to look for whole words in."""
        return word_text("\n".join(self._parts))

    def place(self, letters: str) -> int | None:
        """Where the letters stand first in ``folded``; null when they do not."""
        start = self.folded.letters.find(letters)
        return None if start < 0 else start

    def places(self, letters: str) -> Iterator[int]:
        """Where the letters stand in ``folded``."""
        start, text = -1, self.folded.letters
        for _ in range(OCCURRENCES):
            start = text.find(letters, start + 1)
            if start < 0:
                return
            yield start
