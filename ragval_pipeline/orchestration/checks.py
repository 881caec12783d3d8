"""Asset checks: they publish verdicts, they compute none.

What lives here: one group of non-blocking checks a measuring asset, and the blocking gates on the report. What does
not: comparing values with gates (``validation/verdict``). A failed blocking check upstream would keep the report from
running, so only the report's gates block: a bad index turns the run red after its evidence is saved.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import dagster as dg

from ragval_pipeline.findings.factory import grade_findings
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.orchestration.metadata import criterion_metadata, offenders_metadata
from ragval_pipeline.orchestration.names import (
    FINDINGS_CHECK,
    VALIDATION_REPORT,
    VERDICT_CHECK,
    asset_key,
    resource_key,
)
from ragval_pipeline.orchestration.offenders import AnyFinding, evidence_for
from ragval_pipeline.suite.criteria import Criterion, Gate
from ragval_pipeline.suite.load import criteria_of, gates_of, resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured
from ragval_pipeline.validation.verdict import CriterionResult, counted_errors, judge_value

if TYPE_CHECKING:
    from ragval_pipeline.validation.report import ValidationReport

#: Every criterion of a suite with its gate, in report order.
Gated: TypeAlias = Sequence[tuple[Criterion, Gate]]
#: When checks are requested by themselves; null: with a job or from the UI only.
AnyCondition: TypeAlias = dg.AutomationCondition[Any] | None


def gated_criteria(suite: Suite) -> Gated:
    """The criteria and gates that checks are made for, as far as they are known before a run."""
    gates = gates_of(suite)
    return [(criterion, gates[criterion.name]) for criterion in criteria_of(suite)]


def build_measurement_checks(
    suite: Suite, asset: str, gated: Gated, condition: AnyCondition = None
) -> dg.AssetChecksDefinition:
    """The checks of one measuring asset: one a criterion that it measures, and one for its findings.

    They run in one step, because on a cluster every step is a process. They raise when the asset could not measure:
    that is a failed execution, not bad data.
    """
    key = asset_key(suite.suite, asset)
    own = [(criterion, gate) for criterion, gate in gated if criterion.asset == asset]
    criteria = [criterion for criterion, _ in own]
    described = {
        FINDINGS_CHECK: "No finding of severity error from this asset.",
        **{criterion.name: _describe(criterion, gate) for criterion, gate in own},
    }
    specs = [
        dg.AssetCheckSpec(name, asset=key, description=text, automation_condition=condition)
        for name, text in described.items()
    ]

    @dg.multi_asset_check(
        name=f"{suite.suite}__{asset}_checks",
        specs=specs,
        ins={"measurement": dg.AssetIn(key)},
        required_resource_keys={resource_key(suite.suite, "io_manager")},
        can_subset=True,  # the UI runs single checks again only of those that can be picked
    )
    def checks(context: dg.AssetCheckExecutionContext, measurement: Measurement) -> Iterator[dg.AssetCheckResult]:
        failure = measurement.failure
        if failure is not None and failure.kind in {"crashed", "unreachable"}:
            raise dg.Failure(f"{asset} could not measure: {failure.message}", allow_retries=False)
        resolved = resolve_suite(suite)  # as the report does: a gate may be read from the environment
        gates = gates_of(resolved)
        findings = grade_findings(measurement.findings, resolved.severity)
        wanted = {check.name for check in context.selected_asset_check_keys}
        if FINDINGS_CHECK in wanted:
            yield _findings_result(measurement, findings, key)
        for criterion in criteria:
            if criterion.name in wanted:
                value = measurement.value(criterion.name) or _absent(criterion, measurement)
                yield _publish(judge_value(criterion, gates[criterion.name], value), key, findings)

    return checks


def build_report_gates(suite: Suite, gated: Gated, condition: AnyCondition = None) -> dg.AssetChecksDefinition:
    """The checks of ``validation_report``: a blocking one a required criterion, those that it measures, the verdict.

    The verdict says more than the criteria: an outside system may fail although every required one is met. A suite that
    requires nothing blocks nothing.
    """
    key = asset_key(suite.suite, VALIDATION_REPORT)
    specs = [
        dg.AssetCheckSpec(
            criterion.name,
            asset=key,
            blocking=gate.required,
            description=_describe(criterion, gate),
            automation_condition=condition,
        )
        for criterion, gate in gated
        if gate.required or criterion.asset == VALIDATION_REPORT
    ]
    verdict = dg.AssetCheckSpec(
        VERDICT_CHECK,
        asset=key,
        blocking=any(gate.required for _, gate in gated),
        description="The run's verdict is pass: no outside system failed, and every required criterion is met.",
        automation_condition=condition,
    )

    @dg.multi_asset_check(
        name=f"{suite.suite}__{VALIDATION_REPORT}_gates",
        specs=[*specs, verdict],
        ins={"report": dg.AssetIn(key)},
        required_resource_keys={resource_key(suite.suite, "io_manager")},
        can_subset=True,  # the UI runs single checks again only of those that can be picked
    )
    def gate_checks(context: dg.AssetCheckExecutionContext, report: Any) -> Iterator[dg.AssetCheckResult]:
        # The report's model is the largest there is and only a run needs it: loading does without.
        from ragval_pipeline.validation.report import ValidationReport

        report = ValidationReport.model_validate(report)
        wanted = {check.name for check in context.selected_asset_check_keys}
        for spec in specs:
            if spec.name in wanted:
                counted = spec.name == "error_findings"
                findings = counted_errors(report.findings, report.criteria) if counted else report.findings
                yield _publish(report.criterion(spec.name), key, findings)
        if VERDICT_CHECK in wanted:
            yield _verdict_result(report, key)

    return gate_checks


def _publish(result: CriterionResult, key: dg.AssetKey, findings: Sequence[AnyFinding]) -> dg.AssetCheckResult:
    measured = result.verdict != "not_measured"
    evidence = evidence_for(result.name, findings, met=result.verdict == "met") if measured else []
    # A criterion that is excused did not pass; it does not count either, and a warning blocks nothing.
    blocks = result.required and not result.excused
    return dg.AssetCheckResult(
        check_name=result.name,
        asset_key=key,
        passed=result.verdict == "met",
        severity=dg.AssetCheckSeverity.ERROR if blocks else dg.AssetCheckSeverity.WARN,
        description=result.reason,
        metadata={**criterion_metadata(result), **(offenders_metadata(evidence) if measured else {})},
    )


def _verdict_result(report: "ValidationReport", key: dg.AssetKey) -> dg.AssetCheckResult:
    from ragval_pipeline.reporting.outline import headline

    # What is excused does not count against a run: not measured blocks only when a required criterion is to blame.
    excused = report.verdict == "not_measured" and not any(criterion.gate_fails for criterion in report.criteria)
    return dg.AssetCheckResult(
        check_name=VERDICT_CHECK,
        asset_key=key,
        passed=report.verdict == "pass",
        severity=dg.AssetCheckSeverity.WARN if excused else dg.AssetCheckSeverity.ERROR,
        description=headline(report),
        metadata={"verdict": report.verdict},
    )


def _findings_result(measurement: Measurement, findings: Sequence[Finding], key: dg.AssetKey) -> dg.AssetCheckResult:
    errors = [finding for finding in findings if finding.severity == "error"]
    codes = ", ".join(dict.fromkeys(finding.code for finding in errors))
    return dg.AssetCheckResult(
        check_name=FINDINGS_CHECK,
        asset_key=key,
        passed=not errors and measurement.selected and measurement.failure is None,
        severity=dg.AssetCheckSeverity.WARN,
        description=codes or _nothing_found(measurement),
        metadata={"error_findings": len(errors), "findings": len(findings), **offenders_metadata(findings)},
    )


def _nothing_found(measurement: Measurement) -> str:
    if not measurement.selected:
        return "not measured: its group was not selected"
    return f"not measured: {measurement.failure.message}" if measurement.failure else "nothing found"


def _absent(criterion: Criterion, measurement: Measurement) -> MeasuredValue:
    if not measurement.selected:
        return not_measured(criterion.name, "not_selected", "its group was not selected")
    reason = measurement.failure.message if measurement.failure else "the asset gives no value"
    return not_measured(criterion.name, "no_data", reason)


def _describe(criterion: Criterion, gate: Gate) -> str:
    asked = "shown, no gate" if gate.threshold is None else f"{criterion.operator} {gate.threshold:g}"
    return f"{criterion.means[:1].upper()}{criterion.means[1:]} ({asked}{', required' if gate.required else ''})."
