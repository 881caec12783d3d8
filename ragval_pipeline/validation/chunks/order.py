"""The order of chunks within their page: every index from 0 up, each once.

What lives here: ``chunk.index_gap`` and ``chunk.duplicate_index``, from partial results that merge. What does not: the
chunks' text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.urls import is_http_url, without_fragment
from ragval_pipeline.suite.printing import plural
from ragval_pipeline.validation.chunks.generations import Basis, Stored, newest_of

#: Snapshot columns that ``collect_order`` needs.
COLUMNS = ("point_id", "page_key", "source_url", "chunk_index", "embedded_at", "model")
#: Missing indices of a page, and points that share one index, that a subject's details list.
SHOWN = 100
_TOLD = {"date": "times of embedding", "model": "models", "id": "ids"}
_OLDER = "Delete the older points of each group, which their {} tell: delete_point_ids of remediation.json lists them."
_IDS = "Derive ids from URL and index, so that an ingestion writes over what it wrote before."


@dataclass
class PageOrder:
    """The chunks of one page: its first stored spelling, without one of several fragments, points by index, models."""

    url: str
    points: dict[int, list[tuple[str, str | None]]] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)

    def spelt(self, url: str) -> None:
        """Take in how another point of the page spells it."""
        if url != self.url and without_fragment(url) == without_fragment(self.url):
            self.url = without_fragment(url)


def collect_order(rows: Iterable[Mapping[str, Any]]) -> dict[str, PageOrder]:
    """Points by page and index; points without page or index belong nowhere, and a negative index is none."""
    pages: dict[str, PageOrder] = {}
    for row in rows:
        if row["page_key"] is not None and row["chunk_index"] is not None and row["chunk_index"] >= 0:
            page = pages.setdefault(row["page_key"], PageOrder(row["source_url"]))
            page.spelt(row["source_url"])
            page.points.setdefault(row["chunk_index"], []).append((row["point_id"], row["embedded_at"]))
            if row["model"] is not None:
                page.models[row["point_id"]] = row["model"]
    return pages


def merge_order(slices: Iterable[Mapping[str, PageOrder]]) -> dict[str, PageOrder]:
    """Points by page and index over all slices."""
    merged: dict[str, PageOrder] = {}
    for pages in slices:
        for key, page in pages.items():
            known = merged.setdefault(key, PageOrder(page.url))
            known.spelt(page.url)
            known.models.update(page.models)
            for index, points in page.points.items():
                known.points.setdefault(index, []).extend(points)
    return merged


def without_strays(pages: Mapping[str, PageOrder]) -> dict[str, PageOrder]:
    """The pages without those that are no address, in an index whose pages are addresses.

    What several points hold in place of an address is no page that they share: it is named as an invalid value.
    """
    addresses = {key: page for key, page in pages.items() if is_http_url(page.url)}
    return addresses or dict(pages)


def order_findings(pages: Mapping[str, PageOrder], *, model: str | None = None) -> list[Finding]:
    """Pages with gaps and points that share page and index.

    Args:
        pages: The chunks of every page.
        model: The model that queries are embedded with; None: not known.
    """
    return [*_gaps(pages), *_duplicates(pages, model)]


def _gaps(pages: Mapping[str, PageOrder]) -> list[Finding]:
    first = _first_index(pages)
    subjects = []
    for key, page in pages.items():
        present = sorted(index for index in page.points if index >= first)
        missing = present[-1] - first + 1 - len(present) if present else 0
        if missing:
            shown = list(islice(_between(first, present), SHOWN))
            details = {"missing": shown, "missing_count": missing, "highest": present[-1]}
            extent = missing / (missing + len(present))
            subjects.append(Subject(name=page.url, page=key, details=details, indices=tuple(shown), extent=extent))
    return [make_finding("chunk.index_gap", subjects)] if subjects else []


def _between(first: int, present: Sequence[int]) -> Iterator[int]:
    """The indices from ``first`` that are not there; never all at once, for one wrong index can leave billions."""
    for index in present:
        yield from range(first, index)
        first = index + 1


def _first_index(pages: Mapping[str, PageOrder]) -> int:
    """0, or 1 where no page has a chunk 0 and most of several pages start at 1: then the index counts from 1.

    Of the others the first chunk is missing, or does not say its page or index.
    """
    starts = [min(page.points) for page in pages.values()]
    return 1 if 0 not in starts and len(starts) > 1 and 2 * starts.count(1) > len(starts) else 0


def _duplicates(pages: Mapping[str, PageOrder], model: str | None) -> list[Finding]:
    subjects, groups = [], 0
    told: set[Basis | None] = set()
    for key, page in pages.items():
        for index, points in page.points.items():
            if len(points) < 2:
                continue
            groups += 1
            ids = sorted(point_id for point_id, _ in points)
            stored = {name: Stored(embedded_at, page.models.get(name)) for name, embedded_at in points}
            newest, basis = newest_of(stored, model=model) or (None, None)
            told.add(basis)
            for point_id, embedded_at in points:
                others = list(islice((entry for entry in ids if entry != point_id), SHOWN))
                details = {"page_url": page.url, "chunk_index": index, "others": others, "embedded_at": embedded_at}
                if newest is not None:
                    details |= {"older": point_id != newest, "told_by": basis}
                subjects.append(Subject(name=point_id, page=key, details=details))
    if not subjects:
        return []
    message = f"{len(subjects)} points share page and chunk index, in {plural(groups, 'group')}."
    remedy = (
        None
        if None in told
        else f"{_OLDER.format(' and '.join(_TOLD[basis] for basis in sorted(filter(None, told))))} {_IDS}"
    )
    return [make_finding("chunk.duplicate_index", subjects, details={"groups": groups}, message=message, remedy=remedy)]
