"""The measurement of payloads: the collection without its texts, read once, and what the detectors find in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.payload.levels import LEVELS, PayloadLevels, derive_levels, needed_columns
from ragval_pipeline.validation.points import REF_COLUMNS, PointRef, point_ref

if TYPE_CHECKING:
    import pyarrow as pa


#: Snapshot columns that detectors read, besides those that levels are derived from.
COLUMNS = (
    *REF_COLUMNS, "text_chars", "title", "module", "chapter", "headings", "token_count", "chunk_index",
    "chunk_id", "odd",
)  # fmt: skip
#: Pages that show what holds for a whole index.
MIN_PAGES = 2


@dataclass(frozen=True)
class PayloadRules:
    """What a suite says about payloads.

    Attributes:
        fields: Canonical name to payload name.
        required: Payload names that every point must hold.
        observed: Payload names of the collection, dotted where nested.
        urls_required: Whether ``source_url`` must be an http(s) URL; false where ids stand in for pages.
        plain_headings: Whether one heading as a text is how this system stores them.
        modules: Allowed modules; ``None``: those that the site's paths give.
        filtered: Payload names that the suite filters on.
        id_rule: What point ids are the MD5 of, or ``None``.
        path_modules: Module by path of each in-scope page, by page key.
    """

    fields: Mapping[str, str]
    required: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    urls_required: bool = True
    plain_headings: bool = False
    modules: tuple[str, ...] | None = None
    filtered: tuple[str, ...] = ()
    id_rule: str | None = None
    path_modules: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PayloadEvidence:
    """The payloads of a collection.

    Attributes:
        table: The snapshot's ``columns_of``, a row a point.
        levels: What each point holds.
        rules: What the suite says.
        texts: Reads ``page_key``, ``headings`` and ``text`` of every point; for those who have a suspicion.
        pages: Reads ``page_key`` and ``headings`` of every page that was read.
    """

    table: pa.Table
    levels: PayloadLevels
    rules: PayloadRules
    texts: Callable[[], Iterable[Mapping[str, Any]]] = tuple
    pages: Callable[[], Iterable[Mapping[str, Any]]] = tuple

    def column(self, name: str) -> Any:
        """A column of the table as one array, its texts spelt out."""
        import pyarrow as pa

        array = self.table.column(name).combine_chunks()
        return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array

    def rows(self, numbers: Any, *columns: str) -> list[dict[str, Any]]:
        """Some columns of the points with these row numbers; all columns when none is named."""
        found = self.table.select(list(columns) or self.table.column_names).take(numbers)
        return list(found.to_pylist())

    def refs(self, numbers: Any) -> list[PointRef]:
        """The points with these row numbers."""
        return [point_ref(row) for row in self.rows(numbers, *REF_COLUMNS)]


def take_evidence(
    snapshot: Snapshot, rules: PayloadRules, *, copies: PageCopies | None = None, now: datetime
) -> PayloadEvidence:
    """Read the collection once, without its texts.

    Args:
        snapshot: The collection.
        rules: What the suite says.
        copies: The pages; ``None`` when none were read.
        now: Time of the run.
    """
    table = snapshot.table(columns_of(rules))
    return PayloadEvidence(
        table=table,
        levels=levels_of(table, rules, now),
        rules=rules,
        texts=lambda: snapshot.rows(("page_key", "headings", "text")),
        pages=(lambda: copies.rows(("page_key", "headings"))) if copies is not None else tuple,
    )


def levels_of(table: pa.Table, rules: PayloadRules, now: datetime) -> PayloadLevels:
    """The levels of the points by the suite's rules; the table as of ``derive_levels``."""
    return derive_levels(
        table, fields=rules.fields, required=rules.required, now=now, urls_required=rules.urls_required
    )


def columns_of(rules: PayloadRules) -> list[str]:
    """Snapshot columns that are read."""
    return list(dict.fromkeys([*COLUMNS, *needed_columns(rules.fields, rules.required)]))


ASSET = "metadata_expectations"
#: Characters of an exception.
_SHOWN = 500  # shown


def measure_payloads(evidence: PayloadEvidence) -> Measurement:
    """The measurement of ``metadata_expectations``, by ragval's own count."""
    levels = evidence.levels
    wrong = {
        level: {name: len(rows) for name, rows in levels.offenders.get(level, {}).items()}
        for level in LEVELS
        if level != "ok"
    }
    counted = {"points": levels.points, "complete": levels.complete, "kinds": levels.kinds, "levels": wrong}
    return Measurement(
        asset=ASSET,
        values=(_completeness(evidence),),
        findings=tuple(find_all(evidence)),
        sections={"metadata": counted, "expectations": {}},
    )


def with_expectations(measured: Measurement, expectations: Mapping[str, Any]) -> Measurement:
    """The measurement with what Great Expectations said of the same levels (``run_expectations``), as evidence."""
    return measured.model_copy(
        update={
            "findings": (*measured.findings, *_crashed(expectations)),
            "sections": {**measured.sections, "expectations": dict(expectations)},
        }
    )


def _completeness(evidence: PayloadEvidence) -> MeasuredValue:
    if not evidence.rules.required:
        return not_measured("metadata_completeness", "not_applicable", "payload.required names no field")
    return ratio("metadata_completeness", evidence.levels.complete, evidence.levels.points, of="points")


def _crashed(expectations: Mapping[str, Any]) -> list[Finding]:
    """An expectation that raised says nothing about the data: it is a check that failed to run."""
    crashed = [result for result in expectations.get("results", ()) if result["exception"]]
    subjects = [
        Subject(name=f"{result['level']} {result['field']}", details={"exception": result["exception"][:_SHOWN]})
        for result in crashed
    ]
    return [make_finding("check.crashed", subjects, scope=ASSET)] if subjects else []
