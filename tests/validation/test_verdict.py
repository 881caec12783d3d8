from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragval_pipeline.errors import NotMeasurableError, SystemFailure
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.suite.criteria import Criterion, Gate, all_criteria
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.measurement import (
    MeasuredValue,
    Measurement,
    ReasonCode,
    failed_measurement,
    mean,
    not_measured,
    ratio,
)
from ragval_pipeline.validation.verdict import (
    EXIT_CODES,
    CriterionResult,
    RunVerdict,
    judge_criteria,
    judge_partitions,
    judge_run,
    judge_value,
)

COUNTED = Criterion("query_pass_rate", "Passed", "queries", "queries", "passed / run")
AVERAGED = Criterion("avg_similarity", "Score", "queries", "queries", "mean", ratio=False)
TIMED = Criterion("latency_p95_ms", "Time", "latency", "latency", "p95", operator="<=", ratio=False)


def verdict(criterion: Criterion, value: MeasuredValue, threshold: float | None, *, required: bool = True) -> str:
    return judge_value(criterion, Gate(threshold, required=required), value).verdict


@pytest.mark.parametrize(
    ("numerator", "denominator", "threshold", "expected"),
    [
        (9, 10, 0.9, "met"),
        (8, 10, 0.9, "not_met"),
        (18, 20, 0.9, "met"),
        (19, 20, 0.95, "met"),
        (57, 60, 0.95, "met"),
        (56, 60, 0.95, "not_met"),
        (29, 100, 0.29, "met"),  # 0.29 * 100 is 28.999999999999996
        (57, 100, 0.57, "met"),
        (99, 100, 0.99, "met"),
        (14, 15, 0.9, "met"),
        (13, 15, 0.9, "not_met"),
        (10**15, 10**15, 1.0, "met"),
        (10**15 - 1, 10**15, 1.0, "not_met"),
        (999_999_999, 1_000_000_000, 1.0, "not_met"),
        (0, 10, 0.0, "met"),
        (1, 3, 0.3333333333333333, "met"),
        (1, 10**7, 1e-7, "met"),
        (5, 6, 5 / 6, "met"),  # the decimal 0.8333333333333334 is more than five sixths
        (5, 6, 0.8333333333333335, "not_met"),
    ],
)
def test_a_ratio_is_compared_on_counts_with_the_decimal_that_the_gate_says(
    numerator: int, denominator: int, threshold: float, expected: str
) -> None:
    assert verdict(COUNTED, ratio("query_pass_rate", numerator, denominator, of="queries"), threshold) == expected


@given(total=st.integers(1, 10**6), data=st.data(), hundredths=st.integers(0, 10_000))
def test_a_ratio_meets_its_gate_exactly_when_the_counts_do(total: int, data: st.DataObject, hundredths: int) -> None:
    passed = data.draw(st.integers(0, total))
    threshold = float(Decimal(hundredths) / 10_000)
    expected = Fraction(passed, total) >= Fraction(hundredths, 10_000)
    assert (verdict(COUNTED, ratio("query_pass_rate", passed, total, of="queries"), threshold) == "met") is expected


@given(total=st.integers(1, 10**6), data=st.data())
def test_a_ratio_meets_the_gate_that_is_its_own_value(total: int, data: st.DataObject) -> None:
    value = ratio("query_pass_rate", data.draw(st.integers(0, total)), total, of="queries")
    assert verdict(COUNTED, value, value.value) == "met"


def test_means_forgive_rounding_and_nothing_more() -> None:
    value = mean("avg_similarity", [0.1] * 3 + [0.6], of="queries")
    assert verdict(AVERAGED, value, 0.225) == "met"
    assert verdict(AVERAGED, MeasuredValue(name="x", value=0.7 - 1e-12), 0.7) == "met"
    assert verdict(AVERAGED, MeasuredValue(name="x", value=0.7 - 1e-6), 0.7) == "not_met"


def test_budgets_are_upper_limits() -> None:
    assert verdict(TIMED, MeasuredValue(name="latency_p95_ms", value=2000.0), 2000.0) == "met"
    assert verdict(TIMED, MeasuredValue(name="latency_p95_ms", value=2000.1), 2000.0) == "not_met"


def test_zero_is_a_measurement_and_not_nothing() -> None:
    assert verdict(AVERAGED, MeasuredValue(name="precision_at_3", value=0.0), 0.7) == "not_met"
    assert verdict(COUNTED, ratio("query_pass_rate", 0, 5, of="queries"), 0.9) == "not_met"


