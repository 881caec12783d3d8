"""What most pages share in their titles, as the name of the site or numbers of chapters: it says nothing about one."""

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
#: A mark that parts two things: with blanks around it, at the end of a word, or one that opens or closes a bracket.
#: The hyphen of ``git-add`` and the plus signs of ``C++ templates`` belong to their words.
_MARK = re.compile(
    "\\s[^\\w\\s'\"`]+\\s|[:;,.!?\u2026]\\s|[\uff1a\uff1b\uff0c\u3001\u3002\uff5c]"
    "|[()\\[\\]{}\uff08\uff09\u3010\u3011\u300c\u300d\u300e\u300f]"
)
#: What a name holds that shares a part with others, which few do.
_MARK_OR_NUMBER = re.compile(rf"{_MARK.pattern}|\d")
#: What is left of such a mark beside the words that are kept.
_LOOSE = " \t:;,|-\u2013\u2014\u00b7\u2022\u00bb\uff1a\uff1b\uff0c\u3001\uff5c"
#: A link of Markdown, as headings have whose page was turned into it: the sign of an anchor, or words.
_LINK = re.compile(r"(?:\[[^\w\[\]]*\]|(?<!\w)!?\[([^\[\]]*)\])\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_OPENING = "([{\uff08\u3010\u300c\u300e"


@dataclass(frozen=True)
class SharedParts:
    """What names of most pages begin and end with, up to a mark that parts it from the rest.

    Attributes:
        beginnings: As words in lower case with all numbers alike: ``chapter #``.
        endings: The same of what names end with: ``the book``.
    """

    beginnings: frozenset[str]
    endings: frozenset[str]

    def without(self, name: str) -> str:
        """What a name says beside them; the whole name when that is nothing."""
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
    """A title or heading as a reader sees it: of links their words, and of anchors nothing."""
    return _LINK.sub(lambda link: link[1] or "", name).strip()


def shared_parts(pages: Iterable[Collection[str]]) -> SharedParts:
    """What the names of most pages share.

    Args:
        pages: The names of each page: its title, and its headings.
    """
    beginnings: Counter[str] = Counter()
    endings: Counter[str] = Counter()
    number = 0
    for names in pages:
        said = [_Name(name) for name in set(names)]
        beginnings.update({part for name in said for _, part in name.beginnings()})
        endings.update({part for name in said for _, part in name.endings()})
        number += bool(said)
    enough = max(2, MOST * number)  # what one page alone says is shared with none
    return SharedParts(
        frozenset(part for part, count in beginnings.items() if count >= enough),
        frozenset(part for part, count in endings.items() if count >= enough),
    )


def own_titles(titles: Mapping[_Key, str], shared: SharedParts) -> dict[_Key, str]:
    """Titles without the shared parts, which are left where they alone tell pages apart."""
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
    """The words of a title or heading, and where marks part them."""

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
        """The words before each mark, or of a numbering such as ``Chapter 3``, and how many they are."""
        if self._is_whole:
            return []
        unnumbered = next((place for place, word in enumerate(self._folded[1:], 1) if "#" not in word), len(self.words))
        last = min(unnumbered, len(self.words) - 1)
        numbered = [place for place in range(1, last + 1) if "#" in self._folded[place - 1] and self._is_apart(place)]
        return [(place, " ".join(self._folded[:place])) for place in {*self._marked, *numbered}]

    def endings(self) -> list[tuple[int, str]]:
        """The words behind each mark, and where they begin."""
        return [] if self._is_whole else [(place, " ".join(self._folded[place:])) for place in self._marked]

    def between(self, first: int, last: int) -> str:
        """The words from one place to before another, with the marks that belong to them."""
        start, end = 0, len(self.text)
        if first:
            gap = self.text[self.words[first - 1].end() : self.words[first].start()]
            start = self.words[first].start() - len(re.split(r"\s", gap)[-1] if re.search(r"\s", gap) else "")
        if last < len(self.words):
            gap = self.text[self.words[last - 1].end() : self.words[last].start()]
            end = self.words[last - 1].end() + len(re.split(r"\s", gap)[0] if re.search(r"\s", gap) else "")
        return self.text[start:end].rstrip(_LOOSE + _OPENING).lstrip(_LOOSE)

    def _is_apart(self, place: int) -> bool:
        """Whether a blank stands behind so many words."""
        return any(map(str.isspace, self.text[self.words[place - 1].end() : self.words[place].start()]))
