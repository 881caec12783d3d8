"""The one place where values are compared with gates: the verdict of each criterion, and of the run."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding, ReportedFinding
from ragval_pipeline.suite.criteria import Criterion, Gate, Operator
from ragval_pipeline.text.numbers import TOLERANCE
from ragval_pipeline.text.printing import did_you_mean, printable
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.measurement import EXCUSED, MeasuredValue, Measurement, ReasonCode, not_measured

#: A finding from a detector or from the report.
FindingT = TypeVar("FindingT", Finding, ReportedFinding)
CriterionVerdict = Literal["met", "not_met", "not_measured"]
RunVerdict = Literal["pass", "fail", "not_measured", "error"]

#: Begins the codes in the reason of ``error_findings`` that it does not count.
LEFT_OUT = ", not counting those that other required criteria judge: "
#: Begins the reason of a criterion that was not measured.
_NOT_MEASURED = "not measured: "
#: Kinds of failures that leave something unmeasured without another gate to report it.
_UNSEEN = {"crashed": "crashed", "stale": "is of another run", "budget": "stopped at the budget"}
#: The criterion that findings are counted for.
ERRORS = "error_findings"
#: If too few pages could be read for it, nobody looked for chunks that are not on their page.
_COMPARED = "content_integrity"
#: Descriptive assets: that they ran says nothing about errors.
_FINDS_NOTHING = frozenset({"quality_metrics", "payload_snapshot", "sitemap_urls"})


class CriterionResult(BaseModel):
    """The verdict of one criterion, as in the report.

    ``value`` is None exactly when ``verdict`` is ``not_measured``; ``threshold`` is None without a gate.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    verdict: CriterionVerdict
    value: float | None
    threshold: float | None
    operator: Operator
    numerator: int | float | None
    denominator: int | float | None
    required: bool
    reason: str
    reason_code: ReasonCode | None

    @property
    def excused(self) -> bool:
        """Not measured for a reason that does not count against the run."""
        return self.reason_code in EXCUSED

    @property
    def cause(self) -> str:
        """The reason, without the words that say it was not measured."""
        return self.reason.removeprefix(_NOT_MEASURED)

    @property
    def gate_fails(self) -> bool:
        """Whether this criterion prevents a pass."""
        return self.required and self.verdict != "met" and not self.excused


def judge_criteria(
    criteria: Iterable[Criterion],
    gates: Mapping[str, Gate],
    measurements: Sequence[Measurement],
    findings: Sequence[Finding],
    *,
    only: Collection[str] | None = None,
    doubt: str = "",
    partitions: Partitions | None = None,
    whole: Sequence[CriterionResult] = (),
) -> list[CriterionResult]:
    """The verdict of every criterion.

    Args:
        criteria: All criteria of the suite, in report order.
        gates: The gate of each, by name.
        measurements: Measurements of all assets, failed ones included.
        findings: All graded findings of the run, for ``error_findings``.
        only: Groups that were selected; None: all.
        doubt: Why no gate may count as met, such as an index that changed meanwhile; empty: no doubt.
        partitions: Those of the collection, for criteria of one of them.
        whole: The verdicts of the run's criteria, if these are only those of one partition: ``error_findings`` counts
            no finding there that it does not count in the whole collection.

    Returns:
        One result per criterion, in the same order.
    """
    by_asset = {measurement.asset: measurement for measurement in measurements}
    ordered = list(criteria)
    results = {
        criterion.name: judge_value(criterion, gates[criterion.name], _value_of(criterion, by_asset, only))
        for criterion in ordered
        if criterion.measure != ERRORS
    }

    def errors(criterion: Criterion) -> MeasuredValue:
        if criterion.partition and (partitions is None or criterion.partition not in partitions.sizes):
            known = did_you_mean(criterion.partition, partitions.sizes if partitions else ())
            told = f"no point is in the partition {printable(criterion.partition)}. {known}"
            return not_measured(ERRORS, "no_data", told.rstrip())
        own = [finding for finding in findings if is_of(finding, criterion, partitions)]
        counted = counted_errors(own, whole or results.values())
        return _error_findings(counted, own, measurements, limit=gates[criterion.name].threshold)

    judged = [
        results.get(criterion.name) or judge_value(criterion, gates[criterion.name], errors(criterion))
        for criterion in ordered
    ]
    return [_doubted(result, doubt) for result in judged] if doubt else judged


def is_of(finding: Finding, criterion: Criterion, partitions: Partitions | None) -> bool:
    """Whether a finding is of what a criterion is measured for: everything, or one partition."""
    return criterion.partition is None or (partitions is not None and partitions.concerns(finding, criterion.partition))


def judge_partitions(
    criteria: Iterable[Criterion],
    gates: Mapping[str, Gate],
    measurements: Sequence[Measurement],
    findings: Sequence[Finding],
    partitions: Partitions,
    *,
    whole: Sequence[CriterionResult],
    only: Collection[str] | None = None,
) -> dict[str, dict[str, CriterionResult]]:
    """The criteria of each partition, by its value and the criterion's name; ``whole`` are those of the run.

    A criterion is compared with the gate that the suite names for the partition, else with that of the whole
    collection, which then requires nothing.
    """
    by_value = {}
    for value in partitions.sizes:
        own_criteria = [(criterion, criterion.of(value)) for criterion in criteria if criterion.partition is None]
        thresholds = {
            each.name: gates.get(each.name) or Gate(gates[criterion.name].threshold, required=False)
            for criterion, each in own_criteria
        }
        judged = judge_criteria(
            [each for _, each in own_criteria],
            thresholds,
            measurements,
            findings,
            only=only,
            partitions=partitions,
            whole=whole,
        )
        by_value[value] = {criterion.name: result for (criterion, _), result in zip(own_criteria, judged, strict=True)}
    return by_value


