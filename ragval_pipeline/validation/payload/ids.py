"""Ids that must be single, or follow a rule, and fields that should tell points apart and have one value everywhere."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.site.urls import is_http_url
from ragval_pipeline.sources.snapshot.values import shown
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.payload.evidence import MIN_PAGES, PayloadEvidence
from ragval_pipeline.validation.points import REF_COLUMNS, point_ref, with_share
from ragval_pipeline.validation.thresholds import FEW, FEWEST, MISCOUNTED

if TYPE_CHECKING:
    import pyarrow as pa


_SHOWN = 20  # shown


@detector("payload.duplicate_id", needs=PayloadEvidence)
def find_duplicate_ids(evidence: PayloadEvidence) -> Iterator[Finding]:
    """Every point of each group; the details name the others.

    Numbers that each page counts for itself are places, not ids: nothing is said of them.
    """
    import numpy as np
    import pyarrow.compute as pc

    stored = evidence.column("chunk_id")
    counts = stored.value_counts()
    shared = counts.field("values").filter(pc.greater(counts.field("counts"), 1)).drop_null()
    repeated = shared.filter(pc.not_equal(pc.utf8_trim_whitespace(shared), ""))
    if not len(repeated) or _are_numbered_by_page(evidence.table):
        return
    rows = np.flatnonzero(pc.is_in(stored, value_set=repeated).to_numpy(zero_copy_only=False))
    held = list(zip(evidence.rows(rows, "chunk_id"), evidence.refs(rows), strict=True))
    groups: dict[str, list[str]] = {}
    for row, ref in held:
        groups.setdefault(row["chunk_id"], []).append(ref.point_id)
    subjects = []
    for row, ref in held:
        others = [name for name in sorted(groups[row["chunk_id"]])[: _SHOWN + 1] if name != ref.point_id]
        subjects.append(ref.subject(value=row["chunk_id"], others=others[:_SHOWN]))
    finding = make_finding("payload.duplicate_id", subjects, details={"groups": len(groups)})
    yield with_share(finding, evidence.levels.points)


def _are_numbered_by_page(table: pa.Table) -> bool:
    """Whether most ids are what a page numbers its chunks with."""
    columns = (table.column(name).to_pylist() for name in ("chunk_id", "chunk_index", "page_key"))
    points = [(value, index, page) for value, index, page in zip(*columns, strict=True) if value and value.strip()]
    local = sum(value.isdecimal() and index is not None and int(value) - index in {0, 1} for value, index, _ in points)
    if 2 * local > len(points):
        return True
    # Without chunk indices: small numbers, of which no page holds one twice.
    if not all(value.isdecimal() for value, _, _ in points):
        return False
    on_page = Counter((value, page) for value, _, page in points)
    holders = Counter(value for value, _, _ in points)
    return max(on_page.values()) == 1 and 2 * sum(number > 1 for number in holders.values()) > len(holders)


@detector("payload.id_rule", needs=PayloadEvidence)
def find_rule_breaks(evidence: PayloadEvidence) -> Iterator[Finding]:
    """Points whose id is not what the rule gives.

    The rule says what the id is the MD5 of, with ``source_url``, ``chunk_index`` and ``chunk_id`` in braces:
    ``{source_url}_{chunk_index}``. Dashes are ignored: Qdrant gives 32 hexadecimal digits back as a UUID. Points that
    lack URL or index cannot be judged.
    """
    rule, table = evidence.rules.id_rule, evidence.table
    if rule is None:
        return
    subjects: list[Subject] = []
    for row in table.select(list(dict.fromkeys([*REF_COLUMNS, "chunk_id", "chunk_index"]))).to_pylist():
        if row["source_url"] is None or row["chunk_index"] is None:
            continue
        source = rule.format(source_url=row["source_url"], chunk_index=row["chunk_index"], chunk_id=row["chunk_id"])
        expected = hashlib.md5(source.encode(), usedforsecurity=False).hexdigest()
        if row["point_id"].replace("-", "").lower() != expected:
            subjects.append(point_ref(row).subject(expected=expected, made_of=source))
    if subjects:
        finding = make_finding("payload.id_rule", subjects, details={"rule": f"MD5 of {rule}"})
        yield with_share(finding, evidence.levels.points)


_FIELDS = ("source_url", "title", "module", "chapter", "headings", "token_count", "chunk_index")


@detector("payload.constant_field", needs=PayloadEvidence)
def find_constants(evidence: PayloadEvidence) -> Iterator[Finding]:
    """One subject a field."""
    points, fields = evidence.levels.points, evidence.rules.fields
    if points < FEWEST:
        return
    subjects = [
        Subject(name=fields[name], fields=(name,), details={"value": shown(values[0]), "field": name})
        for name in _FIELDS
        if name in fields
        and fields[name] not in evidence.rules.filtered
        and len(values := _values(evidence, name)) == 1
        and _holding(evidence, name) >= (1 - FEW) * points
        and _should_vary(name, evidence)
    ]
    if subjects:
        yield make_finding("payload.constant_field", subjects, details={"points": points})


def _values(evidence: PayloadEvidence, name: str) -> list[Any]:
    """The values of a field, two at most; an empty text is none."""
    import pyarrow as pa

    column = evidence.table.column(name)
    found: list[Any] = []
    for entry in column if pa.types.is_list(column.type) else column.unique():  # lists cannot be told apart by Arrow
        value = entry.as_py()
        if value is not None and value != "" and value not in found:
            found.append(value)
        if len(found) == 2:
            break
    return found


def _holding(evidence: PayloadEvidence, name: str) -> int:
    """How many points hold a value."""
    import pyarrow as pa

    column = evidence.table.column(name).combine_chunks()
    empty = 0
    if not pa.types.is_list(column.type):
        empty = sum(entry["counts"] for entry in column.value_counts().to_pylist() if entry["values"] == "")
    return len(column) - int(column.null_count) - empty


def _should_vary(name: str, evidence: PayloadEvidence) -> bool:
    import pyarrow.compute as pc

    if name == "source_url":  # then there seems to be one page; that there are more must show elsewhere
        return any(len(_values(evidence, other)) > 1 for other in ("title", "chapter", "module"))
    pages = set(evidence.column("page_key").drop_null().unique().to_pylist())
    if len(pages) < MIN_PAGES:
        return False
    if name in {"module", "chapter"}:
        return len({module for page, module in evidence.rules.path_modules.items() if page in pages}) > 1
    if name == "chunk_index":
        # Beside addresses, what is none ("N/A") stands for many pages, whose chunks need no index to tell them apart.
        addresses = any(map(is_http_url, pages))
        return any(is_http_url(page) or not addresses for page in _pages_of_several_texts(evidence))
    if name == "token_count":  # of texts of such different lengths one count cannot be true
        lengths = evidence.column("text_chars")
        ends = pc.min_max(lengths.filter(pc.greater(lengths, 0)))
        return bool((ends["max"].as_py() or 0) > MISCOUNTED * (ends["min"].as_py() or 0))
    return True


def _pages_of_several_texts(evidence: PayloadEvidence) -> set[str]:
    first: dict[str, int] = {}
    named = (row for row in evidence.texts() if row["page_key"] is not None)
    return {
        row["page_key"] for row in named if first.setdefault(row["page_key"], hash(row["text"])) != hash(row["text"])
    }
