"""Points of several ingestions: pages ingested twice, and which of some points was stored last."""

from __future__ import annotations

import uuid
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragval_pipeline.findings.factory import NAMED, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.chunk.ingested_twice import RULE as INGESTED_TWICE
from ragval_pipeline.rules.chunk.ingested_twice import Details
from ragval_pipeline.rules.details import read, written
from ragval_pipeline.sources.embedders.models import same_model
from ragval_pipeline.text.printing import plural
from ragval_pipeline.text.times import parse_time
from ragval_pipeline.validation.chunks.editions import editions_found
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.present import latest_version, present_version, whole_version
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.editions import kind_of_values
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.thresholds import CLOCK_SKEW, MOST

#: Evidence that separates generations and shows which are older.
BY_DATE = "embedded_at"
#: Evidence of the one generation that the page has as it is: what the others have beside it is out of date or damaged.
BY_PAGE = "the page"
#: Evidence that it does not matter which generation is kept.
BY_TEXT = "the same texts"
#: Evidence of which points belong together, but not which are older.
BY_PLACE = "places on the page"
#: The same, by the version of the document that each point was cut from, which frameworks store.
BY_DOCUMENT = "the document's version"
#: The remedy, by evidence; the catalogue's is for mixed cases.
_REMEDIES = {
    BY_DATE: "Delete the older points, identified by their embedding times and listed under delete_point_ids in "
    "remediation.json. In future, delete a page's points before re-ingesting it.",
    BY_TEXT: "Delete the points under delete_point_ids in remediation.json: all copies but one of each text. In "
    "future, delete a page's points before re-ingesting it.",
    BY_PAGE: "Delete the points under delete_point_ids in remediation.json: their ingestion has texts that differ from "
    "the page, and another one has all of them as they are there. In future, delete a page's points before "
    "re-ingesting it.",
    "": "It is not known which of the points are older: decide which of those under review_point_ids in "
    "remediation.json to keep. In future, delete a page's points before re-ingesting it.",
}


@detector(INGESTED_TWICE, needs=ChunkEvidence)
def find_twice(evidence: ChunkEvidence) -> Iterator[Finding]:
    """The pages; the details have the points of each generation."""
    if evidence.editions.families:
        yield from editions_found(evidence.editions, evidence.labels, evidence.stated, evidence.read)
    if parted := _parted(evidence):
        yield parted
    subjects = list(_stored_twice(evidence))
    if subjects:
        pages = [read(Details, subject.details) for subject in subjects]
        known = {page.told_by or "" if page.older else "" for page in pages}
        remedy = _REMEDIES[known.pop()] if len(known) == 1 else None
        yield make_finding(INGESTED_TWICE.code, subjects, remedy=remedy)


def _stored_twice(evidence: ChunkEvidence) -> Iterator[Subject]:
    twice = evidence.ingested_twice
    on_pages = dict(evidence.on_pages(twice))
    pages = {key: _placed(own) for key, own in on_pages.items()}
    copied = {ref.point_id: digest for digest, refs in evidence.same_texts.groups.items() for ref in refs}
    only_copies = {
        key
        for key, placed in pages.items()
        if len({copied.get(chunk.point_id, chunk.point_id) for chunk in placed}) < 2
    }
    for key, placed in pages.items():
        if key in only_copies and len(only_copies) == len(pages):
            continue
        generations, told_by = generations_of(placed, evidence.versions)
        if told_by == BY_DATE:
            generations = _with_dated(generations, on_pages[key], evidence)
        elif told_by in {BY_PLACE, BY_DOCUMENT} and _are_the_same(generations, copied):
            told_by = BY_TEXT
        elif told_by == BY_DOCUMENT:
            generations, told_by = _by_document(generations, on_pages[key], evidence)
        elif told_by == BY_PLACE and (current := _current(placed, evidence)) is not None:
            rest = _of_others(current, on_pages[key], evidence)
            names = {chunk.point_id for chunk in current}
            first, *others = _without(generations, names) or [[]]
            generations, told_by = [[*rest, *first], *others, current], BY_PAGE
        elif told_by == BY_PLACE and (latest := _latest(generations, evidence)) is not None:
            generations, told_by = [*(own for own in generations if own is not latest), latest], BY_PAGE
        stored = tuple(tuple(chunk.point_id for chunk in generation) for generation in generations)
        older = tuple(name for each in stored[:-1] for name in each) if told_by in {BY_DATE, BY_PAGE, BY_TEXT} else ()
        details = Details(twice[key], told_by, [list(each) for each in stored], list(older))
        # Identical texts are not from different versions of the page.
        without = frozenset({Aspect.CURRENT} if told_by == BY_TEXT else ())
        name = evidence.read[key]
        yield Subject(name, written(details), page=key, without=without, generations=stored, older=older)


_PARTED = (
    "The copies differ in this field, and each of its values has several pages: it tells partitions of the collection "
    "apart, such as tenants, languages or versions."
)
_JUDGE_EACH = (
    "Name the field in qdrant.partition_by, and judge one partition at a time, with qdrant.filter: "
    "{{{path}: {value}}}. Delete nothing across its values: each partition needs its own copy. If the field only tells "
    "ingestions apart, delete the points of the older ones."
)


