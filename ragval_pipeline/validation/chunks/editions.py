"""Versions and languages that a collection has beside each other, and the questions that fail because of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.factory import NAMED, SHOWN, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.lazy import pc
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.chunk.ingested_twice import RULE as INGESTED_TWICE
from ragval_pipeline.rules.query.failed import RULE as QUERY_FAILED
from ragval_pipeline.sources.arrow import one_of
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.chunks.columns import Columns
from ragval_pipeline.validation.chunks.order import Points
from ragval_pipeline.validation.editions import Family, Kind, confirmed, families_in
from ragval_pipeline.validation.partitions import Labels
from ragval_pipeline.validation.thresholds import MOST


@dataclass(frozen=True)
class Editions:
    """Editions that the texts of their pages confirm.

    Attributes:
        families: Those beside each other.
    """

    families: tuple[Family, ...] = ()

    @classmethod
    def of(cls, texts: Columns, points: Points) -> Editions:
        """Those of the pages of all points; texts are only read if the addresses show any."""
        pages, _ = texts.codes("page_key")
        found = families_in(page for page in pages if page)
        if not found:
            return cls()
        held = _texts(found, points)
        judged = (confirmed(family, lambda key: held.get(key, "")) for family in found)
        return cls(tuple(family for family in judged if family is not None))

    def by_point(self, texts: Columns) -> dict[str, str]:
        """The edition of each point that is in one; empty without any."""
        if not self.families:
            return {}
        of_page: defaultdict[str, str] = defaultdict(str)
        for family in self.families:
            for name, pages in family.editions.items():
                for key in pages.values():
                    of_page[key] += f"{family.folder(name)}\n"
        keys, codes = texts.codes("page_key")
        points = texts.table.column("point_id").to_pylist()
        return {
            point: of_page[key]
            for point, code in zip(points, codes.tolist(), strict=True)
            if (key := keys[code]) is not None and key in of_page
        }


def _texts(families: Sequence[Family], points: Points) -> dict[str, str]:
    """The texts of the pages that are compared."""
    names = {
        key
        for family in families
        for first in family.editions
        for second in family.editions
        for pair in (family.pairs(first, second) if first < second else ())
        for key in pair
    }
    texts_of: defaultdict[str, list[str]] = defaultdict(list)
    wanted = one_of("page_key", names)
    for batch in points(("page_key", "text")):
        chosen = batch.filter(pc.and_(wanted(batch), pc.is_valid(batch.column("text"))))
        for key, text in zip(chosen.column("page_key").to_pylist(), chosen.column("text").to_pylist(), strict=True):
            texts_of[key].append(text)
    return {key: "\n".join(texts) for key, texts in texts_of.items()}


_SEVERAL: Mapping[Kind, str] = {"version": "several versions", "language": "several languages"}
_CAUSE = (
    "The site has these {kind}s beside each other, as their addresses{field} and their texts show, and the ingestion "
    "stored them all."
)
_REMEDY = (
    "This is no error by itself, but a search without a filter returns pages of any {kind}. {field}let the assistant "
    "filter by it, and name it in qdrant.partition_by to have each {kind} judged for itself. Or leave out what readers "
    "should not get, such as source.exclude: [{folder}/**], and delete its points. A test question that several "
    "{kind}s answer may list the others under acceptable_urls."
)


def editions_found(
    editions: Editions, labels: Labels, stated: Partitions | None, read: Mapping[str, str]
) -> list[Finding]:
    """One finding for versions and one for languages, as information.

    Args:
        editions: The editions.
        labels: Payload values that no canonical name reads.
        stated: The partitions that the suite names: no search returns pages of two of them.
        read: Addresses by page.
    """
    kinds: defaultdict[Kind, list[Family]] = defaultdict(list)
    for family in editions.families:
        if stated is None or not _are_parted(family, stated):
            kinds[family.kind].append(family)
    return [_finding(kind, families, labels, read) for kind, families in sorted(kinds.items())]


def _are_parted(family: Family, stated: Partitions) -> bool:
    groups = [[frozenset(stated.of_page(key)) for key in group.values()] for group in family.groups()]
    parted = sum(all(own for own in each) and len(frozenset().union(*each)) >= len(each) for each in groups)
    return parted > MOST * len(groups)


def _finding(kind: Kind, families: Sequence[Family], labels: Labels, read: Mapping[str, str]) -> Finding:
    subjects = list({subject.name: subject for family in families for subject in _subjects(family, read)}.values())
    folders = Counter({family.folder(name): len(own) for family in families for name, own in family.editions.items()})
    shown = [f"{folder} ({plural(count, 'page')})" for folder, count in folders.most_common(NAMED)]
    more = ", ..." if len(folders) > NAMED else ""
    field = _field_of(families, labels)
    pages = sum(1 for family in families for _ in family.groups())
    message = (
        f"{plural(pages, 'page')} {'is' if pages == 1 else 'are'} indexed in {_SEVERAL[kind]}, under "
        f"{len(subjects):,} addresses: {', '.join(shown)}{more}."
    )
    example = next(family.folder(name) for family in families for name in family.editions if name)
    return make_finding(
        INGESTED_TWICE.code,
        subjects,
        scope=kind,
        message=message,
        cause=_CAUSE.format(kind=kind, field=f", the field {field}" if field else ""),
        remedy=_REMEDY.format(
            kind=kind,
            folder=example,
            field=f"The field {field} tells them apart: " if field else f"Store the {kind} of each point in a field, ",
        ),
        details={"editions": dict(sorted(folders.items())), **({"told_by": field} if field else {})},
    ).model_copy(update={"severity": "info"})


def _subjects(family: Family, read: Mapping[str, str]) -> Iterator[Subject]:
    # Only the pages of another edition may crowd results.
    without = frozenset({Aspect.ONCE, Aspect.POSITION, Aspect.CURRENT})
    parent = "/".join(family.parent)
    for group in family.groups():
        for name, key in group.items():
            others = [read.get(other, other) for other in group.values() if other != key]
            details: dict[str, Any] = {family.kind: name or None, "others": others[:SHOWN]}
            yield Subject(read.get(key, key), details, page=key, without=without, edition=(family.kind, parent, name))


def _field_of(families: Sequence[Family], labels: Labels) -> str | None:
    """The payload field that has another value for each edition, and one value for each of its pages."""
    editions = {
        key: (at, name)
        for at, each in enumerate(families)
        for name, own in each.editions.items()
        for key in own.values()
    }
    for path, values in sorted(labels.values.items()):
        pages_of: defaultdict[tuple[int, str], set[str]] = defaultdict(set)
        for point, value in values.items():
            if (edition := editions.get(labels.pages.get(point) or "")) is not None:
                pages_of[edition].add(value)
        is_whole = len(pages_of) == len(set(editions.values())) and all(len(own) == 1 for own in pages_of.values())
        names = {(at, *own) for (at, _), own in pages_of.items()}
        if is_whole and len(names) == len(pages_of):
            return path
    return None


def with_harmful_editions(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, with editions as a warning if a filter by them answers questions that fail without one."""
    return [_harmful(finding) if finding.is_of_editions else finding for finding in findings]


def _harmful(finding: Finding) -> Finding:
    cleared = finding.would_clear.get(QUERY_FAILED.code)
    if cleared is None or not cleared.names or finding.severity != "info":
        return finding
    count = len(cleared.names)
    told = (
        f"{plural(count, 'failed question')} {'is' if count == 1 else 'are'} answered if only the {finding.scope} of "
        "the expected page is searched."
    )
    return finding.model_copy(update={"severity": "warning", "cause": f"{finding.cause} {told}"})
