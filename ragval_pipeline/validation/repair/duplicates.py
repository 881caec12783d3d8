"""Which members of a group of duplicates can be deleted: all but one, or none if a person must decide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.rules.chunk.duplicate_index import RULE as DUPLICATE_INDEX
from ragval_pipeline.rules.payload.duplicate_id import RULE as DUPLICATE_ID
from ragval_pipeline.sources.site.urls import without_fragment
from ragval_pipeline.validation.chunks.ingested_twice import Stored, newest_of
from ragval_pipeline.validation.groups import groups_of_pairs
from ragval_pipeline.validation.repair.stored import PointFacts, PointLookup


@dataclass(frozen=True)
class Surplus:
    """Members to delete, and members to review.

    Attributes:
        delete: Members that can be deleted.
        review: Members for a person to decide on.
        instead: By deleted member of a group that has texts which the kept ones have not, the one that is kept.
    """

    delete: list[str]
    review: list[str]
    instead: dict[str, str] = field(default_factory=dict)


def groups_of(finding: Finding) -> list[list[str]]:
    """Groups of subjects that are copies of each other, or share a page key; sorted."""
    names = {subject.name for subject in finding.subjects}
    pages: dict[str, str] = {}
    pairs = []
    for subject in finding.subjects:
        others = [subject.name, *names.intersection(subject.copies)]
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
    surplus, copies = Surplus([], []), tuple(subject for subject in finding.subjects if subject.copies)
    if len(copies) < finding.count and finding.code == DUPLICATE_INDEX.code:  # the others only share a number
        finding = finding.model_copy(update={"subjects": copies})
    pages = {subject.name: subject.page for subject in finding.subjects}
    # Of several documents one stays whole.
    documents = {subject.name: subject.document for subject in finding.subjects}
    strays = {subject.name for subject in finding.subjects if subject.is_outdated} - gone
    surplus.delete.extend(sorted(strays))
    for group in groups_of(finding):
        alive = [name for name in group if name not in gone and name not in strays]
        apart = len({pages[name] for name in alive}) > 1
        facts = {name: lookup.of(name) for name in alive}
        stored = {name: Stored(fact.embedded_at, fact.model) for name, fact in facts.items()}
        newest = newest_of(stored, model=model)
        alike = len({fact.text_sha256 for fact in facts.values()}) <= 1
        unclear = newest is None and not alike
        # Equal ids do not mean equal points: a person must decide which is a copy.
        if len(group) < 2 or finding.code == DUPLICATE_ID.code or apart or unclear:
            surplus.review.extend(alive)
            continue
        if newest and newest[1] == "id" and alike and len({fact.chunk_index for fact in facts.values()}) > 1:
            # Ids that count up give the copy the higher one, and the page needs the number of the original.
            newest = None
        keep = (
            newest[0] if newest else min(alive, key=lambda name: (_place(facts[name]), documents[name]), default=None)
        )
        surplus.delete.extend(name for name in alive if name != keep)
    return surplus


def _place(point: PointFacts) -> tuple[bool, int]:
    return point.chunk_index is None, point.chunk_index or 0


def surplus_pages(finding: Finding, sitemap_urls: Iterable[str], lookup: PointLookup) -> Surplus:
    """The addresses that can be deleted: all of a page except the sitemap's, or else the first.

    A fragment is a position on the page: addresses that differ only in it are kept or deleted together, except those
    that name each other because they repeat a chunk. If a deleted address has a text that the kept one has not, the
    page may be incomplete without it.
    """
    known = frozenset(without_fragment(url) for url in sitemap_urls)
    surplus = Surplus([], [])
    others = {subject.name: frozenset(subject.copies) for subject in finding.subjects}
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
            surplus.instead.update(dict.fromkeys(go, stay[0]))
    return surplus
