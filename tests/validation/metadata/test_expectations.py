from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ragval_pipeline.validation.metadata import expectations as expectations_module
from ragval_pipeline.validation.metadata.expectations import run_expectations
from ragval_pipeline.validation.metadata.gx_suite import build_expectations
from ragval_pipeline.validation.metadata.levels import LevelCounts, count_levels, needed_columns, present_fields
from ragval_pipeline.validation.metadata.measure import measure_metadata
from tests.validation.factory import FIELDS, NOW, SITE, batch

REQUIRED = ("source_url", "token_count", "heading_hierarchy", "extra.deep")
LEVEL_OF = {"present": "missing", "non_empty": "empty", "type": "wrong_type", "rule": "invalid"}

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 900),
    st.sampled_from([2**70, -(2**70), 0.0, 450.0, 0.5, -1.0, math.nan, math.inf, 1_760_000_000]),
    st.sampled_from(
        ["", " ", "\u200b", "x", "450", f"{SITE}/a", "/a", "ftp://a", "2026-01-01", "2030-01-01", "\ud800"]
    ),
)
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.lists(st.sampled_from(["A", "B"]), min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(["deep", "k"]), SCALARS, max_size=2),
)
PAYLOAD = st.dictionaries(st.sampled_from([*FIELDS.values(), "extra", "extra.deep"]), VALUES, max_size=9)
PAYLOADS = st.lists(PAYLOAD, min_size=1, max_size=8)


def judge(
    payloads: list[dict[str, Any]], *, urls_required: bool = True, required: tuple[str, ...] = REQUIRED
) -> tuple[LevelCounts, dict[str, Any]]:
    columns = needed_columns(FIELDS, required)
    table = batch(payloads, required=required).select(columns)
    shared: dict[str, Any] = {"fields": FIELDS, "now": NOW, "urls_required": urls_required}
    present = present_fields(FIELDS, required)
    counts = count_levels([table], required=required, **shared)
    return counts, run_expectations(pa.Table.from_batches([table]), required=present, **shared)


#: Each example is a run of Great Expectations: shrinking a failure would take minutes.
@settings(max_examples=5, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(payloads=st.lists(PAYLOAD, min_size=12, max_size=19), urls_required=st.booleans())
def test_great_expectations_and_the_own_count_agree_on_every_level_of_every_field(
    payloads: list[dict[str, Any]], urls_required: bool
) -> None:
    counts, results = judge(payloads, urls_required=urls_required)
    for result in results["results"]:
        assert result["exception"] is None
        own = counts.offenders.get(LEVEL_OF[result["level"]], {}).get(result["field"], [])  # type: ignore[call-overload]
        assert result["unexpected_count"] == len(own), result
        assert result["point_ids"] == [entry.point_id for entry in own]
        assert result["success"] is (not own)
    judged = {(LEVEL_OF[result["level"]], result["field"]) for result in results["results"]}
    assert {(level, name) for level, found in counts.offenders.items() for name in found} <= judged
    failing = {
        entry.point_id
        for level in ("missing", "empty")
        for name, found in counts.offenders.get(level, {}).items()
        for entry in found
        if name in REQUIRED
    }
    assert counts.complete == len(payloads) - len(failing)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(payloads=PAYLOADS, cuts=st.tuples(st.integers(0, 8), st.integers(0, 8)))
def test_slices_merge_to_the_whole(payloads: list[dict[str, Any]], cuts: tuple[int, int]) -> None:
    first, second = sorted(cuts)
    columns = needed_columns(FIELDS, REQUIRED)
    shared: dict[str, Any] = {"fields": FIELDS, "required": REQUIRED, "now": NOW, "urls_required": True}

    def part(start: int, stop: int | None) -> LevelCounts:
        table = batch(payloads[start:stop], required=REQUIRED, start=start).select(columns)
        return count_levels([table], **shared)

    whole = part(0, None)
    pieces = [part(0, first), part(first, second), part(second, None)]
    assert pieces[0].merge(pieces[1]).merge(pieces[2]) == whole
    assert pieces[0].merge(pieces[1].merge(pieces[2])) == whole


def test_slices_of_great_expectations_merge_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    payloads = [{"token_count": value} for value in (1, "2", 0, None, 5, "6", -1)] + [{}] * 20
    _, whole = judge(payloads, required=("token_count",))
    monkeypatch.setattr(expectations_module, "ROWS_PER_SLICE", 10)
    _, sliced = judge(payloads, required=("token_count",))
    assert sliced == whole
    assert {r["level"]: r["unexpected_count"] for r in sliced["results"] if r["field"] == "token_count"} == {
        "present": 20, "non_empty": 1, "type": 2, "rule": 2,
    }  # fmt: skip


def test_results_stand_in_suite_order_with_their_severity() -> None:
    good = {"source_url": f"{SITE}/a", "chunk_text": "A", "token_count": 1, "heading_hierarchy": ["A"]}
    _, results = judge([{**good, "extra": {"deep": 1}}])
    asked = [(result["level"], result["field"]) for result in results["results"]]
    assert asked == [
        (expectation.meta["level"], expectation.meta["field"])
        for expectation in build_expectations(FIELDS, present_fields(FIELDS, REQUIRED), urls_required=True)
    ]
    assert asked[:4] == [(level, "source_url") for level in ("present", "non_empty", "type", "rule")]
    assert ("present", "extra.deep") in asked
    assert ("type", "extra.deep") not in asked
    severities = {result["level"]: result["severity"] for result in results["results"]}
    assert severities == {"present": "critical", "non_empty": "critical", "type": "warning", "rule": "warning"}
    assert results["success"] is True
    assert (results["evaluated"], results["unsuccessful"]) == (len(asked), 0)


def test_integers_stay_integers_beside_a_null() -> None:
    # A pandas column of integers with one null would hold floats, and every row would have the wrong type.
    _, results = judge([{"token_count": 450}, {"token_count": None}, {}], required=("token_count",))
    by_level = {r["level"]: r["unexpected_count"] for r in results["results"] if r["field"] == "token_count"}
    assert by_level == {"present": 1, "non_empty": 1, "type": 0, "rule": 0}


def test_an_empty_list_is_not_long_enough() -> None:
    _, results = judge([{"heading_hierarchy": []}], required=("heading_hierarchy",))
    assert [r["success"] for r in results["results"] if r["field"] == "heading_hierarchy"] == [True, False, True, True]


def test_the_first_offending_ids_are_kept() -> None:
    _, results = judge([{}] * 50, required=("token_count",))
    [missing] = [r for r in results["results"] if (r["level"], r["field"]) == ("present", "token_count")]
    assert missing["unexpected_count"] == 50
    assert missing["point_ids"] == [str(number) for number in range(20)]


def test_an_expectation_that_crashes_is_a_check_that_failed_and_no_verdict_on_the_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def without_kinds(*args: Any, **more: Any) -> Any:
        return derive(*args, **more).drop(columns=["token_count.kind"])

    derive = expectations_module.derive_frame
    monkeypatch.setattr(expectations_module, "derive_frame", without_kinds)
    counts, results = judge([{"token_count": 1}], required=("token_count",))
    measurement = measure_metadata(counts, fields=FIELDS, required=REQUIRED, expectations=results)
    crashed = [finding for finding in measurement.findings if finding.code == "check.crashed"]
    assert [subject.name for finding in crashed for subject in finding.subjects] == ["type token_count"]
    assert measurement.values[0].value == 1.0
    [broken] = [result for result in results["results"] if result["exception"]]
    assert "token_count.kind" in broken["exception"]
