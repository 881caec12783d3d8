"""On which page a text stands and where, how the page has it, and what of the page no text holds."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.text.folding import FoldedText, fold, words_of
from ragval_pipeline.validation.facts.bucket import sampled_runs
from ragval_pipeline.validation.thresholds import MOST, PASSAGE_LETTERS

#: Letters of a seed, about two words: chance repeats few of them on a page.
SEED = 12  # work
#: Letters in which one seed follows another: what was lost may begin or end as what is left goes on.
_NEXT = 3 * SEED  # work

#: A stretch of a page, in letters: the first, and the one behind the last.
Span = tuple[int, int]


def own_passage(text: str, page: FoldedText) -> str | None:
    """The piece of the page that a chunk was made of, as the page has it; None when it is not on the page.

    Args:
        text: The chunk: words may be changed, joined or damaged.
        page: The page's text.
    """
    place = _place_of(fold(text), page)
    return None if place is None else page.between(*place)


@dataclass(frozen=True)
class Placed:
    """A chunk on its page.

    Attributes:
        opening: What it begins with and the page does not have there: a title, a heading path.
        start: The first letter of the page that it holds.
        end: The letter behind the last.
    """

    opening: str
    start: int
    end: int


def place_of(text: str, page: FoldedText) -> Placed | None:
    """Where a page has a chunk, which it has to its first letter; None when it has it nowhere."""
    whole = FoldedText.of(text)
    begin = _begin_of(whole.letters, page)
    if begin is None:
        return None
    seeds = range(max(0, -begin), len(whole.letters) // 2)
    same = (at for at in seeds if page.letters.startswith(whole.letters[at : at + SEED], begin + at))
    at = next(same, 0)
    opening = whole.shown[: int(whole.offsets[at])] if at else ""
    return Placed(opening, max(0, begin + at), min(len(page.letters), begin + len(whole.letters)))


def _place_of(letters: str, page: FoldedText) -> Span | None:
    """From where to where a page has a chunk, in letters."""
    begin = _begin_of(letters, page)
    return None if begin is None else (max(0, begin), min(len(page.letters), begin + len(letters)))


def _begin_of(letters: str, page: FoldedText) -> int | None:
    """Where on a page a chunk would begin if the page had all of it; before its first letter if it lacks some."""
    starts = _starts(letters, page.letters)
    enough = MOST * max(1, (len(letters) - SEED) // (SEED // 2) + 1)
    return int(statistics.median(starts)) if len(starts) >= enough else None


def as_on_page(text: str, page: FoldedText) -> str | None:
    """A chunk with the words that differ as its page has them; None when it is not on the page."""
    place = _place_of(fold(text), page)
    if place is None:
        return None
    stored, shown = (re.findall(r"\s*\S+", one) for one in (text, page.between(*page.whole_words(*place))))
    compared = SequenceMatcher(None, list(map(fold, stored)), list(map(fold, shown)), autojunk=False)
    words: list[str] = []
    for kind, first, last, start, end in compared.get_opcodes():
        # Where a chunk begins and ends on its page is known to a few letters: its own edges are the better ones. Marks
        # of Markdown are no words of its page.
        letters, at_edge = len(fold("".join(stored[first:last]))), first == 0 or last == len(stored)
        is_own = kind in {"insert", "delete"} and letters <= (SEED if at_edge else 0)
        as_stored = kind == "equal" or (is_own and (at_edge or kind == "delete"))
        words += stored[first:last] if as_stored else shown[start:end]
    return "".join(words).strip()


def without_phrases(text: str, phrases: Iterable[str]) -> str:
    """A text without some phrases, which are given as words in lower case, as ``as_written`` joins them."""
    for phrase in sorted(phrases, key=len, reverse=True):
        written = (r"[\W_]*".join(map(re.escape, words_of(piece))) for piece in phrase.split())
        text = re.sub(r"[\W_]+".join(written), "", text, flags=re.IGNORECASE)
    return text.strip()


def _starts(letters: str, page: str) -> list[int]:
    """Where the chunk begins on the page, as each of its seeds that stand together there has it."""
    if len(letters) < SEED:
        place = page.find(letters) if letters else -1
        return [] if place < 0 else [place]
    found = []
    for at in range(0, len(letters) - SEED + 1, SEED // 2):
        place = page.find(letters[at : at + SEED])
        while place >= 0:
            found.append(place - at)
            place = page.find(letters[at : at + SEED], place + 1)
    # Words that came or went move all that follows them by a few letters.
    reach = max(SEED, len(letters) // 2)
    groups: dict[int, list[int]] = {}
    for start in found:
        for number in (start // reach, start // reach + 1):
            groups.setdefault(number, []).append(start)
    return max(groups.values(), key=len, default=[])


def missing_passages(page: FoldedText, texts: Iterable[str]) -> list[Span]:
    """The stretches of a page of at least ``PASSAGE_LETTERS`` letters that none of the texts holds, in page order."""
    import numpy as np

    size = len(page.letters)
    seeds = {letters[at : at + SEED] for letters in map(fold, texts) for at in range(len(letters) - SEED + 1)}
    held = np.zeros(size + 2, dtype=np.int8)
    for at in range(size - SEED + 1):
        if page.letters[at : at + SEED] in seeds:
            held[at + 1 : at + SEED + 1] = 1
    held[0] = held[-1] = 1
    edges = np.flatnonzero(held == 1)
    return [(int(one), int(two) - 1) for one, two in pairwise(edges) if two - one - 1 >= PASSAGE_LETTERS]


def closes_over(letters: str, page: FoldedText, start: int, end: int) -> bool:
    """Whether a chunk goes on behind a stretch of its page where it was before it: it was cut without the stretch.

    Args:
        letters: Of the chunk.
        page: The page's text.
        start: The first letter of the stretch.
        end: The letter behind the last.
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
        texts: The pages that are looked through, by their keys.
        by_text: Whether what points name says nothing, as where all of them name the same.
    """

    inventory: SiteInventory
    texts: Mapping[str, FoldedText]
    by_text: bool = False
    _known: dict[str, str | None] = field(default_factory=dict)
    _pages: dict[int, list[str]] = field(default_factory=dict)

    def of(self, row: Mapping[str, Any]) -> str | None:
        """The page of the site that a point belongs to: the one it names, else the one that holds its text."""
        named = None if self.by_text else row["page_key"] if row["page_url"] else self._on_site(row["source_url"])
        if named is not None:
            return str(named)
        name = str(row.get("point_id"))
        if name not in self._known:
            self._known[name] = self.holding(row["text"] or "")
        return self._known[name]

    def holding(self, text: str) -> str | None:
        """The page that holds most of a text; of several the first that has all of it."""
        letters = fold(text)
        if not self._pages:
            for key, page in self.texts.items():
                for run in sampled_runs(page.letters).tolist():
                    self._pages.setdefault(run, []).append(key)
        held = Counter(key for run in sampled_runs(letters).tolist() for key in self._pages.get(run, ()))
        most = max(held.values(), default=0)
        # A text that is too short for a sampled run is looked for as it is.
        near = [key for key in held or self.texts if held[key] == most]
        near.sort(key=lambda key: letters not in self.texts[key].letters)
        return next((key for key in near if own_passage(text, self.texts[key]) is not None), None)

    def _on_site(self, url: str | None) -> str | None:
        """The page under the same path on the site's own host."""
        host, urls = self.inventory.site_host, self.inventory.scope_urls
        if not url or not host or "//" not in url:
            return None
        key = self.inventory.folder().key(urlsplit(url)._replace(netloc=host).geturl())
        return key if key in urls else None
