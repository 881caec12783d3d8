"""The points and pages that repairs are made of: where a chunk stands on its page, and what no chunk holds."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Aspect, Finding
from ragval_pipeline.sources.site.html.page_text import Block
from ragval_pipeline.sources.site.inventory import SiteInventory, modules_of
from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.validation.repair.chunker import Chunker, Layout, Opening
from ragval_pipeline.validation.repair.passages import (
    SEED,
    Homes,
    Span,
    as_on_page,
    closes_over,
    missing_passages,
    place_of,
)
from ragval_pipeline.validation.repair.point_lookup import FACTS, PointFacts, PointLookup
from ragval_pipeline.validation.repair.repair import Chunk, Compared
from ragval_pipeline.validation.thresholds import PASSAGE_LETTERS

Row = Mapping[str, Any]

#: Snapshot columns, and columns of the page copies, that a plan reads.
COLUMNS = (
    "point_id", "page_key", "page_url", "text", "source_url", "title", "module", "chapter", "headings", "token_count",
    "chunk_index", "chunk_id", "embedded_at", "text_sha256", "embedded_text", "model",
)  # fmt: skip
PAGE_COLUMNS = ("page_key", "title", "main", "headings", "blocks")
_PAYLOAD = ("source_url", "title", "module", "chapter", "headings", "chunk_id")
#: Points that a plan looks at; a cause that concerns more is not simulated.
MOST_POINTS = 5000  # work
#: Points without a finding that are rewritten to see how far that moves their scores.
_COMPARED = 12  # work
#: Pages whose chunks show how the ingestion cuts.
_MODELS = 24  # work
#: Chunks on either side of them that are made anew with them.
_AROUND = 2  # work
#: One of so many words of them is changed first.
_CHANGED = 8  # work
#: Characters of a chunk that is made anew at most: about half of what the smallest usual model reads.
LONGEST = 1000  # work
#: The other size that is tried where no chunk shows how pages are cut, as a multiple of the usual chunk.
_LARGER = 1.5  # work


_OF_VECTORS = tuple(code for code, row in CATALOGUE.items() if Aspect.VECTOR in row.breaks)
#: What makes the chunks of a page other than those that the ingestion has cut.
_OF_CUTS = frozenset({
    Aspect.ONCE, Aspect.PRESENCE, Aspect.POSITION, Aspect.PLACE, Aspect.CURRENT, Aspect.OWN, Aspect.CUT, Aspect.KEPT,
    Aspect.LENGTH, Aspect.SPLIT,
})  # fmt: skip


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
    blocks: dict[str, list[Block]] = field(default_factory=dict)
    layouts: dict[str, Layout] = field(default_factory=dict)
    placed: dict[str, list[tuple[Row, Span]]] = field(default_factory=dict)
    ill: Set[str] = frozenset()
    healthy: list[Row] = field(default_factory=list)
    header: Opening = field(default_factory=Opening)
    opening: Opening = field(default_factory=Opening)
    chunkers: tuple[Chunker, ...] = ()
    chunker: Chunker = field(default_factory=Chunker)
    titled: bool = False
    whole: bool = True
    homes: Homes = field(init=False)

    def __post_init__(self) -> None:
        self.homes = Homes(self.inventory, self.texts)

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
        moved = {subject.page for finding in findings if _is_about_cuts(finding) for subject in finding.subjects}
        models: dict[str, list[Row]] = {}
        headed: Row | None = None
        for row in rows():
            key = row["page_key"]
            if headed is None and header_of(row):
                headed = row
            if row["text"] and row["point_id"] not in cut:
                lengths.append(len(row["text"]))
            placed = row["page_url"] is not None and row["text"] and key not in moved
            if placed and (key in models or len(models) < _MODELS):
                models.setdefault(key, []).append(row)
            for name in ("module", "chapter"):
                if row[name] is not None and key is not None:
                    module = world.modules.get(key, key)
                    world.usual.setdefault((name, key), Counter())[row[name]] += 1
                    world.usual.setdefault((name, f"module {module}"), Counter())[row[name]] += 1
            wanted = everything or row["point_id"] in names or row["source_url"] in names or key in keys
            if wanted and len(world.rows) < MOST_POINTS:
                world.rows[row["point_id"]] = row
                world.of_page.setdefault(key or "", []).append(row)
                world.of_source.setdefault(row["source_url"] or "", []).append(row)
            elif wanted:
                world.whole = False
        world.ill = names
        well = {key: [row for row in same if row["point_id"] not in names] for key, same in models.items()}
        world.healthy = _evenly([same for key, same in well.items() if key not in ill], _COMPARED)
        world.homes.by_text = "source_url" in _constant_fields(known)
        strays = world.homes.by_text or any(
            row["page_url"] is None or row["point_id"] in gone for row in world.rows.values()
        )
        for page in pages():
            key = page["page_key"]
            if strays or key in keys or key in models or key in world.of_page:
                world.texts[key] = FoldedText.of(page["main"])
                world.titles[key] = page["title"]
                if key in keys or key in models or key in world.of_page:
                    world.blocks[key] = _blocks_of(page)
        if headed is not None:
            world.header = Opening.seen_in([(header_of(headed), header_of(headed), headed)])
        usual = int(statistics.median(lengths)) if lengths else LONGEST
        # How an ingestion cuts that was never seen to cut is not known: what is claimed holds for both sizes.
        sizes = (min(LONGEST, usual), min(2 * LONGEST, int(_LARGER * usual)))
        world.chunkers = tuple(Chunker(limit=max(1, size), even=True) for size in sizes)
        world._learn(models)
        world.chunker = world.chunkers[0]
        return world

    def lookup(self) -> PointLookup:
        """What the rules for duplicates ask for."""
        facts = {name: PointFacts(**{name: row[name] for name in FACTS}) for name, row in self.rows.items()}
        ids = {url: [str(row["point_id"]) for row in same] for url, same in self.of_source.items()}
        return PointLookup(facts, ids)

    def value(self, name: str, row: Row) -> Any:
        """What a field of a point should hold: what its page's or its module's other points hold."""
        home = self.homes.of(row)
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

    def completed(self, key: str, rows: Sequence[Row]) -> tuple[list[str], list[Chunk]]:
        """The ids of the points of a page that go, and the chunks that are added so that none of it is missing.

        Added are those that the ingestion would cut of the whole page, as far as they hold what is missing. Where a
        text was lost before the page was cut, the chunks behind it begin and end elsewhere than they should: all are
        made anew. Where vectors are wrong that would mend them as well, and say nothing about the text.
        """
        page, letters = self.texts[key], {str(row["point_id"]): fold(row["text"] or "") for row in rows}
        lost = missing_passages(page, letters.values())
        if not lost:
            return [], []
        whole = self._chunks_of(key, frozenset(letters.values()))
        closed = any(closes_over(one, page, *span) for one in letters.values() for span in lost)
        if not closed or not self.wrong_vectors.isdisjoint(letters):
            return [], [chunk for span, chunk in whole if any(_shared(span, one) >= PASSAGE_LETTERS for one in lost)]
        anew, stored = {fold(chunk.text) for _, chunk in whole}, frozenset(letters.values())
        return (
            [name for name, text in letters.items() if text not in anew],
            [chunk for _, chunk in whole if fold(chunk.text) not in stored],
        )

    def _chunks_of(self, key: str, stored: Set[str]) -> list[tuple[Span, Chunk]]:
        """The chunks of a page where they stand on it, as the ingestion would cut them, with their payload.

        Between chunks that are ``stored`` like that, by their letters, the others have the borders that they had.
        """
        layout, values = self.layout(key), self.payload_of(key)
        pieces = self.chunker.pieces(layout, 0, len(layout.page.letters))
        written = [self._written(layout, start, end, values) for start, end in pieces]
        known = [number for number, (_, text) in enumerate(written) if fold(text) in stored]
        # Where all that is stored was cut so, what comes first and last on the page was too.
        known += [-1, len(pieces)] if known and len(known) >= len(stored) else []
        return [
            (piece, Chunk(f"new {key} {number}", text, values, header, is_new=True, is_sure=_is_within(number, known)))
            for number, (piece, (header, text)) in enumerate(zip(pieces, written, strict=True))
        ]

    def payload_of(self, key: str) -> dict[str, Any]:
        """What the chunks of a page should hold in the fields that say where they are from, by canonical name."""
        url = self.inventory.scope_urls.get(key, key)
        blank = dict.fromkeys(COLUMNS) | {"page_key": key, "page_url": url}
        usual = {name: self.value(name, blank) for name in ("module", "chapter")}
        return {"source_url": url, "title": self._title(key), **usual}

    def _written(self, layout: Layout, start: int, end: int, values: Mapping[str, Any]) -> tuple[str, str]:
        """What is embedded in front of a chunk of a page, and its text."""
        known = {**values, "headings": layout.path(start)}
        begin = layout.below_headings(start) if self.opening.takes_in else start
        return self.header.of(known), self.opening.of(known) + layout.text(min(begin, end), end)

    def layout(self, key: str) -> Layout:
        """Where the blocks of a page stand."""
        if key not in self.layouts:
            self.layouts[key] = Layout.of(self.texts[key], self.blocks.get(key, ()))
        return self.layouts[key]

    def cut(self, row: Row) -> list[str]:
        """The text of a point in several chunks, cut where its page has blocks."""
        text, key = row["text"] or "", str(row["page_key"])
        placed = place_of(text, self.texts[key]) if key in self.texts else None
        if placed is None or placed.end - placed.start < len(fold(text)) - len(fold(placed.opening)) - SEED:
            layout = Layout.of(FoldedText.of(text), ())
            return [layout.text(*piece) for piece in self.chunker.pieces(layout, 0, len(layout.page.letters))]
        layout = self.layout(key)
        pieces = self.chunker.pieces(layout, placed.start, placed.end)
        return [self._written(layout, *piece, row)[1] for piece in pieces]

    def as_on_page(self, row: Row, page: FoldedText) -> str | None:
        """The text of a point as a page has it, with what the ingestion puts in front; None when it is not there."""
        text, opening = row["text"] or "", self.opening.of(row)
        before = opening if text.startswith(opening) else ""
        own = as_on_page(text.removeprefix(before), page)
        return None if own is None else before + own

    def rewritten(self) -> Iterator[Compared]:
        """Points without a finding, of which some words are as their page has them, and as they are stored."""
        for row, _ in self._compared():
            words = re.split(r"(\s+)", row["text"])
            words[:: 2 * _CHANGED] = [word[::-1] for word in words[:: 2 * _CHANGED]]
            text = self.as_on_page({**row, "text": "".join(words)}, self.texts[row["page_key"]])
            if text is not None:
                yield (stored_chunk(row, text).embedded,), (stored_chunk(row).embedded,)

    def recut(self) -> Iterator[Compared]:
        """Chunks that would be made around points without a finding, and the points that hold them, as embedded.

        A page is found by its best chunk: what one chunk says less about a question, the next one may say.
        """
        for row, (first, last) in self._compared():
            layout, page = self.layout(row["page_key"]), self.placed[row["page_key"]]
            pieces = self.chunker.pieces(layout, 0, len(layout.page.letters))
            here = max(range(len(pieces)), key=lambda at: min(pieces[at][1], last) - max(pieces[at][0], first))
            window = pieces[max(0, here - _AROUND) : here + _AROUND + 1]
            stored = [other for other, (start, end) in page if start < window[-1][1] and end > window[0][0]]
            if not any(other["point_id"] in self.ill for other in stored):
                values = {**row, "title": row["title"] or self._title(row["page_key"])}
                written = (self._written(layout, *piece, values) for piece in window)
                yield tuple(map("".join, written)), tuple(stored_chunk(one).embedded for one in stored)

    def _compared(self) -> Iterator[tuple[Row, Span]]:
        for row in self.healthy:
            places = self.placed.get(row["page_key"], ())
            yield from ((other, place) for other, place in places if other["point_id"] == row["point_id"])

    def _title(self, key: str) -> str | None:
        """The title of the chunks of a page: its first heading where others have theirs, else that in HTML."""
        return (self._first_heading(key) if self.titled else None) or self.titles.get(key)

    def _first_heading(self, key: str) -> str | None:
        return next((block.text for block in self.blocks.get(key, ()) if block.kind == "heading"), None)

    def _learn(self, models: Mapping[str, Sequence[Row]]) -> None:
        """Find out how the ingestion cuts pages, and what it puts in front of the chunks."""
        pages, openings = [], []
        for key, rows in models.items():
            if key in self.texts:
                found = [(row, place_of(row["text"], self.texts[key])) for row in rows]
                known = [(row, place) for row, place in found if place is not None]
                openings += [(place.opening, row["text"], row) for row, place in known]
                self.placed[key] = [(row, (place.start, place.end)) for row, place in known]
                pages.append((self.layout(key), [span for _, span in self.placed[key]]))
                self.titled = self.titled or any(row["title"] == self._first_heading(key) for row in rows)
        self.opening = Opening.seen_in(openings)
        seen = Chunker.seen_in(pages)
        if seen is not None:
            self.chunkers = (seen,)


def _names(findings: Iterable[Finding], *codes: str) -> frozenset[str]:
    return frozenset(subject.name for finding in findings if finding.code in codes for subject in finding.subjects)


def _constant_fields(findings: Iterable[Finding]) -> set[Any]:
    constant = (finding.subjects for finding in findings if finding.code == "payload.constant_field")
    return {subject.details.get("field") for subject in chain.from_iterable(constant)}


def _is_about_cuts(finding: Finding) -> bool:
    return not _OF_CUTS.isdisjoint(CATALOGUE[finding.code].breaks)


def _evenly(groups: Sequence[Sequence[Row]], most: int) -> list[Row]:
    """So many rows at most, as many of each group as there are of the others, from all over it."""
    each = -(-most // max(1, len(groups)))
    rows = [group[number * len(group) // each] for number in range(each) for group in groups if number < len(group)]
    return list({row["point_id"]: row for row in rows}.values())[:most]


def _blocks_of(page: Mapping[str, Any]) -> list[Block]:
    levels = iter(page.get("headings") or ())
    return [
        Block(entry["kind"], entry["text"], next(levels)["level"] if entry["kind"] == "heading" else 0)
        for entry in page.get("blocks") or ()
    ]


def _shared(one: Span, other: Span) -> int:
    return min(one[1], other[1]) - max(one[0], other[0])


def _is_within(number: int, known: Sequence[int]) -> bool:
    return bool(known) and min(known) < number < max(known)


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
        is_rewritten=text is not None,
    )
