"""The points and pages that repairs are made of: where a chunk stands on its page, and what no chunk holds."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Aspect, Finding
from ragval_pipeline.sources.site.inventory import SiteInventory, modules_of
from ragval_pipeline.text.folding import FoldedText, fold, words_of
from ragval_pipeline.validation.repair.point_lookup import PointFacts, PointLookup
from ragval_pipeline.validation.repair.repair import Chunk
from ragval_pipeline.validation.thresholds import MOST, PASSAGE_LETTERS

#: Letters of a seed, about two words: chance repeats few of them on a page.
SEED = 12  # work


def own_passage(text: str, page: FoldedText) -> str | None:
    """The piece of the page that a chunk was made of, as the page has it; None when it is not on the page.

    Args:
        text: The chunk: words may be changed, joined or damaged.
        page: The page's text.
    """
    place = _place_of(fold(text), page)
    return None if place is None else page.between(*place)


def _place_of(letters: str, page: FoldedText) -> tuple[int, int] | None:
    """From where to where a page has a chunk, in letters."""
    starts = _starts(letters, page.letters)
    if len(starts) < MOST * max(1, (len(letters) - SEED) // (SEED // 2) + 1):
        return None
    begin = int(statistics.median(starts))
    return max(0, begin), min(len(page.letters), begin + len(letters))


def as_on_page(text: str, page: FoldedText) -> str | None:
    """A chunk with the words that differ as its page has them, else as it is stored; None when it is not on the page.

    Args:
        text: The chunk.
        page: The page's text.
    """
    place = _place_of(fold(text), page)
    if place is None:
        return None
    stored, shown = (re.findall(r"\s*\S+", one) for one in (text, page.between(*page.whole_words(*place))))
    compared = SequenceMatcher(None, list(map(fold, stored)), list(map(fold, shown)), autojunk=False)
    words: list[str] = []
    for kind, first, last, start, end in compared.get_opcodes():
        # Where a chunk begins and ends on its page is known to a few letters: its own edges are the better ones.
        at_edge = first == 0 or last == len(stored)
        as_stored = kind == "equal" or (at_edge and kind in {"insert", "delete"})
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


def missing_passages(page: FoldedText, texts: Iterable[str]) -> list[str]:
    """The pieces of a page of at least ``PASSAGE_LETTERS`` letters that none of the texts holds, in page order."""
    import numpy as np

    size = len(page.letters)
    places: dict[str, list[int]] = {}
    for at in range(size - SEED + 1):
        places.setdefault(page.letters[at : at + SEED], []).append(at)
    held = np.zeros(size + 2, dtype=np.int8)
    for text in texts:
        letters = fold(text)
        for at in range(len(letters) - SEED + 1):
            for place in places.get(letters[at : at + SEED], ()):
                held[place + 1 : place + SEED + 1] = 1
    held[0] = held[-1] = 1
    edges = np.flatnonzero(held == 1)
    return [page.between(int(one), int(two) - 1) for one, two in pairwise(edges) if two - one - 1 >= PASSAGE_LETTERS]


def in_chunks(passage: str, characters: int) -> list[str]:
    """A passage in equal pieces of about so many characters, cut between words where it has blanks."""
    number = max(1, round(len(passage) / characters))
    length = len(passage) / number
    words = passage.split()
    if max(map(len, words), default=0) > characters:  # a script without blanks
        edges = [round(piece * length) for piece in range(number + 1)]
        return [passage[start:end] for start, end in pairwise(edges)]
    pieces: list[list[str]] = [[] for _ in range(number)]
    at = 0
    for word in words:
        pieces[min(number - 1, int(at / length))].append(word)
        at += len(word) + 1
    return [" ".join(piece) for piece in pieces if piece]


Row = Mapping[str, Any]

#: Snapshot columns, and columns of the page copies, that a plan reads.
COLUMNS = (
    "point_id", "page_key", "page_url", "text", "source_url", "title", "module", "chapter", "headings", "token_count",
    "chunk_index", "chunk_id", "embedded_at", "text_sha256", "embedded_text",
)  # fmt: skip
PAGE_COLUMNS = ("page_key", "title", "main")
_PAYLOAD = ("source_url", "title", "module", "chapter", "headings", "chunk_id")
#: Points that a plan looks at; a cause that concerns more is not simulated.
MOST_POINTS = 5000  # work
#: Points without a finding that are rewritten to see how far that moves their scores.
_COMPARED = 12  # work
#: One of so many words of them is changed first.
_CHANGED = 8  # work
#: Characters of a chunk that is made anew at most: about half of what the smallest usual model reads.
LONGEST = 1000  # work


_OF_VECTORS = tuple(code for code, row in CATALOGUE.items() if Aspect.VECTOR in row.breaks)


@dataclass
class RepairCorpus:
    """The points and pages that the findings are about, and what is usual in the index."""

    inventory: SiteInventory
    gone: frozenset[str]
    wrong_vectors: frozenset[str]
    rows: dict[str, Row] = field(default_factory=dict)
    of_page: dict[str, list[Row]] = field(default_factory=dict)
    of_source: dict[str, list[Row]] = field(default_factory=dict)
    texts: dict[str, FoldedText] = field(default_factory=dict)
    titles: dict[str, str | None] = field(default_factory=dict)
    usual: dict[tuple[str, str], Counter[Any]] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    homes: dict[str, str | None] = field(default_factory=dict)
    headed: Row | None = None
    healthy: list[Row] = field(default_factory=list)
    size: int = LONGEST
    usual_size: int = LONGEST
    whole: bool = True

    @classmethod
    def read(
        cls,
        findings: Sequence[Finding],
        known: Sequence[Finding],
        inventory: SiteInventory,
        rows: Callable[[], Iterable[Row]],
        pages: Callable[[], Iterable[Row]],
        *,
        everything: bool,
    ) -> RepairCorpus:
        """Read what repairs need.

        Args:
            findings: All findings of the run.
            known: Those that are to be repaired.
            inventory: The site.
            rows: Reads the snapshot, with ``COLUMNS``; called once.
            pages: Reads the page copies, with ``PAGE_COLUMNS``; called once.
            everything: Whether the repairs concern all points, not only those that findings name.
        """
        gone, wrong = _names(findings, "integrity.gone"), _names(findings, *_OF_VECTORS)
        world = cls(inventory, gone, wrong, modules=modules_of(inventory.pages))
        names = {subject.name for finding in known for subject in finding.subjects}
        keys = {subject.page for finding in known for subject in finding.subjects if subject.page}
        ill = {entry.page for finding in known if finding.subject_kind == "page" for entry in finding.subjects}
        lengths, cut = [], _names(findings, "chunk.too_small")
        for row in rows():
            if world.headed is None and header_of(row):
                world.headed = row
            if row["point_id"] not in cut:
                lengths.append(len(row["text"] or ""))
            well = row["page_url"] is not None and row["point_id"] not in names and row["page_key"] not in ill
            if well and row["text"] and len(world.healthy) < _COMPARED:
                world.healthy.append(row)
            for name in ("module", "chapter"):
                if row[name] is not None and row["page_key"] is not None:
                    module = world.modules.get(row["page_key"], row["page_key"])
                    world.usual.setdefault((name, row["page_key"]), Counter())[row[name]] += 1
                    world.usual.setdefault((name, f"module {module}"), Counter())[row[name]] += 1
            wanted = everything or row["point_id"] in names or row["source_url"] in names or row["page_key"] in keys
            if wanted and len(world.rows) < MOST_POINTS:
                world.rows[row["point_id"]] = row
                world.of_page.setdefault(row["page_key"] or "", []).append(row)
                world.of_source.setdefault(row["source_url"] or "", []).append(row)
            world.whole = world.whole and not (wanted and len(world.rows) == MOST_POINTS)
        world.usual_size = int(statistics.median(lengths)) if lengths else LONGEST
        world.size = min(LONGEST, world.usual_size)
        shown = {row["page_key"] for row in world.healthy}
        strays = any(row["page_url"] is None or row["point_id"] in gone for row in world.rows.values())
        for page in pages():
            if strays or page["page_key"] in keys | shown or page["page_key"] in world.of_page:
                world.texts[page["page_key"]] = FoldedText.of(page["main"])
                world.titles[page["page_key"]] = page["title"]
        return world

    def lookup(self) -> PointLookup:
        """What the rules for duplicates ask for."""
        facts = {
            name: PointFacts(row["page_url"], row["source_url"], row["embedded_at"], row["text_sha256"])
            for name, row in self.rows.items()
        }
        ids = {url: [str(row["point_id"]) for row in same] for url, same in self.of_source.items()}
        return PointLookup(facts, ids)

    def home(self, row: Row) -> str | None:
        """The page of the site that a point belongs to: the one it names, else the one that holds its text."""
        if row["page_url"] is not None:
            return str(row["page_key"])
        name = str(row.get("point_id"))
        if name not in self.homes:
            self.homes[name] = self._on_site(row["source_url"]) or self.holding(row["text"] or "")
        return self.homes[name]

    def holding(self, text: str) -> str | None:
        """The first page that holds a text, looked for where its beginning, middle or end stands."""
        letters = fold(text)
        seeds = {letters[at : at + SEED] for at in (0, len(letters) // 2, max(0, len(letters) - SEED))} - {""}
        near = (key for key, page in self.texts.items() if any(seed in page.letters for seed in seeds))
        return next((key for key in near if own_passage(text, self.texts[key]) is not None), None)

    def _on_site(self, url: str | None) -> str | None:
        """The page under the same path on the site's own host."""
        host, urls = self.inventory.site_host, self.inventory.scope_urls
        if not url or not host or "//" not in url:
            return None
        key = self.inventory.folder().key(urlsplit(url)._replace(netloc=host).geturl())
        return key if key in urls else None

    def value(self, name: str, row: Row) -> Any:
        """What a field of a point should hold: what its page's or its module's other points hold."""
        home = self.home(row)
        if home is None:
            return None
        if name == "source_url":
            return self.inventory.scope_urls.get(home)
        module = self.modules.get(home, home)
        # A chapter may be a page's own: what other pages of the module call theirs says nothing.
        for place in (home, f"module {module}") if name == "module" else (home,):
            counted = self.usual.get((name, place), Counter()).most_common()
            others = [value for value, _ in counted if value != row[name]]
            if others:
                return others[0]
        return module if name == "module" else urlsplit(self.inventory.scope_urls.get(home, home)).path.strip("/")

    def chunks_of(self, key: str, texts: Iterable[str]) -> Iterator[Chunk]:
        """New chunks of a page, as long as its neighbours, with the payload that they would have."""
        url = self.inventory.scope_urls.get(key, key)
        blank = dict.fromkeys(COLUMNS) | {"page_key": key, "page_url": url}
        values = {
            "source_url": url,
            "title": self.titles.get(key),
            "module": self.value("module", blank),
            "chapter": self.value("chapter", blank),
        }
        header = self._header_with(values)
        pieces = [piece for text in texts for piece in in_chunks(text, self.size)]
        for number, piece in enumerate(pieces):
            yield Chunk(f"new {key} {number}", piece, values, header, is_new=True)

    def rewritten(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Points without a finding, of which some words are as their page has them, and as they are stored."""
        for row, page, _ in self._compared():
            words = re.split(r"(\s+)", row["text"])
            words[:: 2 * _CHANGED] = [word[::-1] for word in words[:: 2 * _CHANGED]]
            text = as_on_page("".join(words), page)
            if text is not None:
                yield (stored_chunk(row, text).embedded,), stored_chunk(row).embedded

    def recut(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """The places of points without a finding in other pieces, and what is stored of them, as both are embedded."""
        for row, page, (start, end) in self._compared():
            more = (end - start) // 2
            around = page.between(max(0, start - more), min(len(page.letters), end + more))
            yield tuple(header_of(row) + piece for piece in in_chunks(around, self.size)), stored_chunk(row).embedded

    def _compared(self) -> Iterator[tuple[Row, FoldedText, tuple[int, int]]]:
        for row in self.healthy:
            page = self.texts.get(row["page_key"])
            place = None if page is None else _place_of(fold(row["text"]), page)
            if page is not None and place is not None:
                yield row, page, place

    def _header_with(self, values: Mapping[str, Any]) -> str:
        """What the ingestion would embed in front of a page's chunks: as for others, with this address and title."""
        if self.headed is None:
            return ""
        header = header_of(self.headed)
        for name in ("source_url", "title"):
            if self.headed[name]:
                header = header.replace(str(self.headed[name]), str(values[name] or ""))
        return header


def _names(findings: Iterable[Finding], *codes: str) -> frozenset[str]:
    return frozenset(subject.name for finding in findings if finding.code in codes for subject in finding.subjects)


def header_of(row: Row) -> str:
    """What the ingestion embedded in front of a point's text, as its stored vector's text shows."""
    stored = row["text"] or ""
    embedded = row["embedded_text"] or stored
    return str(embedded.removesuffix(stored)) if stored and embedded.endswith(stored) else ""


def stored_chunk(row: Row, text: str | None = None) -> Chunk:
    """A stored point as a repair writes it again, with its own text or another."""
    stored = row["text"] or ""
    return Chunk(
        str(row["point_id"]),
        stored if text is None else text,
        {name: row[name] for name in _PAYLOAD},
        header=header_of(row),
    )