def _parted(evidence: ChunkEvidence) -> Finding | None:
    """The pages that are stored once for each value of a field: nothing is to be deleted."""
    partition = evidence.partition if evidence.layout.twice else None
    if partition is None or evidence.stated is not None:
        return None
    pages = evidence.layout.twice.keys() - evidence.ingested_twice.keys() - evidence.numbered_through
    held = {
        key: sorted({partition.values[name] for name in (chunk.point_id for chunk in own) if name in partition.values})
        for key, own in evidence.on_pages(pages)
    }
    # Only the copies themselves may crowd results.
    without = frozenset({Aspect.ONCE, Aspect.POSITION, Aspect.CURRENT})
    subjects = [
        Subject(evidence.read[key], written(Details(values=values)), page=key, without=without)
        for key, values in held.items()
        if len(values) > 1
    ]
    if not subjects:
        return None
    every = sorted({value for values in held.values() for value in values})
    shown = ", ".join([*every[:NAMED], *(["..."] if len(every) > NAMED else [])])
    verb = "is" if len(subjects) == 1 else "are"
    kind = kind_of_values(partition.path, set(partition.values.values()))
    copies = f"{plural(len(subjects), 'page')} {verb} stored once for each of several {kind or 'value'}s"
    message = f"{copies} of {partition.path}: {shown}."
    remedy = _JUDGE_EACH.format(path=partition.path, value=every[0])
    finding = make_finding(
        INGESTED_TWICE.code, subjects, scope=partition.path, message=message, cause=_PARTED, remedy=remedy
    )
    # Nothing shows that anything is wrong: an index of tenants with equal files is as it should be.
    return finding.model_copy(update={"severity": "info"})


def _by_document(
    generations: Sequence[Sequence[ChunkFacts]], chunks: Sequence[ChunkFacts], evidence: ChunkEvidence
) -> tuple[list[list[ChunkFacts]], str]:
    """The generations by document, with their chunks that are not on the page; last the present one, if known."""
    versions = evidence.versions
    names = {chunk.point_id for chunk in chunks}
    gone = evidence.differing(names, "gone").keys()
    changed = evidence.differing(names, "drifted").keys() | (gone - evidence.misplaced(gone))
    known = [versions[own[0].point_id] for own in generations]
    whole = [[chunk for chunk in chunks if versions.get(chunk.point_id) == version] for version in known]
    right = whole_version(whole, changed)
    if right is None:
        return whole, BY_DOCUMENT
    return [*(own for own in whole if own is not right), right], BY_PAGE


def _current(placed: Sequence[ChunkFacts], evidence: ChunkEvidence) -> list[ChunkFacts] | None:
    """The chunks of a page's present version, if the page tells which they are."""
    drifted = evidence.differing([chunk.point_id for chunk in placed], "drifted")
    return present_version(placed, drifted, evidence.compared.habits)


def _latest(generations: Sequence[list[ChunkFacts]], evidence: ChunkEvidence) -> list[ChunkFacts] | None:
    """The generation that was stored after the page's last edit, if the page tells which one it is."""
    names = [chunk.point_id for own in generations for chunk in own]
    return latest_version(generations, evidence.differing(names, "drifted"))


def _without(generations: Sequence[Sequence[ChunkFacts]], names: Collection[str]) -> list[list[ChunkFacts]]:
    left = ([chunk for chunk in own if chunk.point_id not in names] for own in generations)
    return [own for own in left if own]


def _with_dated(
    generations: Sequence[list[ChunkFacts]], chunks: Sequence[ChunkFacts], evidence: ChunkEvidence
) -> list[list[ChunkFacts]]:
    """The generations with the chunks of older ingestions that hardly are on the page: its new version dropped them."""
    since = [min(filter(None, (parse_time(chunk.embedded_at) for chunk in own))) for own in generations]
    found = [[*own] for own in generations]
    for chunk in _changed(chunks, evidence):
        moment = parse_time(chunk.embedded_at)
        if moment is not None and moment + CLOCK_SKEW < since[-1]:
            found[max(0, bisect_right(since, moment) - 1)].append(chunk)
    return found


def _changed(chunks: Sequence[ChunkFacts], evidence: ChunkEvidence) -> list[ChunkFacts]:
    """The chunks of a page that hardly are on it, and are not those of another one."""
    placed = {chunk.point_id for chunk in _placed(chunks)}
    rest = [chunk for chunk in chunks if chunk.point_id not in placed]
    names = {chunk.point_id for chunk in rest}
    gone = evidence.differing(names, "gone").keys()
    changed = evidence.differing(names, "drifted").keys() | (gone - evidence.misplaced(gone))
    return [chunk for chunk in rest if chunk.point_id in changed]


def _of_others(
    current: Sequence[ChunkFacts], chunks: Sequence[ChunkFacts], evidence: ChunkEvidence
) -> list[ChunkFacts]:
    """The chunks of a page that hardly are on it and have a number of its present version, so that they are of none."""
    numbers = {chunk.chunk_index for chunk in current}
    return [chunk for chunk in _changed(chunks, evidence) if chunk.chunk_index in numbers]