def _doubted(result: CriterionResult, doubt: str) -> CriterionResult:
    """A required criterion cannot be met by values of a changing index; failures still count."""
    if not result.required or result.verdict != "met":
        return result
    reason = f"{_NOT_MEASURED}{doubt}; otherwise it would be met with {result.reason}"
    return result.model_copy(
        update={
            "verdict": "not_measured",
            "value": None,
            "numerator": None,
            "denominator": None,
            "reason": reason,
            "reason_code": "no_data",
        }
    )


def counted_errors(findings: Iterable[FindingT], results: Iterable[CriterionResult]) -> list[FindingT]:
    """The findings that ``error_findings`` counts: errors not covered by a required criterion of the run.

    Args:
        findings: All graded findings of the run.
        results: The verdicts of the other criteria; unmeasured ones cover nothing.
    """
    judging = {result.name for result in results if result.required and result.verdict != "not_measured"}
    return [finding for finding in findings if finding.severity == "error" and not _judged(finding, judging)]


def _judged(finding: Finding | ReportedFinding, judging: AbstractSet[str]) -> bool:
    known = CATALOGUE.get(finding.code)  # none: the report of another version
    return known is not None and finding.is_required and not judging.isdisjoint(known.judged_by)


def judge_value(criterion: Criterion, gate: Gate, value: MeasuredValue) -> CriterionResult:
    """Compare one value with its gate; ratios of counts exactly, everything else with a tolerance for rounding."""
    if value.value is not None and not math.isfinite(value.value):
        value = not_measured(value.name, "no_data", f"{value.value} is not a number")
    if value.value is None:
        verdict: CriterionVerdict = "not_measured"
        reason = f"{_NOT_MEASURED}{value.reason}"
    elif gate.threshold is None:
        verdict, reason = "met", f"{value.reason}; no gate" if value.reason else "no gate"
    else:
        verdict = "met" if _holds(criterion, gate.threshold, value) else "not_met"
        reason = value.reason
    return CriterionResult(
        name=criterion.name,
        verdict=verdict,
        value=value.value,
        threshold=gate.threshold,
        operator=criterion.operator,
        numerator=value.numerator,
        denominator=value.denominator,
        required=gate.required,
        reason=reason,
        reason_code=value.reason_code,
    )


def judge_run(results: Sequence[CriterionResult], measurements: Sequence[Measurement]) -> RunVerdict:
    """The verdict of the run.

    ``error`` if an outside system failed; ``fail`` if a required criterion is not met; ``not_measured`` if a required
    one could not be measured, if none was, or if the budget ended the run; else ``pass``.
    """
    if any(measurement.failure and measurement.failure.kind == "unreachable" for measurement in measurements):
        return "error"
    required = [result for result in results if result.required]
    if any(result.verdict == "not_met" for result in required):
        return "fail"
    if any(measurement.failure and measurement.failure.kind == "budget" for measurement in measurements):
        return "not_measured"
    if any(result.gate_fails for result in required) or not any(result.verdict == "met" for result in required):
        return "not_measured"
    return "pass"


EXIT_CODES: Mapping[RunVerdict, int] = {"pass": 0, "fail": 1, "error": 3, "not_measured": 4}  # definition


def _value_of(criterion: Criterion, by_asset: Mapping[str, Measurement], only: Collection[str] | None) -> MeasuredValue:
    if only is not None and criterion.group not in only:
        return not_measured(criterion.name, "not_selected", "its group was not selected")
    measurement = by_asset.get(criterion.asset)
    if measurement is None:
        return not_measured(criterion.name, "no_data", f"{criterion.asset} was not run")
    value = measurement.value(criterion.measure, criterion.partition)
    if value is not None:
        return value
    if measurement.failure is not None:
        return not_measured(criterion.name, measurement.failure.reason_code, measurement.failure.message)
    return not_measured(criterion.name, "no_data", f"{criterion.asset} gives no value")


def _error_findings(
    errors: Sequence[Finding], findings: Sequence[Finding], measurements: Sequence[Measurement], *, limit: float | None
) -> MeasuredValue:
    codes = {finding.code for finding in errors}
    left_out = {finding.code for finding in findings if finding.severity == "error"} - codes
    looked = any(entry.selected and not entry.failure and entry.asset not in _FINDS_NOTHING for entry in measurements)
    if not errors and not left_out and not looked:
        return not_measured(ERRORS, "no_data", "nothing that could report an error was measured")
    blind = {entry.asset: entry.failure.kind for entry in measurements if entry.failure}
    unseen = sorted(f"{asset} {_UNSEEN[kind]}" for asset, kind in blind.items() if kind in _UNSEEN)
    compared = (entry.value(_COMPARED) for entry in measurements)
    unseen += [value.reason for value in compared if value is not None and value.reason_code == "too_few"]
    if unseen and (limit is None or len(errors) <= limit):
        # Unmeasured parts may have more findings: the count is only certain if already too high.
        return not_measured(ERRORS, "no_data", ", ".join(unseen)).model_copy(update={"numerator": len(errors)})
    reason = ", ".join(sorted(codes)) or "no finding of severity error"
    if left_out:
        reason += f"{LEFT_OUT}{', '.join(sorted(left_out))}"
    return MeasuredValue(name=ERRORS, value=float(len(errors)), numerator=len(errors), reason=reason)


def _holds(criterion: Criterion, threshold: float, value: MeasuredValue) -> bool:
    assert value.value is not None
    # The quotient of two counts is the float nearest to it, as is a written threshold: they need no tolerance.
    slack = 0.0 if criterion.ratio else TOLERANCE
    if criterion.operator == ">=":
        return value.value >= threshold - slack
    return value.value <= threshold + slack
