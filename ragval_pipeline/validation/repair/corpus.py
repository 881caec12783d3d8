"""The points and pages for repairs: positions of chunks on their pages, and content that no chunk has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.chunk.too_small import RULE as TOO_SMALL
from ragval_pipeline.rules.integrity.gone import RULE as INTEGRITY_GONE
from ragval_pipeline.rules.payload.constant_field import RULE as CONSTANT_FIELD
from ragval_pipeline.sources.http.addresses import split_url
from ragval_pipeline.sources.site.html.page_text import Block
from ragval_pipeline.sources.site.inventory import SiteInventory, modules_of
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.text.folding import FoldedText, amount_of, fold
from ragval_pipeline.validation.repair.chunker import Layout
from ragval_pipeline.validation.repair.ingestion import Ingestion, Row, Sample, header_of
from ragval_pipeline.validation.repair.passages import (
    SEED,
    Homes,
    Span,
    as_on_page,
    closes_over,
    missing_passages,
    place_of,
)
from ragval_pipeline.validation.repair.repair import GUESSED, Chunk, Compared, Guess
from ragval_pipeline.validation.repair.stored import FACTS, PointFacts, PointLookup
from ragval_pipeline.validation.thresholds import PASSAGE_LETTERS

#: Snapshot columns, and columns of the page copies, that a plan reads.
COLUMNS = (
    "point_id", "page_key", "page_url", "text", "source_url", "title", "module", "chapter", "headings", "token_count",
    "chunk_index", "chunk_id", "embedded_at", "text_sha256", "embedded_text", "model",
)  # fmt: skip
PAGE_COLUMNS = ("page_key", "title", "main", "headings", "blocks")
_PAYLOAD = ("source_url", "title", "module", "chapter", "headings", "chunk_id")
#: Maximum points of a plan; a cause that affects more is not simulated.
MOST_POINTS = 5000  # work
#: Points without a finding that are rewritten to measure the effect on their scores.
_COMPARED = 12  # work
#: Chunks on either side that are remade with them.
_AROUND = 2  # work
#: One of this many words of them is changed first.
_CHANGED = 8  # work

_OF_VECTORS = tuple(code for code, row in CATALOGUE.items() if Aspect.VECTOR in row.breaks)
#: Findings after which the chunks of a page no longer show the ingestion's chunker.
_OF_CUTS = frozenset({
    Aspect.ONCE, Aspect.PRESENCE, Aspect.POSITION, Aspect.PLACE, Aspect.CURRENT, Aspect.OWN, Aspect.CUT, Aspect.KEPT,
    Aspect.LENGTH, Aspect.SPLIT,
})  # fmt: skip


@dataclass
class RepairCorpus:
    """The points and pages of the findings, and the conventions of the index.

    Attributes:
        inventory: The site.
        gone: Ids of points whose text is gone from their page.
        wrong_vectors: Ids of points with wrong vectors.
        rows: The points of the findings by id, and ``of_page`` and ``of_source`` by page key and stored address.
        texts: Pages read, by key, as are ``titles``, ``blocks``, ``layouts``, and ``placed``: points and places.
        usual: How often a page, or ``module`` and its name, has each module and chapter.
        modules: Module by path of each page.
        ill: Names of everything that has a finding.
        healthy: Points without a finding, to measure the effect of rewriting.
        ingestions: How the ingestion may write chunks: one way if it could be inferred; ``ingestion`` is the one used.
        whole: Whether ``rows`` holds all points of the findings.
        homes: Where points belong.
    """

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
    ingestions: tuple[Ingestion, ...] = ()
    ingestion: Ingestion = field(default_factory=Ingestion)
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
        """Read the data for repairs.

        ``rows`` and ``pages`` as in ``plan_repairs``. ``everything``: the repairs affect all points, not only those in
        findings.
        """
        gone, wrong = _names(findings, INTEGRITY_GONE.code), _names(findings, *_OF_VECTORS)
        world = cls(inventory, gone, wrong, modules=modules_of(inventory.pages))
        names = {subject.name for finding in known for subject in finding.subjects}
        keys = {subject.page for finding in known for subject in finding.subjects if subject.page}
        about_cuts = (finding for finding in findings if not _OF_CUTS.isdisjoint(CATALOGUE[finding.code].breaks))
        moved = {subject.page for finding in about_cuts for subject in finding.subjects}
        sample = Sample(_names(findings, TOO_SMALL.code), moved)
        for row in rows():
            sample.add(row)
            world._count(row)
            if everything or row["point_id"] in names or row["source_url"] in names or row["page_key"] in keys:
                world._keep(row)
        world.ill = names
        ill = {entry.page for finding in known if finding.subject_kind == "page" for entry in finding.subjects}
        world.healthy = sample.without(names, ill, most=_COMPARED)
        world.homes.by_text = "source_url" in _constant_fields(known)
        world._read_pages(pages(), keys | sample.pages.keys() | sample.spare.keys() | world.of_page.keys())
        world._learn(sample)
        return world

    def _count(self, row: Row) -> None:
        """Count the module and chapter of a point's page, and of the page's module."""
        key = row["page_key"]
        for name in GUESSED:
            if key is not None and row[name] is not None and not is_blank(str(row[name])):
                for place in (key, f"module {self.modules.get(key, key)}"):
                    self.usual.setdefault((name, place), Counter())[row[name]] += 1

    def _keep(self, row: Row) -> None:
        """Hold a point of the findings, unless there are too many."""
        if len(self.rows) >= MOST_POINTS:
            self.whole = False
            return
        self.rows[row["point_id"]] = row
        self.of_page.setdefault(row["page_key"] or "", []).append(row)
        self.of_source.setdefault(row["source_url"] or "", []).append(row)

    def _read_pages(self, pages: Iterable[Row], keys: Set[str]) -> None:
        """Hold the texts of some pages; of all if the text of a point must be looked up on them."""
        stray = (row["page_url"] is None or row["point_id"] in self.gone for row in self.rows.values())
        all_ = self.homes.by_text or any(stray)
        for page in pages:
            key = page["page_key"]
            if all_ or key in keys:
                self.texts[key] = FoldedText.of(page["main"])
                self.titles[key] = page["title"]
            if key in keys:
                self.blocks[key] = _blocks_of(page)

    def _learn(self, sample: Sample) -> None:
        """Infer how the ingestion writes chunks."""
        placed = {
            key: [(row, place) for row in rows if (place := place_of(row["text"], self.texts[key])) is not None]
            for key, rows in (sample.pages | sample.spare).items()
            if key in self.texts
        }
        self.placed = {key: [(row, (place.start, place.end)) for row, place in rows] for key, rows in placed.items()}
        models = {key: rows for key, rows in placed.items() if key in sample.pages}
        self.ingestions = sample.ingestions(models, self.layout, self._first_heading)
        self.ingestion = self.ingestions[0]

    def lookup(self) -> PointLookup:
        """The data for the rules about duplicates."""
        facts = {name: PointFacts(**{name: row[name] for name in FACTS}) for name, row in self.rows.items()}
        ids = {url: [str(row["point_id"]) for row in same] for url, same in self.of_source.items()}
        return PointLookup(facts, ids)

    def value(self, name: str, row: Row) -> Any:
        """The right value of a point's field: that of its page's or its module's other points, else a guess."""
        home = self.homes.of(row)
        if home is None:
            return None
        if name == "source_url":
            return self.inventory.scope_urls.get(home)
        module = self.modules.get(home, home)
        # A chapter may be specific to a page: other pages of the module do not show it.
        for place in (home, f"module {module}") if name == "module" else (home,):
            counted = self.usual.get((name, place), Counter()).most_common()
            others = [value for value, _ in counted if value != row[name]]
            if others:
                return others[0]
        path = split_url(self.inventory.scope_urls.get(home, home)).path.strip("/")
        return Guess(module if name == "module" else path)

    def completed(self, key: str, rows: Sequence[Row]) -> tuple[list[str], list[Chunk]]:
        """The ids of a page's points to delete, and the chunks to add so that nothing of it is missing.

        Added chunks are those that the ingestion would make of the whole page, as far as they have missing content. If
        a text was lost before chunking, later chunks have wrong boundaries: all are remade. Not if vectors are wrong,
        since that would fix them as well and show nothing about the text.
        """
        page, letters = self.texts[key], {str(row["point_id"]): fold(row["text"] or "") for row in rows}
        lost = missing_passages(page, letters.values())
        if not lost:
            return [], []
        whole = self._chunks_of(key, frozenset(letters.values()))
        closed = any(closes_over(one, page, *span) for one in letters.values() for span in lost)
        if not closed or not self.wrong_vectors.isdisjoint(letters):
            return [], [chunk for span, chunk in whole if any(_share_passage(page, span, one) for one in lost)]
        anew, stored = {fold(chunk.text) for _, chunk in whole}, frozenset(letters.values())
        return (
            [name for name, text in letters.items() if text not in anew],
            [chunk for _, chunk in whole if fold(chunk.text) not in stored],
        )

    def _chunks_of(self, key: str, stored: Set[str]) -> list[tuple[Span, Chunk]]:
        """The chunks of a page with positions, as the ingestion would make them, with their payload.

        Between chunks that are ``stored`` with the same letters, the others keep their boundaries.
        """
        layout, values = self.layout(key), self.payload_of(key)
        pieces = self.ingestion.pieces(layout)
        written = [self.ingestion.written(layout, start, end, values) for start, end in pieces]
        known = [number for number, (_, text) in enumerate(written) if fold(text) in stored]
        # If all stored chunks follow the chunker, so do the first and last ones of the page.
        known += [-1, len(pieces)] if known and len(known) >= len(stored) else []
        return [
            (piece, Chunk(f"new {key} {number}", text, values, header, is_new=True, is_sure=_is_within(number, known)))
            for number, (piece, (header, text)) in enumerate(zip(pieces, written, strict=True))
        ]

    def payload_of(self, key: str) -> dict[str, Any]:
        """The right values of a page's chunks in the fields about their origin, by canonical name."""
        url = self.inventory.scope_urls.get(key, key)
        blank = dict.fromkeys(COLUMNS) | {"page_key": key, "page_url": url}
        usual = {name: self.value(name, blank) for name in GUESSED}
        return {"source_url": url, "title": self._title(key), **usual}

    def layout(self, key: str) -> Layout:
        """Positions of a page's blocks."""
        if key not in self.layouts:
            self.layouts[key] = Layout.of(self.texts[key], self.blocks.get(key, ()))
        return self.layouts[key]

    def cut(self, row: Row) -> list[str]:
        """The text of a point split into several chunks at block boundaries of its page."""
        text, key = row["text"] or "", str(row["page_key"])
        placed = place_of(text, self.texts[key]) if key in self.texts else None
        if placed is None or placed.end - placed.start < len(fold(text)) - len(fold(placed.opening)) - SEED:
            layout = Layout.of(FoldedText.of(text), ())
            return [layout.text(*piece) for piece in self.ingestion.pieces(layout)]
        layout = self.layout(key)
        pieces = self.ingestion.chunker.pieces(layout, placed.start, placed.end)
        return [self.ingestion.written(layout, *piece, row)[1] for piece in pieces]

    def as_on_page(self, row: Row, page: FoldedText) -> str | None:
        """The text of a point as on a page, with the ingestion's addition before it; None if it is not there."""
        text, opening = row["text"] or "", self.ingestion.opening.of(row)
        before = opening if text.startswith(opening) else ""
        own = as_on_page(text.removeprefix(before), page)
        return None if own is None else before + own

    def rewritten(self) -> Iterator[Compared]:
        """Points without a finding, as on their page with some words changed, and as stored."""
        for row, _ in self._compared():
            words = re.split(r"(\s+)", row["text"])
            words[:: 2 * _CHANGED] = [word[::-1] for word in words[:: 2 * _CHANGED]]
            text = self.as_on_page({**row, "text": "".join(words)}, self.texts[row["page_key"]])
            if text is not None:
                yield (stored_chunk(row, text).embedded,), (stored_chunk(row).embedded,)

    def recut(self) -> Iterator[Compared]:
        """Chunks that would be made around points without a finding, and the points with their content, as embedded.

        A page is found by its best chunk: content missing in one chunk may be in the next.
        """
        for row, (first, last) in self._compared():
            layout, page = self.layout(row["page_key"]), self.placed[row["page_key"]]
            pieces = self.ingestion.pieces(layout)
            here = max(range(len(pieces)), key=lambda at: min(pieces[at][1], last) - max(pieces[at][0], first))
            window = pieces[max(0, here - _AROUND) : here + _AROUND + 1]
            stored = [other for other, (start, end) in page if start < window[-1][1] and end > window[0][0]]
            if not any(other["point_id"] in self.ill for other in stored):
                values = {**row, "title": row["title"] or self._title(row["page_key"])}
                written = (self.ingestion.written(layout, *piece, values) for piece in window)
                yield tuple(map("".join, written)), tuple(stored_chunk(one).embedded for one in stored)

    def _compared(self) -> Iterator[tuple[Row, Span]]:
        for row in self.healthy:
            places = self.placed.get(row["page_key"], ())
            yield from ((other, place) for other, place in places if other["point_id"] == row["point_id"])

    def _title(self, key: str) -> str | None:
        """The title of a page's chunks: its first heading if other pages use theirs, else the HTML title."""
        return (self._first_heading(key) if self.ingestion.titled else None) or self.titles.get(key)

    def _first_heading(self, key: str) -> str | None:
        return next((block.text for block in self.blocks.get(key, ()) if block.kind == "heading"), None)