def test_without_a_gate_a_measured_value_is_met_and_says_so() -> None:
    result = judge_value(AVERAGED, Gate(None, required=False), MeasuredValue(name="x", value=0.1, reason="mean over 3"))
    assert (result.verdict, result.threshold, result.reason) == ("met", None, "mean over 3; no gate")


@pytest.mark.parametrize("threshold", [None, 0.0, 0.5])
@pytest.mark.parametrize("criterion", [COUNTED, AVERAGED, TIMED])
def test_nothing_measured_is_never_met(criterion: Criterion, threshold: float | None) -> None:
    codes: list[ReasonCode] = ["no_data", "too_few", "unreachable", "crashed", "not_applicable", "not_selected"]
    for code in codes:
        result = judge_value(criterion, Gate(threshold, required=True), not_measured(criterion.name, code, "because"))
        assert (result.verdict, result.value, result.reason_code) == ("not_measured", None, code)
        assert result.reason == "not measured: because"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_a_number_is_not_measured(value: float) -> None:
    result = judge_value(AVERAGED, Gate(0.5, required=True), MeasuredValue(name="avg_similarity", value=value))
    assert (result.verdict, result.value, result.reason_code) == ("not_measured", None, "no_data")


def test_a_ratio_of_nothing_is_no_data() -> None:
    assert ratio("coverage", 0, 0, of="pages").reason_code == "no_data"


def test_a_value_has_no_reason_code_and_a_missing_one_must_have_one() -> None:
    with pytest.raises(ValueError, match="a value, or the reason code"):
        MeasuredValue(name="coverage", value=1.0, reason_code="no_data")
    with pytest.raises(ValueError, match="a value, or the reason code"):
        MeasuredValue(name="coverage")


def result(
    verdict: str = "met", *, required: bool = True, code: ReasonCode | None = None, name: str = "coverage"
) -> CriterionResult:
    return CriterionResult(
        name=name, verdict=verdict, value=None if verdict == "not_measured" else 1.0, threshold=1.0, operator=">=",
        numerator=None, denominator=None, required=required, reason="", reason_code=code,
    )  # fmt: skip


MET, NOT_MET = result(), result("not_met")
OPEN = result("not_measured", code="no_data")
EXCUSED = result("not_measured", code="not_applicable")
UNASKED = result("not_measured", code="not_selected")
SHOWN = result("not_met", required=False)
SHOWN_OPEN = result("not_measured", required=False, code="crashed")


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([MET], "pass"),
        ([MET, SHOWN, SHOWN_OPEN, EXCUSED, UNASKED], "pass"),
        ([MET, NOT_MET], "fail"),
        ([NOT_MET, OPEN], "fail"),
        ([MET, OPEN], "not_measured"),
        ([EXCUSED, UNASKED], "not_measured"),
        ([SHOWN], "not_measured"),
        ([], "not_measured"),
    ],
)
def test_the_verdict_of_the_run_is_the_first_that_applies(results: list[CriterionResult], expected: str) -> None:
    for order in itertools.permutations(results):
        assert judge_run(order, []) == expected


def test_what_to_do_about_a_failed_system_is_a_sentence():
    error = SystemFailure("gone", code="index.unreachable", system="Qdrant", subject="x", remedy="Start it")
    [finding] = failed_measurement("a", error).findings
    assert finding.remedy == "Start it."


def test_a_system_that_failed_comes_before_everything() -> None:
    failed = failed_measurement("a", SystemFailure("gone", code="index.unreachable", system="Qdrant", subject="x"))
    for results in ([MET], [NOT_MET], [OPEN], []):
        assert judge_run(results, [Measurement(asset="b"), failed]) == "error"


@pytest.mark.parametrize("code", ["too_few", "no_data", "unreachable", "crashed"])
def test_these_reasons_count_against_a_required_criterion(code: ReasonCode) -> None:
    assert judge_run([MET, result("not_measured", code=code)], []) == "not_measured"


def test_every_verdict_has_its_exit_code() -> None:
    assert EXIT_CODES == {"pass": 0, "fail": 1, "error": 3, "not_measured": 4}
    assert set(EXIT_CODES) == set(RunVerdict.__args__)  # type: ignore[attr-defined]


# Judging all criteria of a run.


def judge(
    measurements: Iterable[Measurement],
    findings: Iterable[Finding] = (),
    *,
    only: set[str] | None = None,
    required: Iterable[str] = ("coverage", "error_findings"),
) -> dict[str, CriterionResult]:
    criteria = all_criteria((3, 5))
    gates = {entry.name: Gate(entry.threshold, required=entry.name in required) for entry in criteria}
    results = judge_criteria(criteria, gates, list(measurements), list(findings), only=only)
    assert [entry.name for entry in results] == [entry.name for entry in criteria]
    return {entry.name: entry for entry in results}


