"""The measurement of payloads: the levels of their fields, and the detectors' findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.factory import PASSAGE, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.check.crashed import RULE as CHECK_CRASHED
from ragval_pipeline.sources.arrow import array_from, one_of
from ragval_pipeline.sources.site.inventory import Addresses
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.belonging import ByPartition, Partitions
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.payload.levels import LEVELS, PayloadLevels, derive_levels, needed_columns

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class PayloadRules:
    """The suite's settings for payloads.

    Attributes:
        fields: Canonical name to payload name.
        required: Payload names that every point must have.
        observed: Payload names of the collection, dotted if nested.
        addresses: What ``source_url`` may hold.
        names_page: Whether a text without a host names a page of the site.
        plain_headings: Whether this system stores a single heading as a text.
        modules: Allowed modules; ``None``: those from the site's paths.
        filtered: Payload names that the suite filters on.
        id_rule: Template whose MD5 the point ids are, or ``None``.
        path_modules: Module by path of each in-scope page, by page key.
    """

    fields: Mapping[str, str]
    required: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    addresses: Addresses = "urls"
    names_page: Callable[[str], bool] | None = None
    plain_headings: bool = False
    modules: tuple[str, ...] | None = None
    filtered: tuple[str, ...] = ()
    id_rule: str | None = None
    path_modules: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PayloadEvidence:
    """The payloads of a collection, with only one batch of rows in memory.

    Attributes:
        batches: Reads some columns of the snapshot, one row per point, always in the same order.
        levels: Levels of each point's fields.
        rules: The suite's settings.
        pages: Reads ``page_key``, ``url``, ``title`` and ``headings`` of every page that was read.
    """

    batches: Callable[[Sequence[str]], Iterable[pa.RecordBatch]]
    levels: PayloadLevels
    rules: PayloadRules
    pages: Callable[[], Iterable[Mapping[str, Any]]] = tuple

    def rows(self, *columns: str) -> Iterator[dict[str, Any]]:
        """Some columns of every point."""
        for batch in self.batches(columns):
            yield from batch.to_pylist()

    def rows_at(self, numbers: Any, *columns: str) -> list[dict[str, Any]]:
        """Some columns of the points with these ascending row numbers."""
        found: list[dict[str, Any]] = []
        start = 0
        for batch in self.batches(columns):
            first, end = np.searchsorted(numbers, (start, start + batch.num_rows))
            found += batch.take(array_from(numbers[first:end] - start)).to_pylist()
            start += batch.num_rows
        return found

    def rows_with(self, column: str, values: Collection[str], *columns: str) -> Iterator[dict[str, Any]]:
        """Some columns of the points with one of the values in a text column."""
        wanted = one_of(column, values)
        for batch in self.batches(tuple(dict.fromkeys([*columns, column]))) if values else ():
            yield from batch.filter(wanted(batch)).to_pylist()


def take_evidence(
    snapshot: Snapshot, rules: PayloadRules, *, copies: PageCopies | None = None, now: datetime
) -> PayloadEvidence:
    """Derive the levels of a collection, for detectors that may read more of it."""
    return PayloadEvidence(
        batches=snapshot.batches,
        levels=levels_of(snapshot.batches, rules, now),
        rules=rules,
        pages=(lambda: copies.rows(("page_key", "url", "title", "headings"))) if copies is not None else tuple,
    )


def levels_of(
    batches: Callable[[Sequence[str]], Iterable[pa.RecordBatch]], rules: PayloadRules, now: datetime
) -> PayloadLevels:
    """The levels of the points by the suite's rules; ``batches`` as in ``PayloadEvidence``."""
    return derive_levels(
        batches(needed_columns(rules.fields, rules.required)),
        fields=rules.fields,
        required=rules.required,
        now=now,
        addresses=rules.addresses,
        names_page=rules.names_page,
    )


ASSET = "metadata_expectations"


def measure_payloads(evidence: PayloadEvidence, partitions: Partitions | None = None) -> Measurement:
    """The measurement of ``metadata_expectations``, from ragval's own counts."""
    levels = evidence.levels
    wrong = {
        level: {name: len(rows) for name, rows in levels.offenders.get(level, {}).items()}
        for level in LEVELS
        if level != "ok"
    }
    counted = {"points": levels.points, "complete": levels.complete, "kinds": levels.kinds, "levels": wrong}
    return Measurement(
        asset=ASSET,
        values=(_completeness(evidence.rules, levels.complete, levels.points),),
        by_partition=_by_partition(evidence, partitions) if partitions else {},
        findings=tuple(find_all(evidence)),
        sections={"metadata": counted, "expectations": {}},
    )


def with_expectations(measured: Measurement, expectations: Mapping[str, Any]) -> Measurement:
    """The measurement with Great Expectations' results for the same levels (``run_expectations``) as evidence."""
    return measured.model_copy(
        update={
            "findings": (*measured.findings, *_crashed(expectations)),
            "sections": {**measured.sections, "expectations": dict(expectations)},
        }
    )


def _completeness(rules: PayloadRules, complete: int, points: int) -> MeasuredValue:
    if not rules.required:
        return not_measured("metadata_completeness", "not_applicable", "payload.required names no field")
    return ratio("metadata_completeness", complete, points, of="points")


def _by_partition(evidence: PayloadEvidence, partitions: Partitions) -> ByPartition:
    levels = evidence.levels
    incomplete = levels.columns.column("point_id").take(array_from(levels.incomplete)).to_pylist()
    lacking = partitions.grouped(incomplete, partitions.of_point)
    return {
        value: (_completeness(evidence.rules, size - len(lacking[value]), size),)
        for value, size in partitions.sizes.items()
    }


def _crashed(expectations: Mapping[str, Any]) -> list[Finding]:
    """An expectation that raised says nothing about the data: it is a check that failed to run."""
    crashed = [result for result in expectations.get("results", ()) if result["exception"]]
    subjects = [
        Subject(name=f"{result['level']} {result['field']}", details={"exception": result["exception"][:PASSAGE]})
        for result in crashed
    ]
    return [make_finding(CHECK_CRASHED.code, subjects, scope=ASSET)] if subjects else []