def _names(findings: Iterable[Finding], *codes: str) -> frozenset[str]:
    return frozenset(subject.name for finding in findings if finding.code in codes for subject in finding.subjects)


def _constant_fields(findings: Iterable[Finding]) -> set[Any]:
    constant = (finding.subjects for finding in findings if finding.code == CONSTANT_FIELD.code)
    return {subject.field for subject in chain.from_iterable(constant)}


def _blocks_of(page: Mapping[str, Any]) -> list[Block]:
    levels = iter(page.get("headings") or ())
    return [
        Block(entry["kind"], entry["text"], next(levels)["level"] if entry["kind"] == "heading" else 0)
        for entry in page.get("blocks") or ()
    ]


def _share_passage(page: FoldedText, one: Span, other: Span) -> bool:
    return amount_of(page.letters[max(one[0], other[0]) : min(one[1], other[1])]) >= PASSAGE_LETTERS


def _is_within(number: int, known: Sequence[int]) -> bool:
    return bool(known) and min(known) < number < max(known)


def stored_chunk(row: Row, text: str | None = None) -> Chunk:
    """A stored point as rewritten by a repair, with its own text or another."""
    stored = row["text"] or ""
    return Chunk(
        str(row["point_id"]),
        stored if text is None else text,
        {name: row[name] for name in _PAYLOAD},
        header=header_of(row),
        is_rewritten=text is not None,
    )
