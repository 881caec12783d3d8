"""The partitions of an index for readers: those that miss what is asked of the whole come first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from ragval_pipeline.reporting.numbers import show_gate, show_value
from ragval_pipeline.suite.criteria import criterion_name, measure_of
from ragval_pipeline.text.printing import plural, printable
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

#: Partitions named in words, and criteria of each.
_NAMED, _CRITERIA = 5, 3


class PartitionRow(NamedTuple):
    """One partition.

    Attributes:
        value: Its value of ``qdrant.partition_by``.
        results: The criteria that are required of the collection or of this partition, by the criterion's name.
    """

    value: str
    results: dict[str, CriterionResult]

    @property
    def missed(self) -> list[CriterionResult]:
        """The criteria that it does not meet."""
        return [result for result in self.results.values() if result.verdict == "not_met"]


def partition_rows(report: ValidationReport) -> list[PartitionRow]:
    """The partitions of a report, those that miss most first, else in report order."""
    required = {result.name for result in report.criteria if result.required}
    rows = [
        PartitionRow(value, {name: result for name, result in results.items() if name in required or result.required})
        for value, results in report.by_partition.items()
    ]
    return sorted(rows, key=lambda row: -len(row.missed))


def columns_of(rows: Sequence[PartitionRow]) -> list[str]:
    """The names of the criteria that any of the partitions shows, in report order."""
    return list(dict.fromkeys(name for row in rows for name in row.results))


def partition_words(report: ValidationReport) -> list[str]:
    """How many partitions miss something, and what the worst ones miss; empty without partitions."""
    rows = partition_rows(report)
    if not rows:
        return []
    below = [row for row in rows if row.missed]
    told = f"{len(below):,} of {plural(len(rows), 'partition')} below what is required" + (":" if below else "")
    return [told, *map(_line, islice(below, _NAMED))]


def _line(row: PartitionRow) -> str:
    missed = [
        f"{criterion_name(measure_of(result.name))} {show_value(result)} ({show_gate(result)})" for result in row.missed
    ]
    more = f" and {len(missed) - _CRITERIA} more" if len(missed) > _CRITERIA else ""
    return f"{printable(row.value)}: {', '.join(missed[:_CRITERIA])}{more}"
