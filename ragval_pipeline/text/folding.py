"""Fold text to its letters and digits, so that extractors that differ in spaces and marks agree; and its words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np
from ragval_pipeline.text.characters import LETTERS_OF_UNSPACED, UNSPACED, ZERO_WIDTH, without_zero_width

if TYPE_CHECKING:
    import numpy.typing as npt


#: Separates texts that must not be joined. A noncharacter that survives folding and belongs to no word.
SEPARATOR = "\uffff"
#: Letters, folded, that a font may draw as one: text taken from a PDF may lack them, or have blanks beside them.
LIGATURE = re.compile("ff[il]?|f[il]")
_NOT_LETTERS = re.compile(rf"(?:[^\w{SEPARATOR}]|_)+")
_NOT_LETTERS_IN_LINES = re.compile(rf"(?:[^\w\n{SEPARATOR}]|_)+")
_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")

_BMP = 0x10000
# From this length a table lookup is faster than the expression.
_LONG = 200
_ASCII_LOWER = bytes(ord(chr(code).lower()) if code < 128 else code for code in range(256))
_ASCII_REST = bytes(code for code in range(128) if not chr(code).isalnum())
_ASCII_REST_IN_LINES = _ASCII_REST.replace(b"\n", b"")
_LETTER, _SPACE, _HIDDEN, _ALONE, _BREAK = 1, 2, 4, 8, 16


def fold(text: str) -> str:
    """The letters and digits of a text in order: NFKC, lower case, everything else removed.

    ``File-Name 1`` becomes ``filename1``. Letters and digits are what ``str.isalnum`` says.
    """
    return _letters(_normalised(text))


def fold_lines(text: str) -> list[str]:
    """The letters of each line of a text."""
    return _letters(_normalised(text), in_lines=True).split("\n")


def amount_of(letters: str) -> float:
    """How much text some letters are, in letters of scripts with spaces: ``LETTERS_OF_UNSPACED`` for each of others."""
    if letters.isascii():
        return len(letters)
    return len(letters) + (LETTERS_OF_UNSPACED - 1) * len(_UNSPACED_CHARACTER.findall(letters))


def joined(texts: Iterable[str]) -> str:
    """Texts concatenated so that no run of letters crosses from one into the next."""
    return f"\n{SEPARATOR}\n".join(texts)


@dataclass(frozen=True)
class FoldedText:
    """A text with its letters and their positions in it.

    Attributes:
        shown: The text in NFKC; all positions of the original refer to it.
        letters: Its fold.
    """

    shown: str
    letters: str

    @classmethod
    def of(cls, text: str, *, letters: str | None = None) -> FoldedText:
        """Fold a text; its letters may be given."""
        shown = _normalised(text)
        return cls(shown, _letters(shown) if letters is None else letters)

    @cached_property
    def flat(self) -> str:
        """``shown`` with whitespace collapsed and stripped."""
        return " ".join(self.shown.split())

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Position in ``shown`` of each letter; shape ``(len(letters),)``."""
        return np.flatnonzero(self._classes & _LETTER)

    @cached_property
    def spaced(self) -> npt.NDArray[np.bool_]:
        """Whether whitespace precedes each letter; true for the first."""
        spaced = self._count_between(_SPACE) > 0
        spaced[:1] = True
        return spaced

    @cached_property
    def apart(self) -> npt.NDArray[np.bool_]:
        """Whether any visible or space character lies between each letter and the one before it."""
        gaps = np.diff(self.offsets, prepend=-2) - 1
        return gaps > self._count_between(_HIDDEN)

    @cached_property
    def alone(self) -> npt.NDArray[np.bool_]:
        """Whether each letter belongs to a script without spaces."""
        return (self._classes[self.offsets] & _ALONE) > 0

    @cached_property
    def word_starts(self) -> npt.NDArray[np.bool_]:
        """Whether each letter begins a word."""
        return self.apart | self.alone | np.roll(self.alone, 1)

    @cached_property
    def tokens(self) -> npt.NDArray[np.int64]:
        """Tokens as ranges of letters, shape ``(tokens, 2)``; each character is one in scripts without spaces."""
        starts = self.spaced | self.alone | np.roll(self.alone, 1)
        edges = np.append(np.flatnonzero(starts), len(self.letters))
        return np.stack([edges[:-1], edges[1:]], axis=1)

    def between(self, start: int, end: int) -> str:
        """The piece of ``shown`` that holds the letters ``start`` to ``end`` (exclusive)."""
        if end <= start:
            return ""
        return self.shown[int(self.offsets[start]) : int(self.offsets[end - 1]) + 1]

    def words_between(self, start: int, end: int) -> list[tuple[int, int]]:
        """The words within the letters ``start`` to ``end``, cut at these borders, as ranges of letters."""
        cuts = [start, *(start + 1 + np.flatnonzero(self.word_starts[start + 1 : end])).tolist(), end]
        return [(first, last) for first, last in pairwise(cuts) if last > first]

    def letters_between(self, start: int, end: int) -> tuple[int, int]:
        """The letters of ``shown[start:end]``."""
        first, last = np.searchsorted(self.offsets, (start, end)).tolist()
        return first, last

    def whole_words(self, start: int, end: int) -> tuple[int, int]:
        """The letters from ``start`` to before ``end``, widened to whole words."""
        starts = self._word_edges
        first = int(starts.searchsorted(start, side="right"))
        last = int(starts.searchsorted(end))
        return int(starts[first - 1]) if first else 0, int(starts[last]) if last < len(starts) else len(self.letters)

    @cached_property
    def _word_edges(self) -> npt.NDArray[np.int64]:
        """The letters that begin a word."""
        return np.flatnonzero(self.word_starts)

    def _count_between(self, kind: int) -> npt.NDArray[np.int64]:
        """How many characters of a kind lie between each letter and the one before it."""
        total = np.append(0, np.cumsum((self._classes & kind) > 0))
        return np.diff(total[self.offsets], prepend=0)

    @cached_property
    def _classes(self) -> npt.NDArray[np.uint8]:
        if self.shown.isascii():
            return np.frombuffer(self.shown.encode().translate(_ascii_table()), dtype=np.uint8)
        return _classes_of(code_points(self.shown), self.shown)


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """The code points of a text; shape ``(len(text),)``."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _normalised(text: str) -> str:
    if text.isascii():
        return text
    # The only character whose lower case is two characters: positions must not move.
    return unicodedata.normalize("NFKC", text).replace("\u0130", "I")


def _letters(shown: str, *, in_lines: bool = False) -> str:
    """The letters of a normalised text; its line breaks too when it is folded line by line."""
    if shown.isascii():
        return shown.encode().translate(_ASCII_LOWER, _ASCII_REST_IN_LINES if in_lines else _ASCII_REST).decode()
    lower = shown.lower()
    if len(lower) < _LONG:
        letters = (_NOT_LETTERS_IN_LINES if in_lines else _NOT_LETTERS).sub("", lower)
    else:
        codes = code_points(lower)
        kept = _classes_of(codes, lower) & (_LETTER | _BREAK if in_lines else _LETTER)
        letters = codes[kept > 0].tobytes().decode("utf-32-le", "surrogatepass")
    return letters.replace("\u03c2", "\u03c3")  # sigma at the end of a word


def _classes_of(codes: npt.NDArray[np.uint32], shown: str) -> npt.NDArray[np.uint8]:
    classes = _table().take(codes, mode="clip")
    if codes.max(initial=0) >= _BMP:
        places = np.flatnonzero(codes >= _BMP)
        classes[places] = _classified("".join(map(shown.__getitem__, places.tolist())))
    return classes


@lru_cache(maxsize=1)
def _table() -> npt.NDArray[np.uint8]:
    """The classes of the characters up to U+FFFF."""
    return _classified("".join(map(chr, range(_BMP + 1))))


@lru_cache(maxsize=1)
def _ascii_table() -> bytes:
    return bytes(_table()[:256])


def _classified(characters: str) -> npt.NDArray[np.uint8]:
    def where(found: Iterable[bool]) -> npt.NDArray[np.bool_]:
        return np.fromiter(found, np.bool_, len(characters))

    letters = where(map(str.isalnum, characters)) | where(map(SEPARATOR.__eq__, characters))
    classes = np.where(letters, _LETTER, 0).astype(np.uint8)
    unspaced = np.zeros(len(characters), dtype=np.bool_)
    unspaced[[found.start() for found in _UNSPACED_CHARACTER.finditer(characters)]] = True
    classes[unspaced & letters] |= _ALONE
    spaces = where(map(str.isspace, characters)) & ~letters
    classes[spaces] = _SPACE
    classes[where(map(ZERO_WIDTH.__contains__, characters)) & ~letters & ~spaces] = _HIDDEN
    classes[where(map("\n".__eq__, characters))] |= _BREAK
    return classes


#: Vowel signs and points, which are not letters: a word of Hindi, Hebrew or Arabic continues after them.
_SIGNS = "".join(sign for code in range(0x300, 0xE00) if unicodedata.category(sign := chr(code))[0] == "M")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]++(?>(?:[{_SIGNS}]++[^\W_{UNSPACED}]*+)*)")
#: For ASCII: lower case, and blanks for everything but letters and digits.
_ASCII_WORDS = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256))


def fold_blanks(text: str) -> str:
    """A text as readers see it: without zero-width characters, whitespace collapsed and stripped."""
    return " ".join(without_zero_width(text).split())


def words_of(text: str) -> list[str]:
    """Words in lower case, without punctuation; each character of a script without spaces is a word."""
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode().split()
    folded = unicodedata.normalize("NFKC", without_zero_width(text)).lower()
    return _WORD.findall(folded)


def as_written(words: Iterable[str]) -> str:
    """Words as a line of text: spaces between them, except between characters of a script without spaces."""
    return re.sub(rf"(?<=[{UNSPACED}]) (?=[{UNSPACED}])", "", " ".join(words))
