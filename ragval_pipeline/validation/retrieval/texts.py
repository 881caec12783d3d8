"""Comparing names, words and passages the way people mean them: case, accents, blanks folded.

What lives here: folding and matching of texts. What does not: which condition a query has (``conditions``).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from ragval_pipeline.sources.snapshot.values import ZERO_WIDTH

ModuleMatch = Literal["exact", "normalised", "prefix", "regex"]

_DROP = dict.fromkeys(map(ord, ZERO_WIDTH))
_SEPARATORS = re.compile(r"[\s_\-]+")
_BLANKS = re.compile(r"\s+")


def normalise_name(name: str) -> str:
    """A module or chapter name with case folded and blanks, ``-`` and ``_`` alike."""
    return _SEPARATORS.sub(" ", unicodedata.normalize("NFKC", name).translate(_DROP).casefold()).strip()


def fold_text(text: str) -> str:
    """A passage with case and accents folded, zero-width characters dropped and blanks joined."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_DROP).casefold())
    return _BLANKS.sub(" ", "".join(char for char in decomposed if not unicodedata.combining(char))).strip()


def name_matches(expected: str, stored: str, *, mode: ModuleMatch) -> bool:
    """Whether a stored module is the expected one.

    ``prefix`` ends at a word: "Module 1" is a prefix of "Module 1 Ros2" and not of "Module 10".
    """
    if mode == "exact":
        return expected == stored
    if mode == "regex":
        return re.search(expected, stored) is not None
    wanted, found = normalise_name(expected), normalise_name(stored)
    if mode == "prefix":
        return found == wanted or found.startswith(f"{wanted} ")
    return found == wanted


def chapter_matches(expected: str, stored: str) -> bool:
    """Whether a stored chapter is the expected one: the whole name, or the last part of a path."""
    wanted, found = normalise_name(expected), normalise_name(stored)
    return found == wanted or found.endswith(f"/{wanted}")


def holds_word(folded_text: str, keyword: str) -> bool:
    """Whether a text (already folded) holds a keyword as whole words."""
    return _word(fold_text(keyword)).search(folded_text) is not None


@lru_cache(maxsize=4096)
def _word(folded: str) -> re.Pattern[str]:
    # \b would never match beside the last + of c++.
    return re.compile(rf"(?<!\w){re.escape(folded)}(?!\w)")
