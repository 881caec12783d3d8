"""How an ingestion writes chunks, inferred from points on their pages: where it cuts, and what it puts before texts."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.validation.repair.chunker import Chunker, Layout, Opening
from ragval_pipeline.validation.repair.passages import Placed, Span

Row = Mapping[str, Any]

#: Pages from which the chunker is inferred.
_MODELS = 24  # work
#: Maximum characters of a remade chunk: about half the limit of the smallest common model.
_LONGEST = 1000  # work
#: Second size tried if the chunker cannot be inferred, as a multiple of the usual chunk.
_LARGER = 1.5  # work


@dataclass(frozen=True)
class Ingestion:
    """How an ingestion writes the chunks of a page.

    Attributes:
        chunker: Where it cuts.
        header: What it embeds before the text of a chunk.
        opening: What it puts before the page's words in the text.
        titled: Whether it takes the first heading for a page's title, rather than the HTML title.
    """

    chunker: Chunker = field(default_factory=Chunker)
    header: Opening = field(default_factory=Opening)
    opening: Opening = field(default_factory=Opening)
    titled: bool = False

    def pieces(self, layout: Layout) -> list[Span]:
        """The chunks of a whole page, in order."""
        return self.chunker.pieces(layout, 0, len(layout.page.letters))

    def written(self, layout: Layout, start: int, end: int, values: Mapping[str, Any]) -> tuple[str, str]:
        """The header embedded before a page's chunk, and its text."""
        known = {**values, "headings": layout.path(start)}
        begin = layout.below_headings(start) if self.opening.takes_in else start
        return self.header.of(known), self.opening.of(known) + layout.text(min(begin, end), end)


@dataclass
class Sample:
    """The points that an ingestion is inferred from.

    Attributes:
        cut: Ids of points that are shorter than they should be.
        moved: Keys of pages whose chunks do not show the chunker.
        pages: The points of some other pages, by page key.
        spare: The same for some of the moved pages: nothing is learnt from them, but points of theirs may be right.
        lengths: Characters of all texts.
        headed: A point with text embedded before its own.
    """

    cut: Set[str]
    moved: Set[str | None]
    pages: dict[str, list[Row]] = field(default_factory=dict)
    spare: dict[str, list[Row]] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)
    headed: Row | None = None

    def add(self, row: Row) -> None:
        """Take a point of the index."""
        if self.headed is None and header_of(row):
            self.headed = row
        if row["text"] and row["point_id"] not in self.cut:
            self.lengths.append(len(row["text"]))
        key = row["page_key"]
        pages = self.spare if key in self.moved else self.pages
        if row["page_url"] is not None and row["text"] and (key in pages or len(pages) < _MODELS):
            pages.setdefault(key, []).append(row)

    def without(self, points: Set[str], pages: Set[str | None], *, most: int) -> list[Row]:
        """Points of the sample, evenly from its pages; of spare pages if there are no others.

        Points and pages with these ids and keys are left out.
        """
        well = [rows for key, rows in self.pages.items() if key not in pages]
        for held in (well, self.spare.values()):
            left = [[row for row in rows if row["point_id"] not in points] for rows in held]
            if any(left):
                return _evenly(left, most)
        return []

    def ingestions(
        self,
        placed: Mapping[str, Sequence[tuple[Row, Placed]]],
        layout_of: Callable[[str], Layout],
        first_heading: Callable[[str], str | None],
    ) -> tuple[Ingestion, ...]:
        """The ingestion; if its chunker cannot be inferred, two with different sizes: results must hold for both.

        ``placed`` are the points of the pages read, with their places, by page key.
        """
        spans = [(layout_of(key), [(place.start, place.end) for _, place in rows]) for key, rows in placed.items()]
        seen = Chunker.seen_in(spans)
        usual = int(statistics.median(self.lengths)) if self.lengths else _LONGEST
        sizes = (min(_LONGEST, usual), min(2 * _LONGEST, int(_LARGER * usual)))
        chunkers = [Chunker(limit=max(1, size), even=True) for size in sizes] if seen is None else [seen]
        openings = [(place.opening, row["text"], row) for rows in placed.values() for row, place in rows]
        headers = [] if self.headed is None else [(header_of(self.headed), header_of(self.headed), self.headed)]
        titled = any(row["title"] == first_heading(key) for key in placed for row in self.pages[key])
        return tuple(
            Ingestion(chunker, Opening.seen_in(headers), Opening.seen_in(openings), titled) for chunker in chunkers
        )


def _evenly(groups: Sequence[Sequence[Row]], most: int) -> list[Row]:
    """At most so many rows, evenly from all groups and spread within each."""
    each = -(-most // max(1, len(groups)))
    rows = [group[number * len(group) // each] for number in range(each) for group in groups if number < len(group)]
    return list({row["point_id"]: row for row in rows}.values())[:most]


def header_of(row: Row) -> str:
    """The header embedded before a point's text, from its embedded text."""
    stored = row["text"] or ""
    embedded = row["embedded_text"] or stored
    return str(embedded.removesuffix(stored)) if stored and embedded.endswith(stored) else ""
