"""Comparing names, words and passages, ignoring case, accents and whitespace."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from ragval_pipeline.text.characters import without_zero_width

ModuleMatch = Literal["exact", "normalised", "prefix", "regex"]

_SEPARATORS = re.compile(r"[\s_\-]+")
_BLANKS = re.compile(r"\s+")
#: Combining classes of letters, and of marks that change one: nukta, the voicing marks of kana, virama.
_KEPT = frozenset({0, 7, 8, 9})  # definition
#: A character within a word. Thai, Lao, Burmese, Khmer, Chinese, Japanese and Korean have no spaces between words, or
#: attach endings: there a word needs no boundaries.
_GOES_ON = re.compile(
    r"[^\W\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


#: An index has few names, and every chunk and query has one.
@lru_cache(maxsize=4096)  # work
def normalise_name(name: str) -> str:
    """A module or chapter name in lower case, with spaces, ``-`` and ``_`` equal."""
    return _SEPARATORS.sub(" ", unicodedata.normalize("NFKC", without_zero_width(name)).casefold()).strip()


def fold_text(text: str) -> str:
    """A passage without case, accents and zero-width characters, with whitespace collapsed.

    Idempotent.
    """
    if text.isascii():
        return _BLANKS.sub(" ", text.lower()).strip()
    # Again after decomposing: a trade mark sign becomes two capitals.
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", without_zero_width(text)).casefold())
    folded = "".join(char for char in decomposed.casefold() if unicodedata.combining(char) in _KEPT)
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", folded)).strip()


def name_matches(expected: str, stored: str, *, mode: ModuleMatch) -> bool:
    """Whether a stored module is the expected one.

    ``prefix`` ends at a word: "Module 1" is a prefix of "Module 1: Ros2" but not of "Module 10". ``regex`` may match
    anywhere in the name.
    """
    if mode == "exact":
        return expected == stored
    if mode == "regex":
        return re.search(expected, stored) is not None
    wanted, found = normalise_name(expected), normalise_name(stored)
    if mode == "prefix":
        return found.startswith(wanted) and not re.match(r"\w", found[len(wanted) :])
    return found == wanted


def chapter_matches(expected: str, stored: str) -> bool:
    """Whether a stored chapter is the expected one: the whole name, or the last parts of a path."""
    wanted, found = (normalise_name(name).strip("/ ") for name in (expected, stored))
    return found == wanted or found.endswith(f"/{wanted}")


def holds_word(folded_text: str, keyword: str) -> bool:
    """Whether a folded text contains a keyword as whole words; False for a keyword without characters."""
    return next(word_places(folded_text, keyword), None) is not None


def word_places(folded_text: str, keyword: str) -> Iterator[int]:
    """Where a keyword begins as whole words in a folded text; nowhere for a keyword without characters."""
    folded = fold_text(keyword)
    at = folded_text.find(folded) if folded else -1
    while at >= 0:
        # The last + of c++ ends no word, and nothing need follow it.
        end = at + len(folded)
        if not (_GOES_ON.match(folded_text, at - 1) if at else None) and not _GOES_ON.match(folded_text, end):
            yield at
        at = folded_text.find(folded, at + 1)