COVERED = Measurement(asset="coverage_report", values=(ratio("coverage", 3, 3, of="pages"),))


def test_every_criterion_has_a_result_whatever_was_measured() -> None:
    results = judge([COVERED])
    assert results["coverage"].verdict == "met"
    assert results["metadata_completeness"].reason_code == "no_data"
    assert results["metadata_completeness"].reason == "not measured: metadata_expectations was not run"
    assert results["error_findings"].verdict == "met"


def test_a_group_that_was_not_selected_is_excused_even_if_it_was_measured() -> None:
    results = judge([COVERED], only={"metadata"})
    assert results["coverage"].reason_code == "not_selected"
    assert results["coverage"].excused
    assert results["metadata_completeness"].reason_code == "no_data"


def test_the_failure_of_an_asset_is_the_reason_of_all_its_criteria() -> None:
    failed = failed_measurement(
        "query_validation_results",
        SystemFailure("gone", code="index.unreachable", system="Qdrant", subject="http://x", attempts=4),
    )
    results = judge([COVERED, failed], failed.findings)
    for name in ("query_pass_rate", "recall_at_5", "determinism", "accuracy"):
        assert results[name].reason_code == "unreachable"
        assert "tried 4 times" in results[name].reason


def test_a_crash_becomes_a_finding_without_its_message() -> None:
    crashed = failed_measurement("coverage_report", ValueError("secret key"))
    assert [finding.code for finding in crashed.findings] == ["check.crashed"]
    assert crashed.failure is not None
    assert (crashed.failure.kind, crashed.failure.exception) == ("crashed", "ValueError")
    assert "secret" not in crashed.model_dump_json()
    results = judge([crashed], crashed.findings)
    assert results["coverage"].reason_code == "crashed"


def test_a_disk_that_is_full_says_so_although_no_exception_is_quoted() -> None:
    [crashed] = failed_measurement("payload_snapshot", OSError(28, "secret", "/secret")).findings
    assert crashed.message.endswith("No space left on device.")
    assert "secret" not in crashed.message


def test_nothing_to_measure_is_no_data_and_keeps_its_finding() -> None:
    error = NotMeasurableError(
        "2 and 3 dimensions", code="vector.dimension", subject="vectors", remedy="Fix it.", details={"expected": 2}
    )
    failed = failed_measurement("query_validation_results", error)
    assert failed.failure is not None
    assert failed.failure.kind == "no_data"
    [finding] = failed.findings
    assert (finding.code, finding.remedy, finding.details) == ("vector.dimension", "Fix it.", {"expected": 2})


MISSING = make_finding("coverage.missing_page", ["https://x/a"])
ORPHAN = make_finding("coverage.orphan_page", ["https://x/b"])
ZERO = make_finding("vector.zero", ["1"])
EMPTY = make_finding("index.empty", ["docs"])
CRASHED = make_finding("check.crashed", ["chunk_structure"])


def errors(*findings: Finding, measurements: Iterable[Measurement] = (COVERED,)) -> CriterionResult:
    return judge(measurements, findings)["error_findings"]


def test_error_findings_counts_findings_of_severity_error_only() -> None:
    assert (errors(ORPHAN).value, errors(ORPHAN).verdict) == (0.0, "met")
    assert (errors(ZERO, ORPHAN).value, errors(ZERO, ORPHAN).verdict) == (1.0, "not_met")
    assert "vector.zero" in errors(ZERO).reason


def test_a_matter_that_a_required_criterion_judges_does_not_count_twice() -> None:
    found = errors(MISSING, ZERO)
    assert (found.value, found.reason) == (
        1.0, "vector.zero, not counting those that other required criteria judge: coverage.missing_page",
    )  # fmt: skip
    assert errors(MISSING).verdict == "met"
    assert judge([COVERED], [MISSING], required=["error_findings"])["error_findings"].value == 1.0
    # A criterion that was not measured judges nothing.
    assert errors(MISSING, measurements=[Measurement(asset="chunk_structure")]).value == 1.0


