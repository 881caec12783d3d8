"""A page as chunks are looked for in it.

What lives here: one page's texts, folded when they are first needed. What does not: the comparison (``forward``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ragval_pipeline.validation.integrity.folding import FoldedText, joined, word_text
from ragval_pipeline.validation.integrity.grams import GramSet

#: A passage that stands more often on a page than this is not told apart by its place.
OCCURRENCES = 8


class PageSide:
    """The page's content, then its whole body, then its title: found first where it is content.

    Args:
        main: Text of the content.
        body: All text.
        title: Title, or null.
    """

    def __init__(self, main: str, body: str, title: str | None) -> None:
        self._main, self._body, self._title = main, body, title or ""

    @cached_property
    def main(self) -> FoldedText:
        """The content."""
        return FoldedText.of(self._main)

    @cached_property
    def whole(self) -> FoldedText:
        """Everything that could have been taken for content: content, body and title, divided by separators."""
        return FoldedText.of(joined((self._main, self._body, self._title)))

    @cached_property
    def grams(self) -> GramSet:
        """Runs of letters of the whole page."""
        return GramSet(self.whole.letters)

    @cached_property
    def words(self) -> str:
        """All words, to look for whole words in."""
        return word_text("\n".join((self._body, self._main, self._title)))

    def places(self, letters: str) -> Iterator[int]:
        """Where the letters stand in ``whole``, the content's places first."""
        start, text = -1, self.whole.letters
        for _ in range(OCCURRENCES):
            start = text.find(letters, start + 1)
            if start < 0:
                return
            yield start
