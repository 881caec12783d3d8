"""What a suite is judged by: its criteria, their gates, and the ranks that they name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.criteria import DEFAULT_GATES, Criterion, Gate, all_criteria, criterion_of, rank_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.suite.sections import GateSettings


def gates_of(suite: Suite) -> dict[str, Gate]:
    """The gate of every criterion of the suite, by name, in report order.

    The suite's gate overrides the profile's, and that the criterion's own, which is not required. None in a suite
    removes a gate. A suite's threshold is required unless it says otherwise. Without a threshold, a suite changes only
    whether the known one is required.
    """
    profile = get_profile(suite.profile)
    usual = profile.gates if profile else DEFAULT_GATES
    return {criterion.name: _gate(criterion, usual, suite.criteria) for criterion in criteria_of(suite)}


def _gate(criterion: Criterion, usual: Mapping[str, Gate], written: Mapping[str, GateSettings | None]) -> Gate:
    own = Gate(criterion.threshold, required=criterion.name == "critical_queries")
    gate = usual.get(criterion.measure, own)
    if criterion.name not in written:
        return gate
    change = written[criterion.name]
    if change is None:
        return Gate(None, required=False)
    if change.threshold is None:
        return Gate(gate.threshold, gate.required if change.required is None else change.required)
    return Gate(change.threshold, True if change.required is None else change.required)


def criteria_of(suite: Suite) -> list[Criterion]:
    """Every criterion of the suite in report order, the ranked families at each of ``ranks_of``.

    One that the suite names for a partition follows that of the whole collection.
    """
    named = [criterion for name in suite.criteria if (criterion := criterion_of(name)) and criterion.partition]
    return [
        each
        for criterion in all_criteria(ranks_of(suite))
        for each in (criterion, *(entry for entry in named if entry.measure == criterion.name))
    ]


def ranks_of(suite: Suite) -> tuple[int, ...]:
    """The ranks at which page metrics are measured: ``retrieval.k`` and those that suite or profile gate on."""
    profile = get_profile(suite.profile)
    named = [*suite.criteria, *(profile.gates if profile else ())]
    return tuple(sorted({*suite.retrieval.k, *(rank for name in named if (rank := rank_of(name)))}))


def required_of_site(suite: Suite, only: Collection[str] | None = None) -> list[str]:
    """Names of the required criteria that need the suite's ``source``."""
    gates = gates_of(suite)
    selected = [entry for entry in criteria_of(suite) if only is None or entry.group in only]
    return [entry.name for entry in selected if entry.reads_site and gates[entry.name].required]


def check_gates(suite: Suite, *, file: Path) -> None:
    """Raise SuiteError if a gate can never be met or never fail, or is required without a threshold."""
    gates = gates_of(suite)
    for criterion in criteria_of(suite):
        if criterion.partition and suite.qdrant.partition_by is None:
            raise SuiteError(
                "is for a partition, and qdrant.partition_by names no field",
                file=file,
                key=f"criteria.{criterion.name}",
                remedy="Set qdrant.partition_by to the payload field that searches filter by.",
            )
        threshold = gates[criterion.name].threshold
        if threshold is not None and not criterion.lowest <= threshold <= criterion.highest:
            raise _out_of_range(criterion, threshold, file=file)
    for name, gate in gates.items():
        if gate.required and gate.threshold is None:
            raise SuiteError(
                "is required but has no threshold",
                file=file,
                key=f"criteria.{name}",
                remedy="Write {threshold: number, required: true}.",
            )


def _out_of_range(criterion: Criterion, threshold: float, *, file: Path) -> SuiteError:
    share = criterion.highest == 1.0
    percent = share and 1.0 < threshold <= 100.0
    return SuiteError(
        f"must be {'a share between 0 and 1' if share else 'at least 0'}, not {threshold:g}",
        file=file,
        key=f"criteria.{criterion.name}",
        remedy=f"Write {threshold:g} % as {threshold / 100:g}." if percent else "",
    )
