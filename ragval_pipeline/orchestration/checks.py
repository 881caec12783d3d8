"""Asset checks: those of a measuring asset publish its values against their gates, as soon as they are measured.

Those of ``validation_report`` publish the verdicts of the report, which knows more: whether the collection changed
meanwhile, and what was set aside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import dagster as dg

from ragval_pipeline.measuring.names import VALIDATION_REPORT
from ragval_pipeline.measuring.table import ROWS
from ragval_pipeline.orchestration.metadata import (
    AnyFinding,
    codes_for,
    criterion_metadata,
    evidence_for,
    numbers,
    offenders_in_words,
    offenders_metadata,
    report_link,
)
from ragval_pipeline.orchestration.names import VERDICT_CHECK, check_name, job_name
from ragval_pipeline.suite.criteria import Criterion, Gate, criterion_of, measure_of
from ragval_pipeline.suite.gates import criteria_of, gates_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.text.printing import printable
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured
from ragval_pipeline.validation.verdict import ERRORS, CriterionResult, FindingT, counted_errors, judge_value

if TYPE_CHECKING:
    from ragval_pipeline.findings.model import Finding
    from ragval_pipeline.reporting.subjects import Subjects
    from ragval_pipeline.validation.belonging import Partitions
    from ragval_pipeline.validation.report import ValidationReport

#: The criterion that a score decides, whatever the model.
_SCORED = "relevance_rate"
#: Criteria with their gates.
Gated: TypeAlias = Sequence[tuple[Criterion, Gate]]


def gated_criteria(suite: Suite) -> Gated:
    """The criteria with a gate, in report order, as far as known before a run.

    Under a profile these are the ones that the profile or the suite names: all others have ragval's thresholds, not
    those of the profile's system. The share of relevant hits is one only if named: its threshold is a score, and scores
    of good hits differ from model to model.
    """
    gates, profile = gates_of(suite), get_profile(suite.profile)
    gated = [(entry, gates[entry.name]) for entry in criteria_of(suite) if gates[entry.name].threshold is not None]
    named = {*suite.criteria, *(gates if profile is None else profile.gates)}
    if suite.criteria.get(_SCORED) is None and profile is None:
        named.discard(_SCORED)
    return [(entry, gate) for entry, gate in gated if gate.required or entry.name in named]


def measured_specs(suite: Suite, asset: str, key: dg.AssetKey) -> list[dg.AssetCheckSpec]:
    """The checks of a measuring asset: one for each of its criteria with a gate."""
    return [
        dg.AssetCheckSpec(check_name(criterion.name), asset=key, description=_describe(criterion, gate))
        for criterion, gate in gated_criteria(suite)
        if criterion.asset in ROWS[asset].parts
    ]


def gate_specs(suite: Suite, key: dg.AssetKey) -> list[dg.AssetCheckSpec]:
    """The checks of ``validation_report``: a blocking one per required criterion, those that it measures, the verdict.

    The verdict is stricter than the criteria: an outside system may fail although every required criterion is met. A
    suite that requires nothing blocks nothing, and can never reach the verdict pass: it has no such check.
    """
    gated = gated_criteria(suite)
    specs = [
        dg.AssetCheckSpec(
            check_name(criterion.name), asset=key, blocking=gate.required, description=_describe(criterion, gate)
        )
        for criterion, gate in gated
        if gate.required or criterion.asset == VALIDATION_REPORT
    ]
    if not any(gate.required for _, gate in gated):
        return specs
    verdict = dg.AssetCheckSpec(
        VERDICT_CHECK,
        asset=key,
        blocking=True,
        description="The run's verdict is pass: no outside system failed, and every required criterion is met.",
    )
    return [*specs, verdict]


def failed_parts(parts: Iterable[Measurement]) -> list[Measurement]:
    """The parts that crashed or whose system failed: their step fails, and a retry measures again."""
    return [part for part in parts if part.failure and part.failure.kind in {"unreachable", "crashed"}]


def measured_results(
    parts: Sequence[Measurement],
    suite: Suite,
    names: Collection[str],
    *,
    key: dg.AssetKey,
    elsewhere: Collection[str] = (),
    partitions: Partitions | None = None,
) -> list[dg.AssetCheckResult]:
    """The check results of a measuring asset; none for a part whose system failed: its step fails instead.

    The suite is resolved: a gate may be read from the environment. ``elsewhere``: criteria whose gates on the report
    list the offenders. ``partitions``: those of the collection, for criteria of one of them.
    """
    gates, listed = gates_of(suite), codes_for(elsewhere)
    failed = {part.asset for part in failed_parts(parts)}
    return [
        _publish(
            judge_value(criterion, gates[criterion.name], _value(criterion, part)),
            _within(criterion.name, part.findings, part.findings, partitions),
            key,
            listed=listed,
        )
        for criterion in criteria_of(suite)
        for part in parts
        if check_name(criterion.name) in names and criterion.asset == part.asset and part.asset not in failed
    ]


def gate_results(
    report: ValidationReport,
    names: Collection[str],
    *,
    key: dg.AssetKey,
    measured: Sequence[Finding] = (),
    partitions: Partitions | None = None,
) -> list[dg.AssetCheckResult]:
    """The check results of ``validation_report`` but its verdict.

    Args:
        report: The report.
        names: The checks.
        key: Of the asset.
        measured: The findings of all parts with all their subjects.
        partitions: Those of the collection, for criteria of one of them.
    """
    from ragval_pipeline.reporting.document import run_document

    document = run_document(report)
    errors = counted_errors(document.findings, report.criteria)
    missing = {result.name for result in left_out(report)}
    results = [result for result in report.criteria if check_name(result.name) in names]
    listed = codes_for({measure_of(result.name) for result in results if result.verdict == "not_met"})
    return [
        _publish(
            result,
            _within(
                result.name, errors if measure_of(result.name) == ERRORS else document.findings, measured, partitions
            ),
            key,
            namer=document.namer,
            left_out=result.name in missing,
            listed=listed if result.verdict == "met" else (),
        )
        for result in results
    ]


def _within(
    name: str, findings: Iterable[FindingT], measured: Iterable[Finding], partitions: Partitions | None
) -> list[FindingT]:
    """The findings that can explain a criterion: of one partition's, those in it, with its own subjects alone.

    ``measured`` are the same findings with all subjects; what is in none of them is about the whole collection.
    """
    criterion = criterion_of(name)
    if partitions is None or criterion is None or criterion.partition is None:
        return list(findings)
    own: dict[tuple[str, str | None], set[str]] = {}
    for finding in measured:
        if finding.subjects:
            inside = partitions.subjects_in(finding, criterion.partition)
            own.setdefault((finding.code, finding.scope), set()).update(subject.name for subject in inside)
    of = ((finding, own.get((finding.code, finding.scope))) for finding in findings)
    return [finding if names is None else finding.limited(names) for finding, names in of if names is None or names]


def left_out(report: ValidationReport) -> list[CriterionResult]:
    """The required criteria that a run of some groups did not judge, or only in part.

    The command line excuses them, because a person chose the groups and reads the result. A gate in Dagster may stand
    before an index that is garbage in everything that was left out, so there they fail.
    """
    if report.groups is None:
        return []
    required = [result for result in report.criteria if result.required]
    return [result for result in required if result.reason_code == "not_selected" or measure_of(result.name) == ERRORS]


def _publish(
    result: CriterionResult,
    findings: Sequence[AnyFinding],
    key: dg.AssetKey,
    *,
    namer: Subjects | None = None,
    left_out: bool = False,
    listed: Collection[str] = (),
) -> dg.AssetCheckResult:
    """The result of a check; ``listed`` are codes whose offenders another check lists."""
    measured = result.verdict != "not_measured"
    evidence = evidence_for(measure_of(result.name), findings, met=result.verdict == "met") if measured else []
    # An excused criterion does not count, and a warning blocks nothing. One that does not apply is not a warning.
    blocks = left_out or (result.required and not result.excused)
    met = result.verdict == "met" or result.reason_code == "not_applicable"
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=check_name(result.name),
        passed=met and not left_out,
        severity=dg.AssetCheckSeverity.ERROR if blocks else dg.AssetCheckSeverity.WARN,
        description="not selected: this run validated only some groups" if left_out else result.reason,
        metadata={
            **criterion_metadata(result),
            **({"value_offenders": sum(finding.count for finding in evidence)} if measured else {}),
            **offenders_metadata([finding for finding in evidence if finding.code not in listed], namer),
        },
    )


def verdict_result(
    report: ValidationReport, *, key: dg.AssetKey, folder: str, late: str | None = None
) -> dg.AssetCheckResult:
    """The result of the check ``verdict`` for a report written to ``folder``.

    ``late`` names an ingestion that ended while the run read: what it wrote is not covered.
    """
    from ragval_pipeline.reporting.document import run_document

    document = run_document(report)
    missing = left_out(report)
    part = f"Validated only in part: {', '.join(result.name for result in missing)} not selected. " if missing else ""
    if late:
        part += f"The ingestion {late} ended while this run validated, and is not covered: validate again. "
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=VERDICT_CHECK,
        passed=report.verdict == "pass" and not missing and not late,
        severity=dg.AssetCheckSeverity.ERROR,
        description=f"{part}{document.sentence}",
        metadata={
            "verdict": report.verdict,
            **numbers({"pass_rate": report.pass_rate}),
            **({"offenders": words} if (words := offenders_in_words(document)) else {}),
            **report_link(folder),
            **({"when_repaired": f"Start the job {job_name(report.suite)}."} if report.verdict == "fail" else {}),
        },
    )


def _value(criterion: Criterion, part: Measurement) -> MeasuredValue:
    value = part.value(criterion.measure, criterion.partition)
    if value is not None:
        return value
    if not part.selected:
        return not_measured(criterion.name, "not_selected", "its group was not selected")
    if part.failure is not None:
        return not_measured(criterion.name, part.failure.reason_code, part.failure.message)
    return not_measured(criterion.name, "no_data", "the asset gives no value")


def _describe(criterion: Criterion, gate: Gate) -> str:
    asked = f"{criterion.operator} {gate.threshold:g}{', required' if gate.required else ''}"
    of = f", of {printable(criterion.partition)} alone" if criterion.partition else ""
    return f"{criterion.means[:1].upper()}{criterion.means[1:]}{of} ({asked})."