def _are_the_same(generations: Sequence[Sequence[ChunkFacts]], copied: Mapping[str, Any]) -> bool:
    """Whether several generations have the same texts: then it does not matter which is kept."""
    texts = [sorted(str(copied.get(chunk.point_id, chunk.point_id)) for chunk in own) for own in generations]
    return len(texts) > 1 and all(own == texts[0] for own in texts)


def _placed(chunks: Sequence[ChunkFacts]) -> list[ChunkFacts]:
    """The chunks of a page that are on it."""
    return [chunk for chunk in chunks if chunk.share >= MOST and any(place >= 0 for place in chunk.places)]


def generations_of(chunks: Sequence[ChunkFacts], versions: Mapping[str, str]) -> tuple[list[list[ChunkFacts]], str]:
    """The chunks of a page by ingestion, the oldest first if dated, and the evidence that separates them.

    By dates or models, or the version of their document; else each chunk follows the one with the number before its
    own, or the one that ends nearest to its beginning, and the age is unknown.
    """
    in_order = sorted(chunks, key=lambda chunk: (_begins(chunk), _ends(chunk), chunk.point_id))
    dates = [parse_time(chunk.embedded_at) for chunk in in_order]
    if all(dates):
        by_date = list(_split_by_date(sorted(zip(dates, in_order, strict=True), key=lambda entry: entry[0])))
        if len(by_date) > 1:
            return by_date, BY_DATE
    models = {chunk.model for chunk in in_order}
    if len(models) > 1:
        return [[chunk for chunk in in_order if chunk.model == model] for model in sorted(models, key=str)], "model"
    documents = {versions.get(chunk.point_id) for chunk in in_order}
    if len(documents) > 1 and None not in documents:
        named = sorted(filter(None, documents))
        return [[chunk for chunk in in_order if versions[chunk.point_id] == each] for each in named], BY_DOCUMENT
    chains: list[list[ChunkFacts]] = []
    for chunk in in_order:
        fitting = [chain for chain in chains if _begins(chain[-1]) < _begins(chunk) and _ends(chain[-1]) < _ends(chunk)]
        if fitting:
            nearest = min(
                fitting, key=lambda chain: (not _follows(chain[-1], chunk), abs(_ends(chain[-1]) - _begins(chunk)))
            )
            nearest.append(chunk)
        else:
            chains.append([chunk])
    return chains, BY_PLACE


def _follows(one: ChunkFacts, other: ChunkFacts) -> bool:
    """Whether a chunk has the number after another's."""
    return one.chunk_index is not None and other.chunk_index == one.chunk_index + 1


def _split_by_date(dated: Sequence[tuple[Any, ChunkFacts]]) -> Iterator[list[ChunkFacts]]:
    """Runs of chunks embedded less than ``CLOCK_SKEW`` apart."""
    generation: list[ChunkFacts] = []
    before = None
    for moment, chunk in dated:
        if before is not None and moment - before > CLOCK_SKEW:
            yield generation
            generation = []
        generation.append(chunk)
        before = moment
    yield generation


def _begins(chunk: ChunkFacts) -> int:
    return min(place for place in chunk.places if place >= 0)


def _ends(chunk: ChunkFacts) -> int:
    return max(behind for _, behind in chunk.spans)


#: Kinds of evidence: the page, which lacks the texts of the others; embedding times; the queries' model; ids that count
#: up or begin with a time.
Basis = Literal["page", "date", "model", "id"]


@dataclass(frozen=True)
class Stored:
    """A point's data about its ingestion.

    Attributes:
        embedded_at: Embedding time as stored.
        model: Embedding model as stored.
    """

    embedded_at: str | None = None
    model: str | None = None


def newest_of(points: Mapping[str, Stored], *, model: str | None) -> tuple[str, Basis] | None:
    """The point that was stored last, and the evidence; None if unknown.

    Points of ``model``, the queries' model, are the current generation.
    """
    ways: tuple[tuple[Basis, Callable[[str], Any]], ...] = (
        ("date", lambda name: parse_time(points[name].embedded_at)),
        ("model", lambda name: _is_in_use(points[name].model, model)),
        ("id", _order_of_id),
    )
    for basis, rank in ways:
        ranks = {name: rank(name) for name in points}
        known = [value for value in ranks.values() if value is not None]
        if len(known) == len(points) > 0 and known.count(max(known)) == 1:
            return max(ranks, key=ranks.__getitem__), basis
    return None


def _is_in_use(stored: str | None, model: str | None) -> bool | None:
    return None if stored is None or model is None else same_model(stored, model)


def _order_of_id(name: str) -> int | None:
    """A number for integer ids, and for UUIDs of version 7, which begin with a time; None for all others."""
    if name.isdecimal():
        return int(name)
    try:
        parsed = uuid.UUID(name)
    except ValueError:
        return None
    return parsed.int if parsed.version == 7 else None  # definition
