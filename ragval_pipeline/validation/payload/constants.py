"""Fields that are meant to tell points apart and have one value everywhere.

What may be constant depends on the field: a site of one module has one module, an index of one-chunk pages has one
chunk index, and a model or a time of embedding is the same for all by nature.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.site.urls import is_http_url
from ragval_pipeline.sources.snapshot.values import shown
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.payload.evidence import MIN_PAGES, PayloadEvidence
from ragval_pipeline.validation.thresholds import FEW, FEWEST, MISCOUNTED

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
