"""A chunk in its page: how many of its letters stand there.

What lives here: the match of one text with another. What does not: what a match means for the index (``classes``).

Most chunks stand on their page letter for letter. For the others letters in common runs count (``grams``), then what
such runs are too long to see (``fill``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.validation.integrity.fill import find_labels, find_words
from ragval_pipeline.validation.integrity.folding import FoldedText
from ragval_pipeline.validation.integrity.markup import without_markup, without_statements
from ragval_pipeline.validation.integrity.searched import SearchedText

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Match:
    """How a text stands in another.

    Args:
        text: The text, Markdown's markup taken out where that helps.
        found: Which of its letters stand in the other; null: all of them.
        added: Stretches of letters that the other does not have, at places where it goes on without a gap.
        common: Which of its letters lie in runs that both have; null: all of them.
    """

    text: FoldedText
    found: npt.NDArray[np.bool_] | None = None
    added: tuple[tuple[int, int], ...] = ()
    common: npt.NDArray[np.bool_] | None = None

    @property
    def letters(self) -> int:
        """Letters and digits of the text."""
        return len(self.text.letters)

    @property
    def letters_found(self) -> int:
        """Those that stand in the other."""
        return self.letters if self.found is None else int(self.found.sum())

    @property
    def share(self) -> float:
        """Fraction of letters that stand in the other; 1 for a text without letters."""
        return self.letters_found / self.letters if self.letters else 1.0

    def changed_words(self, start: int = 0, end: int | None = None) -> int:
        """Words that reach between two letters, as blanks part them, of which some letter does not stand in the other.

        Words that were only added do not count: numbers of list items, footnotes and the like, which a page shows
        without having them in its text.
        """
        if self.found is None:
            return 0
        import numpy as np

        missing = ~self.found
        replaced = missing.copy()
        for first, last in self.added:
            replaced[first:last] = False
        words = self.text.tokens
        gone, lengths = np.add.reduceat(missing, words[:, 0]), words[:, 1] - words[:, 0]
        # A word of which a part was added was changed as well.
        changed = (np.add.reduceat(replaced, words[:, 0]) > 0) | ((gone > 0) & (gone < lengths))
        within = (words[:, 0] < (self.letters if end is None else end)) & (words[:, 1] > start)
        return int((changed & within).sum())


def match_text(
    text: str,
    there: SearchedText,
    *,
    labels: Iterable[str] = (),
    address: Iterable[str] = (),
) -> Match:
    """Look for a text in another, for a chunk in its page.

    Args:
        text: The text as stored.
        there: What it is looked for in.
        labels: Title and headings stored with the text: a line that repeats them is no difference.
        address: Where the text is from, as stored with it: the same, where it stands apart from other words.

    Returns:
        The match; of the text as it is, without Markdown's markup, and without the markup that does not stand there,
        the one that stands there to the larger part.
    """
    raw = FoldedText.of(text)
    if raw.letters in there.folded.letters:
        return Match(raw)
    if (seen := _without_strange_statements(raw, there)) != raw.shown:
        return match_text(seen, there, labels=labels, address=address)
    plain = without_markup(text)
    if plain == text:
        return _differing(raw, there, labels, address)
    bare = FoldedText.of(plain)
    if bare.letters and bare.letters in there.folded.letters:
        return Match(bare)
    readings = [raw, bare, *_without_strange_markup(raw, there, known=(raw.shown, plain))]
    return max((_differing(reading, there, labels, address) for reading in readings), key=lambda match: match.share)


def _without_strange_statements(raw: FoldedText, there: SearchedText) -> str:
    """The text without imports, exports and diagrams of which the other has less than half."""
    common: npt.NDArray[np.bool_] | None = None

    def stands_there(start: int, end: int) -> bool:
        import numpy as np

        nonlocal common
        common = there.grams.covers(raw.letters) if common is None else common
        first, last = np.searchsorted(raw.offsets, (start, end)).tolist()
        return bool(last > first and 2 * common[first:last].sum() >= last - first)

    return without_statements(raw.shown, keep=stands_there)


def letters_beyond_chance(match: Match, there: SearchedText, labels: Iterable[str], address: Iterable[str]) -> int:
    """Letters of a text that stand there, without words that stand alone in their line.

    Of code with a line for each of its words most stand on any other page about the same library.
    """
    if match.common is None:
        return match.letters_found
    found = match.common.copy()
    find_labels(match.text, found, there, labels, address, least=2)
    find_words(match.text, found, there)
    return int(found.sum())


def _without_strange_markup(raw: FoldedText, there: SearchedText, *, known: tuple[str, str]) -> list[FoldedText]:
    """The text without markup that the other does not have: a chunk with links may show tags in its code.

    None where that is a reading that is ``known``.
    """
    import numpy as np

    common = there.grams.covers(raw.letters)

    def stands_there(start: int, end: int) -> bool:
        first, last = np.searchsorted(raw.offsets, (start, end)).tolist()
        return bool(last > first and common[first:last].all())

    text = without_markup(raw.shown, keep=stands_there)
    return [] if text in known else [FoldedText.of(text)]


def _differing(text: FoldedText, there: SearchedText, labels: Iterable[str], address: Iterable[str]) -> Match:
    common = there.grams.covers(text.letters)
    found = common.copy()
    find_labels(text, found, there, labels, address)
    added = find_words(text, found, there)
    return Match(text, None if found.all() else found, added, common)
