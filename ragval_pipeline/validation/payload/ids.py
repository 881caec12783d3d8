"""Ids that must be unique, and fields that should differ between points but are constant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragval_pipeline.findings.factory import SHOWN, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.lazy import pa, pc
from ragval_pipeline.rules.payload.constant_field import RULE as CONSTANT_FIELD
from ragval_pipeline.rules.payload.duplicate_id import RULE as DUPLICATE_ID
from ragval_pipeline.rules.payload.duplicate_id import Details as SameId
from ragval_pipeline.sources.arrow import constant
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.snapshot.records import shown
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.partitions import COLUMNS, Copies, Labels, partition_of
from ragval_pipeline.validation.payload.evidence import PayloadEvidence
from ragval_pipeline.validation.points import REF_COLUMNS, point_ref
from ragval_pipeline.validation.thresholds import FEW, FEWEST, MISCOUNTED, MOST


@detector(DUPLICATE_ID, needs=PayloadEvidence)
def find_duplicate_ids(evidence: PayloadEvidence) -> Iterator[Finding]:
    """Every point of each group; the details name the others.

    Numbers counted per page are positions, not ids: they are ignored. So are copies in several partitions: ids made of
    the text are the same for each tenant that has it.
    """
    if "chunk_id" not in evidence.rules.fields:
        return
    counts: Counter[str] = Counter(row["chunk_id"] for row in evidence.rows("chunk_id") if row["chunk_id"])
    repeated = {name for name, points in counts.items() if points > 1 and not is_blank(name)}
    if not repeated or _are_numbered_by_page(evidence):
        return
    points = list(evidence.rows_with("chunk_id", repeated, *REF_COLUMNS, "text_sha256"))
    groups: dict[tuple[str | None, ...], list[str]] = {}
    group_of = _groups(evidence, points)
    for row in points:
        groups.setdefault(group_of[row["point_id"]], []).append(row["point_id"])
    groups = {group: names for group, names in groups.items() if len(names) > 1}
    subjects = []
    for row in points:
        if (group := group_of[row["point_id"]]) not in groups:
            continue
        others = [name for name in sorted(groups[group])[: SHOWN + 1] if name != row["point_id"]]
        subject = point_ref(row).subject(SameId(row["chunk_id"], others[:SHOWN]))
        subjects.append(replace(subject, copies=tuple(others[:SHOWN])))
    if subjects:
        yield make_finding(DUPLICATE_ID.code, subjects, details={"groups": len(groups)})


def _groups(evidence: PayloadEvidence, points: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str | None, ...]]:
    """The group of each point: its id and, of copies of one text, its partition if a field tells such apart."""
    held: dict[str, list[Mapping[str, Any]]] = {}
    for row in points:
        held.setdefault(row["chunk_id"], []).append(row)
    equal = [rows for rows in held.values() if len({row["text_sha256"] for row in rows}) == 1]
    copies = [Copies(tuple(row["point_id"] for row in rows)) for rows in equal]
    partition = partition_of(copies, Labels.of(evidence.batches(COLUMNS))) if copies else None
    parted = {} if partition is None else partition.values
    apart = {name for each in copies for name in each.points}
    return {
        row["point_id"]: (row["chunk_id"], parted.get(row["point_id"]) if row["point_id"] in apart else None)
        for row in points
    }


def _are_numbered_by_page(evidence: PayloadEvidence) -> bool:
    """Whether most ids are chunk numbers within their page."""
    columns = ("chunk_id", "chunk_index", "page_key")
    rows = (tuple(row[name] for name in columns) for row in evidence.rows(*columns))
    points = [(value, index, page) for value, index, page in rows if value and not is_blank(value)]
    local = sum(value.isdecimal() and index is not None and int(value) - index in {0, 1} for value, index, _ in points)
    if 2 * local > len(points):
        return True
    # Without chunk indices: small numbers, unique within each page.
    if not all(value.isdecimal() for value, _, _ in points):
        return False
    on_page = Counter((value, page) for value, _, page in points)
    holders = Counter(value for value, _, _ in points)
    # The longest page may have more numbers than all others together.
    return max(on_page.values()) == 1 and 2 * sum(rows for rows in holders.values() if rows > 1) > len(points)


_FIELDS = ("source_url", "title", "module", "chapter", "headings", "token_count", "chunk_index")


@detector(CONSTANT_FIELD, needs=PayloadEvidence)
def find_constants(evidence: PayloadEvidence) -> Iterator[Finding]:
    """One subject per field."""
    points, fields = evidence.levels.points, evidence.rules.fields
    if points < FEWEST:
        return
    found = _values(evidence, [name for name in _FIELDS if name in fields])
    if "title" in found and len(titles := {page["title"] for page in evidence.pages()}) == 1 and titles != {None}:
        del found["title"]  # all pages of the site have the same
    subjects = [
        Subject(name=fields[name], fields=(name,), details={"value": shown(held.first[0]), "field": name})
        for name, held in found.items()
        if fields[name] not in evidence.rules.filtered
        and len(held.first) == 1
        and held.points >= (1 - FEW) * points
        and _should_vary(name, evidence, found)
    ]
    if subjects:
        yield make_finding(CONSTANT_FIELD.code, subjects, details={"points": points})


@dataclass
class _Values:
    """The first two values of a field, and the number of points with one; empty texts do not count."""

    first: list[Any] = field(default_factory=list)
    points: int = 0


def _values(evidence: PayloadEvidence, names: Sequence[str]) -> dict[str, _Values]:
    found = {name: _Values() for name in names}
    for batch in evidence.batches(names):
        for name, held in found.items():
            column = batch.column(name)
            filled = pc.is_valid(column)
            if pa.types.is_string(column.type):
                filled = pc.not_equal(column, constant(""))
            held.points += filled.true_count
            # Arrow cannot compare lists.
            for entry in column if pa.types.is_list(column.type) else column.unique():
                if len(held.first) == 2:
                    break
                value = entry.as_py()
                if value is not None and value != "" and value not in held.first:
                    held.first.append(value)
    return found


def _should_vary(name: str, evidence: PayloadEvidence, found: Mapping[str, _Values]) -> bool:
    if name == "source_url":  # then there seems to be one page; other fields must show that there are more
        return any(len(found[other].first) > 1 for other in ("title", "chapter", "module") if other in found)
    pages = {row["page_key"] for row in evidence.rows("page_key") if row["page_key"] is not None}
    if len(pages) < 2:
        return False
    if name in {"module", "chapter"}:
        held = Counter(module for page, module in evidence.rules.path_modules.items() if page in pages)
        grouped = sum(number for number in held.values() if number > 1)
        return len(held) > 1 and grouped > MOST * len(pages)  # else the site has no modules
    if name == "chunk_index":
        # Next to addresses, a value like "N/A" stands for many pages, whose chunks need no distinct indices.
        addresses = any(map(is_http_url, pages))
        return any(is_http_url(page) or not addresses for page in _pages_of_several_texts(evidence))
    if name == "token_count":  # one count cannot be right for texts of such different lengths
        lengths = [row["text_chars"] for row in evidence.rows("text_chars") if row["text_chars"]]
        return bool(lengths) and max(lengths) > MISCOUNTED * min(lengths)
    return True


def _pages_of_several_texts(evidence: PayloadEvidence) -> set[str]:
    first: dict[str, int] = {}
    named = (row for row in evidence.rows("page_key", "text") if row["page_key"] is not None)
    return {
        row["page_key"] for row in named if first.setdefault(row["page_key"], hash(row["text"])) != hash(row["text"])
    }
