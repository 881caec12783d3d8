"""The measurement of payloads: the levels of their fields, and the detectors' findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ragval_pipeline.findings.factory import PASSAGE, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.check.crashed import RULE as CHECK_CRASHED
from ragval_pipeline.sources.arrow import array_from, table_of
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.belonging import ByPartition, Partitions
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.payload.levels import LEVELS, PayloadLevels, derive_levels, needed_columns
from ragval_pipeline.validation.payload.mapped import fields_table
from ragval_pipeline.validation.payload.odd_fields import odd_fields
from ragval_pipeline.validation.payload.payloads import PayloadRules, Payloads
from ragval_pipeline.validation.points import with_share
from ragval_pipeline.validation.views.tables import kept_columns, raw_schemas

if TYPE_CHECKING:
    import pyarrow as pa


class PayloadEvidence(Payloads):
    """The payloads for their detectors and rules."""

    group: ClassVar[str] = "metadata"
    views: ClassVar[frozenset[str]] = frozenset({"points", "fields", "odd_fields", "run"})

    def table(self, name: str) -> Any:
        """The table of a name under the views."""
        if name == "_odd_fields":
            return self.odd_fields
        if name == "_fields":
            return fields_table(self.rules.fields, self.rules.required)
        if name == "_run":
            return table_of([{"id_rule": self.rules.id_rule}], raw_schemas()["_run"])
        return self.points if name == "_points" else None

    @cached_property
    def odd_fields(self) -> pa.Table:
        """``_odd_fields``."""
        return odd_fields(self)


def take_evidence(
    snapshot: Snapshot, rules: PayloadRules, *, copies: PageCopies | None = None, now: datetime
) -> PayloadEvidence:
    """Derive the levels of a collection, for detectors that may read more of it."""
    return PayloadEvidence(
        batches=snapshot.batches,
        points=snapshot.source(),
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
        findings=tuple(with_share(finding, levels.points) for finding in find_all(evidence)),
        sections={"metadata": counted, "expectations": {}, **kept_columns(odd_fields=evidence.odd_fields)},
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
