"""Locating a text on pages, its version on the page, and content of a page that no text has."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.http.addresses import split_url
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.text.folding import FoldedText, amount_of, fold, words_of
from ragval_pipeline.validation.facts.bucket import sampled_runs
from ragval_pipeline.validation.thresholds import MOST, PASSAGE_LETTERS

#: Letters of a seed, about two words: few occur twice on a page by chance.
SEED = 12  # work
#: Maximum distance of consecutive seeds: lost text may begin or end like the remaining text.
_NEXT = 3 * SEED  # work

#: A part of a page as (start, end) letters, end exclusive.
Span = tuple[int, int]


@dataclass(frozen=True)
class Placed:
    """A chunk on its page.

    Attributes:
        opening: Its beginning that is not on the page: a title, a heading path.
        start: Its first letter on the page.
        end: The letter after the last.
    """

    opening: str
    start: int
    end: int


def place_of(text: str, page: FoldedText) -> Placed | None:
    """Position of a chunk on a page, exact to its first letter; None if it is not there."""
    whole = FoldedText.of(text)
    begin = _begin_of(whole.letters, page)
    if begin is None:
        return None
    seeds = range(max(0, -begin), len(whole.letters) // 2)
    same = (at for at in seeds if page.letters.startswith(whole.letters[at : at + SEED], begin + at))
    at = next(same, 0)
    opening = whole.shown[: int(whole.offsets[at])] if at else ""
    return Placed(opening, max(0, begin + at), min(len(page.letters), begin + len(whole.letters)))


def _begin_of(letters: str, page: FoldedText) -> int | None:
    """Where a chunk would begin on a page that had all of it; may be negative."""
    starts = _starts(letters, page.letters)
    enough = MOST * max(1, (len(letters) - SEED) // (SEED // 2) + 1)
    return int(statistics.median(starts)) if len(starts) >= enough else None


def as_on_page(text: str, page: FoldedText) -> str | None:
    """A chunk with differing words replaced by those of its page; None if it is not on the page."""
    letters = fold(text)
    begin = _begin_of(letters, page)
    if begin is None:
        return None
    there = page.whole_words(max(0, begin), min(len(page.letters), begin + len(letters)))
    stored, shown = (re.findall(r"\s*\S+", one) for one in (text, page.between(*there)))
    compared = SequenceMatcher(None, list(map(fold, stored)), list(map(fold, shown)), autojunk=False)
    words: list[str] = []
    for kind, first, last, start, end in compared.get_opcodes():
        # Start and end on the page are accurate to a few letters: the chunk's own edges are better. Markdown markup is
        # not text of the page.
        size, at_edge = len(fold("".join(stored[first:last]))), first == 0 or last == len(stored)
        is_own = kind in {"insert", "delete"} and size <= (SEED if at_edge else 0)
        as_stored = kind == "equal" or (is_own and (at_edge or kind == "delete"))
        words += stored[first:last] if as_stored else shown[start:end]
    return "".join(words).strip()


def without_phrases(text: str, phrases: Iterable[str]) -> str:
    """A text without some phrases, given in lower case as joined by ``as_written``."""
    for phrase in sorted(phrases, key=len, reverse=True):
        written = (r"[\W_]*".join(map(re.escape, words_of(piece))) for piece in phrase.split())
        text = re.sub(r"[\W_]+".join(written), "", text, flags=re.IGNORECASE)
    return text.strip()


def _starts(letters: str, page: str) -> list[int]:
    """Start of the chunk on the page according to each of its seeds that occur together there."""
    if len(letters) < SEED:
        place = page.find(letters) if letters else -1
        return [] if place < 0 else [place]
    pieces = []
    for at in range(0, len(letters) - SEED + 1, SEED // 2):
        place = page.find(letters[at : at + SEED])
        while place >= 0:
            pieces.append(place - at)
            place = page.find(letters[at : at + SEED], place + 1)
    # Added or removed words shift everything after them by a few letters.
    reach = max(SEED, len(letters) // 2)
    groups: dict[int, list[int]] = {}
    for start in pieces:
        for number in (start // reach, start // reach + 1):
            groups.setdefault(number, []).append(start)
    return max(groups.values(), key=len, default=[])


def missing_passages(page: FoldedText, texts: Iterable[str]) -> list[Span]:
    """The parts of a page, each as much text as a passage, that are in none of the texts, in page order."""
    size = len(page.letters)
    seeds = {letters[at : at + SEED] for letters in map(fold, texts) for at in range(len(letters) - SEED + 1)}
    held = np.zeros(size + 2, dtype=np.int8)
    for at in range(size - SEED + 1):
        if page.letters[at : at + SEED] in seeds:
            held[at + 1 : at + SEED + 1] = 1
    held[0] = held[-1] = 1
    edges = np.flatnonzero(held == 1)
    spans = ((int(one), int(two) - 1) for one, two in pairwise(edges))
    return [(start, end) for start, end in spans if amount_of(page.letters[start:end]) >= PASSAGE_LETTERS]


def closes_over(letters: str, page: FoldedText, start: int, end: int) -> bool:
    """Whether a chunk continues after a part of its page directly from before it: the part was lost before chunking.

    The part is given by its first letter and the letter after its last.
    """
    before, behind = page.letters[max(0, start - SEED) : start], page.letters[end : end + SEED]
    if len(before) < SEED or len(behind) < SEED:
        return False
    at = letters.find(before)
    while at >= 0:
        if behind in letters[at : at + _NEXT]:
            return True
        at = letters.find(before, at + 1)
    return False


@dataclass
class Homes:
    """The page of each point.

    Attributes:
        inventory: The site.
        texts: Texts of the pages to search, by key.
        by_text: Whether to ignore the points' pages, e.g. because all of them are the same.
    """

    inventory: SiteInventory
    texts: Mapping[str, FoldedText]
    by_text: bool = False
    _known: dict[str, str | None] = field(default_factory=dict)
    _pages: dict[int, list[str]] = field(default_factory=dict)

    def of(self, row: Mapping[str, Any]) -> str | None:
        """The page of the site that a point belongs to: its own, else the one with its text."""
        named = None if self.by_text else row["page_key"] if row["page_url"] else self._on_site(row["source_url"])
        if named is not None:
            return str(named)
        name = str(row.get("point_id"))
        if name not in self._known:
            self._known[name] = self.holding(row["text"] or "")
        return self._known[name]

    def holding(self, text: str) -> str | None:
        """The page with most of a text; of several the first that has all of it."""
        letters = fold(text)
        if not self._pages:
            for key, page in self.texts.items():
                for run in sampled_runs(page.letters).tolist():
                    self._pages.setdefault(run, []).append(key)
        held = Counter(key for run in sampled_runs(letters).tolist() for key in self._pages.get(run, ()))
        most = max(held.values(), default=0)
        # A text too short for a sampled n-gram is searched for directly.
        near = [key for key in held or self.texts if held[key] == most]
        near.sort(key=lambda key: letters not in self.texts[key].letters)
        return next((key for key in near if _begin_of(letters, self.texts[key]) is not None), None)

    def _on_site(self, url: str | None) -> str | None:
        """The page under the same path on the site's own host."""
        host, urls = self.inventory.site_host, self.inventory.scope_urls
        if not url or not host or "//" not in url:
            return None
        key = self.inventory.folder().key(split_url(url)._replace(netloc=host).geturl())
        return key if key in urls else None