def test_pages_that_could_not_be_compared_leave_errors_unseen() -> None:
    blind = Measurement(
        asset="content_integrity", values=(not_measured("content_integrity", "too_few", "9 of 10 pages are empty"),)
    )
    found = errors(ORPHAN, measurements=[COVERED, blind])
    assert (found.verdict, found.gate_fails) == ("not_measured", True)
    assert "9 of 10 pages are empty" in found.reason
    assert errors(ZERO, measurements=[COVERED, blind]).verdict == "not_met"


def test_a_text_that_nobody_requires_is_no_matter_of_completeness() -> None:
    whole = Measurement(asset="metadata_expectations", values=(ratio("metadata_completeness", 3, 3, of="points"),))
    for details, counted in (({}, 0.0), ({"required": False}, 1.0)):
        finding = make_finding("payload.empty_field", ["1"], scope="text", details=details)
        required = ["metadata_completeness", "error_findings"]
        assert judge([whole], [finding], required=required)["error_findings"].value == counted


@pytest.mark.parametrize("findings", [(EMPTY,), (CRASHED,), (EMPTY, CRASHED, ORPHAN), (CRASHED, ZERO)])
def test_a_count_above_its_limit_is_not_met_whatever_else_could_not_be_measured(findings: tuple[Finding, ...]) -> None:
    count = sum(finding.severity == "error" for finding in findings)
    crashed = failed_measurement("chunk_structure", KeyError("x"))
    for measurements in ([COVERED], [COVERED, crashed]):
        found = errors(*findings, measurements=measurements)
        assert (found.verdict, found.value, found.numerator) == ("not_met", count, count)


def test_a_crash_that_the_suite_hides_still_leaves_the_count_open() -> None:
    crashed = failed_measurement("chunk_structure", KeyError("x"))
    assert errors(measurements=[COVERED, crashed]).verdict == "not_measured"


@pytest.mark.parametrize(
    "measurements",
    [
        [],
        [Measurement(asset="coverage_report", selected=False), Measurement(asset="quality_metrics")],
        [Measurement(asset="payload_snapshot"), Measurement(asset="quality_metrics")],
    ],
)
def test_where_nothing_was_looked_at_there_being_no_error_says_nothing(measurements: list[Measurement]) -> None:
    assert errors(measurements=measurements).reason_code == "no_data"
    assert judge_run(list(judge(measurements, only={"latency"}).values()), measurements) == "not_measured"


def test_an_asset_without_criteria_counts_as_measured() -> None:
    assert errors(measurements=[Measurement(asset="chunk_structure")]).verdict == "met"


def test_a_crash_that_no_gate_asks_for_leaves_a_pass_a_pass() -> None:
    measurements = [COVERED, failed_measurement("quality_metrics", KeyError("x"))]
    results = judge(measurements, required=["coverage"])
    assert judge_run(list(results.values()), measurements) == "pass"


def test_an_empty_index_fails_by_its_finding_although_its_criteria_are_not_measured() -> None:
    nothing = Measurement(
        asset="coverage_report", values=(not_measured("coverage", "no_data", "the collection holds no points"),)
    )
    results = judge([nothing], [EMPTY])
    assert results["coverage"].verdict == "not_measured"
    assert judge_run(list(results.values()), [nothing]) == "fail"
    results = judge([nothing], [EMPTY], required=["coverage"])
    assert judge_run(list(results.values()), [nothing]) == "not_measured"


def test_a_partition_has_no_error_that_the_whole_collection_has_not() -> None:
    criteria = all_criteria((3, 5))
    gates = {entry.name: Gate(entry.threshold, required=entry.name == "coverage") for entry in criteria}
    lost = make_finding("coverage.missing_page", [Subject("/a", page="/a")])
    zero = make_finding("vector.zero", ["1"])
    whole = judge_criteria(criteria, gates, [COVERED], [lost, zero])
    partitions = Partitions("tenant", {"1": ("acme",), "2": ("beta",)}, {"/a": frozenset({"beta"})})
    found = judge_partitions(criteria, gates, [COVERED], [lost, zero], partitions, whole=whole)
    assert {value: own["error_findings"].value for value, own in found.items()} == {"acme": 1, "beta": 0}


def test_what_the_collection_has_and_a_partition_has_not_is_unmeasured_there() -> None:
    own = not_measured("negative_pass_rate", "not_applicable", "there are no negative queries")
    of_whole = (ratio("negative_pass_rate", 1, 1, of="negative queries"),)
    measured = Measurement(asset="query_validation_results", values=of_whole, by_partition={"acme": (own,)})
    found = measured.value("negative_pass_rate", "acme")
    assert found is not None
    assert (found.reason_code, found.reason) == ("no_data", "there are no negative queries in the partition acme")
