"""Parts of titles shared by most pages, such as the site's name or chapter numbers, which identify none of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from ragval_pipeline.validation.retrieval.texts import fold_text
from ragval_pipeline.validation.thresholds import MOST

_Key = TypeVar("_Key")

_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")
#: A separator: with spaces around it, at the end of a word, or a bracket. The hyphen of ``git-add`` and the plus signs
#: of ``C++ templates`` belong to their words.
_MARK = re.compile(
    "\\s[^\\w\\s'\"`]+\\s|[:;,.!?\u2026]\\s|[\uff1a\uff1b\uff0c\u3001\u3002\uff5c]"
    "|[()\\[\\]{}\uff08\uff09\u3010\u3011\u300c\u300d\u300e\u300f]"
)
#: Prefilter for names with separators, which few have.
_MARK_OR_NUMBER = re.compile(rf"{_MARK.pattern}|\d")
#: Remains of a separator next to the words that are kept.
_LOOSE = " \t:;,|-\u2013\u2014\u00b7\u2022\u00bb\uff1a\uff1b\uff0c\u3001\uff5c"
#: A Markdown link, as in headings of converted pages: an anchor sign, or words.
_LINK = re.compile(r"(?:\[[^\w\[\]]*\]|(?<!\w)!?\[([^\[\]]*)\])\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_OPENING = "([{\uff08\u3010\u300c\u300e"


@dataclass(frozen=True)
class SharedParts:
    """Common beginnings and endings of the names of most pages, up to a separator.

    Attributes:
        beginnings: In lower case with numbers replaced: ``chapter #``.
        endings: The same for endings: ``the book``.
    """

    beginnings: frozenset[str]
    endings: frozenset[str]

    def without(self, name: str) -> str:
        """A name without them; the whole name if nothing is left."""
        said = _Name(name)
        if any(f"{part} ".startswith(f"{said.folded} ") for part in self.beginnings):
            return name.strip()
        if any(f" {part}".endswith(f" {said.folded}") for part in self.endings):
            return name.strip()
        first = max((place for place, part in said.beginnings() if part in self.beginnings), default=0)
        last = min((place for place, part in said.endings() if part in self.endings), default=len(said.words))
        rest = said.between(first, last) if first < last else ""
        return rest if any(map(str.isalpha, rest)) else name.strip()


def as_read(name: str) -> str:
    """A title or heading as shown: links as their text, anchors removed."""
    return _LINK.sub(lambda link: link[1] or "", name).strip()


def shared_parts(pages: Iterable[Collection[str]]) -> SharedParts:
    """The parts shared by the names of most pages.

    The names of a page are its title and its headings.
    """
    beginnings: Counter[str] = Counter()
    endings: Counter[str] = Counter()
    number = 0
    for names in pages:
        said = [_Name(name) for name in set(names)]
        beginnings.update({part for name in said for _, part in name.beginnings()})
        endings.update({part for name in said for _, part in name.endings()})
        number += bool(said)
    enough = max(2, MOST * number)  # a single page shares nothing
    return SharedParts(
        frozenset(part for part, count in beginnings.items() if count >= enough),
        frozenset(part for part, count in endings.items() if count >= enough),
    )


def own_titles(titles: Mapping[_Key, str], shared: SharedParts) -> dict[_Key, str]:
    """Titles without the shared parts, unless only these distinguish pages."""
    cut = {key: shared.without(title) for key, title in titles.items()}
    whole = {fold_text(title) for title in titles.values()}
    meant: dict[str, set[str]] = {}
    for key, title in titles.items():
        meant.setdefault(fold_text(cut[key]), set()).add(fold_text(title))
    return {
        key: title.strip() if len(meant[own] | (whole & {own})) > 1 else cut[key]
        for key, title in titles.items()
        for own in [fold_text(cut[key])]
    }


class _Name:
    """The words of a title or heading, and the separators between them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._is_whole = _MARK_OR_NUMBER.search(text) is None

    @cached_property
    def words(self) -> list[re.Match[str]]:
        return list(_WORD.finditer(self.text))

    @cached_property
    def _folded(self) -> list[str]:
        return [_DIGITS.sub("#", word.group().casefold()) for word in self.words]

    @cached_property
    def _marked(self) -> list[int]:
        return [
            place
            for place, (before, after) in enumerate(pairwise(self.words), 1)
            if _MARK.search(self.text, before.end(), after.start())
        ]

    @property
    def folded(self) -> str:
        return " ".join(self._folded)

    def beginnings(self) -> list[tuple[int, str]]:
        """The words before each separator, or of a numbering such as ``Chapter 3``, and their number."""
        if self._is_whole:
            return []
        unnumbered = next((place for place, word in enumerate(self._folded[1:], 1) if "#" not in word), len(self.words))
        last = min(unnumbered, len(self.words) - 1)
        numbered = [place for place in range(1, last + 1) if "#" in self._folded[place - 1] and self._is_apart(place)]
        return [(place, " ".join(self._folded[:place])) for place in {*self._marked, *numbered}]

    def endings(self) -> list[tuple[int, str]]:
        """The words after each separator, and where they begin."""
        return [] if self._is_whole else [(place, " ".join(self._folded[place:])) for place in self._marked]

    def between(self, first: int, last: int) -> str:
        """The words from one position to before another, with the marks that belong to them."""
        start, end = 0, len(self.text)
        if first:
            gap = self.text[self.words[first - 1].end() : self.words[first].start()]
            start = self.words[first].start() - len(re.split(r"\s", gap)[-1] if re.search(r"\s", gap) else "")
        if last < len(self.words):
            gap = self.text[self.words[last - 1].end() : self.words[last].start()]
            end = self.words[last - 1].end() + len(re.split(r"\s", gap)[0] if re.search(r"\s", gap) else "")
        return self.text[start:end].rstrip(_LOOSE + _OPENING).lstrip(_LOOSE)

    def _is_apart(self, place: int) -> bool:
        """Whether a space follows this many words."""
        return any(map(str.isspace, self.text[self.words[place - 1].end() : self.words[place].start()]))
