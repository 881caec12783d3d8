"""Where the chunks of a page went that has none, or lacks some: to a page that is not in scope, or to none.

What lives here: looking for the text of points whose page is not in scope on the pages that lack something. What does
not: naming such pages (``validation/coverage``), and what follows from that (``findings/graph``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, zip_longest
from typing import Any

from ragval_pipeline.sources.page_copies.record import PageRecord
from ragval_pipeline.validation.integrity.folding import fold
from ragval_pipeline.validation.integrity.markup import without_markup

#: Snapshot columns that ``collect_strays`` needs.
COLUMNS = ("point_id", "page_key", "text")
#: More points than this are not looked for, some of every page first: then the whole index is of another site.
MOST = 1_000
#: Letters of a piece of a point's text; three of them are looked for, two must stand on the page.
PROBE = 40

#: Pieces of the text of each point, by page that is not in scope, or by the point itself where it has none.
Strays = Mapping[str, list[tuple[str, ...]]]


def collect_strays(rows: Iterable[Mapping[str, Any]], known: Collection[str]) -> dict[str, list[tuple[str, ...]]]:
    """Pieces of the points whose page is not known, or not one of the ``known`` ones."""
    strays: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        if row["page_key"] not in known and row["text"]:
            strays.setdefault(row["page_key"] or row["point_id"], []).append(
                tuple(_probes(fold(without_markup(row["text"]))))
            )
    return strays


def moved_pages(strays: Strays, records: Iterable[PageRecord], lacking: Collection[str]) -> dict[str, list[str]]:
    """By page that lacks something, the pages out of scope and the points without a page that hold its text.

    Args:
        strays: ``collect_strays``.
        records: All pages.
        lacking: Keys of the pages that have no chunks, or of which passages stand in none.
    """
    keyed = ([(key, probes) for probes in found] for key, found in strays.items())
    in_turn = (entry for entry in chain.from_iterable(zip_longest(*keyed)) if entry is not None)
    sought = [entry for entry, _ in zip(in_turn, range(MOST), strict=False)]
    moved: dict[str, list[str]] = {}
    for record in records:
        if record.page_key not in lacking or not sought:
            continue
        letters = fold(f"{record.main}\n{record.body}")
        found = sorted({key for key, probes in sought if _stands(probes, letters)})
        if found:
            moved[record.page_key] = found
    return moved


def _probes(letters: str) -> Iterator[str]:
    """Pieces from between the ends, which an ingestion may have put there; the whole of a short text."""
    if len(letters) <= 3 * PROBE:
        yield letters
        return
    for quarter in (1, 2, 3):
        at = len(letters) * quarter // 4 - PROBE // 2
        yield letters[at : at + PROBE]


def _stands(probes: tuple[str, ...], letters: str) -> bool:
    wanted = (len(probes) + 1) // 2
    for number, probe in enumerate(probes):
        wanted -= bool(probe) and probe in letters
        if wanted <= 0 or wanted > len(probes) - number - 1:
            break
    return wanted <= 0
