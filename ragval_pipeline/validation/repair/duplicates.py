"""Which members of a group of duplicates can be deleted: all but one, or none if a person must decide."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.site.urls import without_fragment
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.validation.chunks.duplicate_index import stored_again
from ragval_pipeline.validation.chunks.ingested_twice import Stored, newest_of
from ragval_pipeline.validation.groups import groups_of_pairs

logger = logging.getLogger(__name__)

#: Snapshot columns for ``PointFacts``.
FACTS = ("page_url", "source_url", "embedded_at", "text_sha256", "model", "chunk_index")
_COLUMNS = ("point_id", *FACTS, "token_count")


@dataclass(frozen=True)
class PointFacts:
    """One point: its sitemap page, its source as stored, embedding time and model, its text's hash, and its number."""

    page_url: str | None = None
    source_url: str | None = None
    embedded_at: str | None = None
    text_sha256: str | None = None
    model: str | None = None
    chunk_index: int | None = None


@dataclass(frozen=True)
class PointLookup:
    """Facts of the requested points, ids of the points of the requested sources, and all token counts.

    Attributes:
        points: Point id to facts, of the requested points and sources.
        ids_of: Source URL as stored to the ids of its points.
        token_counts: Stored token counts of all points that have one.
    """

    points: dict[str, PointFacts] = field(default_factory=dict)
    ids_of: dict[str, list[str]] = field(default_factory=dict)
    token_counts: list[int] = field(default_factory=list)

    def of(self, point_id: str) -> PointFacts:
        """Facts of a point; all None if unknown."""
        return self.points.get(point_id, PointFacts())

    def texts_of(self, source_urls: Iterable[str]) -> set[str | None]:
        """Hashes of the texts of these sources."""
        return {self.of(point_id).text_sha256 for url in source_urls for point_id in self.ids_of.get(url, ())}


def look_up_points(manifest: SnapshotManifest | None, names: Collection[str]) -> PointLookup:
    """Read the snapshot for the points and sources in ``names``.

    Without the snapshot the lookup is empty, so that the report is still written.
    """
    lookup = PointLookup()
    if manifest is None:
        return lookup
    from ragval_pipeline.sources.snapshot.reader import Snapshot

    wanted = frozenset(names)
    try:
        for row in Snapshot(manifest).rows(_COLUMNS):
            _note(lookup, wanted, row)
    except (OSError, KeyError) as error:
        logger.warning("the snapshot cannot be read, so the report has no hints from it: %s", error)
    return lookup


def _note(lookup: PointLookup, wanted: frozenset[str], row: Mapping[str, Any]) -> None:
    if row["token_count"] is not None:
        lookup.token_counts.append(row["token_count"])
    if row["point_id"] in wanted or row["source_url"] in wanted:
        lookup.points[row["point_id"]] = PointFacts(*(row[name] for name in FACTS))
    if row["source_url"] in wanted:
        lookup.ids_of.setdefault(row["source_url"], []).append(row["point_id"])


#: Codes whose subjects are groups of which one member is kept.
GROUPED = frozenset({"chunk.duplicate_index", "chunk.duplicate_text", "coverage.url_variant", "payload.duplicate_id"})
#: Equal ids do not mean equal points: a person must decide which is a copy.
UNDECIDABLE = frozenset({"payload.duplicate_id"})


@dataclass(frozen=True)
class Surplus:
    """Members to delete, members to review, and members that do not cover the deleted ones.

    Attributes:
        delete: Members that can be deleted.
        review: Members for a person to decide on.
        incomplete: Kept members without all content of the deleted ones.
    """

    delete: list[str]
    review: list[str]
    incomplete: list[str] = field(default_factory=list)


def groups_of(finding: Finding) -> list[list[str]]:
    """Groups of subjects that name each other in their details, or share a page key; sorted."""
    names = {subject.name for subject in finding.subjects}
    pages: dict[str, str] = {}
    pairs = []
    for subject in finding.subjects:
        others = [subject.name, *(text for text in _texts(subject.details) if text in names)]
        if finding.subject_kind == "page" and subject.page is not None:
            others.append(pages.setdefault(subject.page, subject.name))
        pairs += [(subject.name, other) for other in others]
    return groups_of_pairs(pairs)


def surplus_points(finding: Finding, lookup: PointLookup, gone: set[str], model: str | None = None) -> Surplus:
    """The points of duplicate groups that can be deleted.

    The member stored last is kept, preferably one whose text is on its page; if unknown, or if only ids of equal texts
    say which that is, the one with the lowest chunk number, which a copy at the end of the page has not. Points in
    ``gone`` are deleted anyway and are no reason to delete another. For review are members of different pages, and
    members with different texts and unknown age.
    """
    surplus, finding = Surplus([], []), stored_again(finding)
    pages = {subject.name: subject.page for subject in finding.subjects}
    strays = {entry.name for entry in finding.subjects if _is_stray(entry.details)} - gone
    surplus.delete.extend(sorted(strays))
    for group in groups_of(finding):
        alive = [name for name in group if name not in gone and name not in strays]
        apart = len({pages[name] for name in alive}) > 1
        facts = {name: lookup.of(name) for name in alive}
        stored = {name: Stored(fact.embedded_at, fact.model) for name, fact in facts.items()}
        newest = newest_of(stored, model=model)
        alike = len({fact.text_sha256 for fact in facts.values()}) <= 1
        unclear = newest is None and not alike
        if len(group) < 2 or finding.code in UNDECIDABLE or apart or unclear:
            surplus.review.extend(alive)
            continue
        if newest and newest[1] == "id" and alike and len({fact.chunk_index for fact in facts.values()}) > 1:
            # Ids that count up give the copy the higher one, and the page needs the number of the original.
            newest = None
        keep = newest[0] if newest else min(alive, key=lambda name: _place(facts[name]), default=None)
        surplus.delete.extend(name for name in alive if name != keep)
    return surplus


def _place(point: PointFacts) -> tuple[bool, int]:
    return point.chunk_index is None, point.chunk_index or 0


def _is_stray(details: Mapping[str, Any]) -> bool:
    """Whether a member is surplus because its page does not have its text."""
    return details.get("told_by") == "page" and bool(details["older"])


def surplus_pages(finding: Finding, sitemap_urls: Iterable[str], lookup: PointLookup) -> Surplus:
    """The addresses that can be deleted: all of a page except the sitemap's, or else the first.

    A fragment is a position on the page: addresses that differ only in it are kept or deleted together, except those
    that name each other because they repeat a chunk. If a deleted address has a text that the kept one has not, the
    page is incomplete without it.
    """
    known = frozenset(without_fragment(url) for url in sitemap_urls)
    surplus = Surplus([], [])
    others = {subject.name: frozenset(_texts(subject.details)) for subject in finding.subjects}
    for group in groups_of(finding):
        if len(group) < 2:
            surplus.review.extend(group)
            continue
        spellings = [without_fragment(name) for name in group]
        keep = next((spelling for spelling in spellings if spelling in known), spellings[0])
        stay: list[str] = []
        for name in group:
            if without_fragment(name) == keep and others[name].isdisjoint(stay):
                stay.append(name)
        go = [name for name in group if name not in stay]
        surplus.delete.extend(go)
        if not lookup.texts_of(go) <= lookup.texts_of(stay):
            surplus.incomplete.extend(stay)
    return surplus


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _texts(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _texts(entry)
