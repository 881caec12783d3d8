from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ragval_pipeline.findings.factory import SHOWN
from ragval_pipeline.measuring import expectations as room
from ragval_pipeline.measuring.expectations import loading_expectations, run_expectations
from ragval_pipeline.measuring.gx_process import judge
from ragval_pipeline.sources.site.inventory import Addresses
from ragval_pipeline.sources.workers import WorkerError
from ragval_pipeline.validation.payload.evidence import PayloadEvidence, measure_payloads, with_expectations
from ragval_pipeline.validation.payload.expectations import build_expectations, read_results
from ragval_pipeline.validation.payload.levels import PayloadLevels, level_column
from tests.validation.factory import FIELDS, SITE
from tests.validation.rows import evidence

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


def taken(payloads: list[dict[str, Any]], **rules: Any) -> PayloadEvidence:
    return evidence(*payloads, **{"fields": FIELDS, "required": REQUIRED, **rules})


def judged(payloads: list[dict[str, Any]], **rules: Any) -> tuple[PayloadLevels, list[dict[str, Any]]]:
    """The levels, and what Great Expectations says of them in this process."""
    found = taken(payloads, **rules)
    return found.levels, judge_here(found)["results"]


def judge_here(found: PayloadEvidence, **changed: Any) -> dict[str, Any]:
    """As ``run_expectations``; with levels that are not those that Great Expectations sees."""
    suite = build_expectations(FIELDS, found.rules.required, addresses=found.rules.addresses)
    columns = changed.pop("columns", found.levels.columns)
    said = judge(columns, expectations=suite, shown=SHOWN)
    return read_results(replace(found.levels, **changed), suite, said)


#: Each example is a run of Great Expectations: shrinking a failure would take minutes.
@settings(max_examples=5, phases=(Phase.explicit, Phase.generate))
@given(payloads=st.lists(PAYLOAD, min_size=12, max_size=19), addresses=st.sampled_from(get_args(Addresses)))
def test_great_expectations_and_the_own_count_agree_on_every_level_of_every_field(
    payloads: list[dict[str, Any]], addresses: Addresses
) -> None:
    levels, results = judged(payloads, addresses=addresses)
    for result in results:
        assert result["exception"] is None
        own = levels.offenders.get(LEVEL_OF[result["level"]], {}).get(result["field"], [])  # type: ignore[call-overload]
        assert result["unexpected_count"] == len(own), result
        assert result["point_ids"] == [str(row) for row in own]
        assert result["success"] is (len(own) == 0)
    asked = {(LEVEL_OF[result["level"]], result["field"]) for result in results}
    assert {(level, name) for level, found in levels.offenders.items() for name in found} <= asked
    failing = {
        row
        for level in ("missing", "empty")
        for name, rows in levels.offenders.get(level, {}).items()
        for row in rows
        if name in REQUIRED
    }
    assert levels.complete == len(payloads) - len(failing)


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has neither loaded Great Expectations nor asked them."""
    monkeypatch.delitem(sys.modules, "great_expectations", raising=False)
    monkeypatch.setattr(room, "_ASKED", [])


@pytest.mark.usefixtures("unloaded")
def test_results_are_in_suite_order_with_their_severity() -> None:
    good = {"source_url": f"{SITE}/a", "chunk_text": "A", "token_count": 1, "heading_hierarchy": ["A"]}
    found = taken([{**good, "extra": {"deep": 1}}])
    with loading_expectations():
        results = run_expectations(found.levels, fields=FIELDS, required=REQUIRED, addresses="urls")
    asked = [(result["level"], result["field"]) for result in results["results"]]
    assert asked[:4] == [(level, "source_url") for level in ("present", "non_empty", "type", "rule")]
    assert ("present", "extra.deep") in asked
    assert ("type", "extra.deep") not in asked
    severities = {result["level"]: result["severity"] for result in results["results"]}
    assert severities == {"present": "critical", "non_empty": "critical", "type": "warning", "rule": "warning"}
    assert results["success"] is True
    assert (results["evaluated"], results["unsuccessful"]) == (len(asked), 0)
    with loading_expectations():
        assert room._LOADING == [], "a process that validates again judges itself"


@pytest.mark.usefixtures("unloaded")
def test_what_is_loaded_and_not_asked_ends_with_the_run() -> None:
    with loading_expectations(), loading_expectations():
        [process] = room._LOADING
    assert room._LOADING == []
    assert process.returncode is not None


@pytest.mark.usefixtures("unloaded")
def test_great_expectations_that_cannot_be_loaded_fail_with_what_was_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "great_expectations.py").write_text("raise ImportError('built for another machine')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RuntimeError, match="ended with 1: ImportError: built for another machine"):
        run_expectations(taken([{}]).levels, fields=FIELDS, required=REQUIRED, addresses="urls")


@pytest.mark.usefixtures("unloaded")
def test_great_expectations_that_are_killed_say_so_and_are_no_bug(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "great_expectations.py").write_text("import os; os.kill(os.getpid(), 9)")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(WorkerError, match="was killed, most often because the machine ran out of memory"):
        run_expectations(taken([{}]).levels, fields=FIELDS, required=REQUIRED, addresses="urls")


def test_counts_that_differ_are_an_error_with_both_figures() -> None:
    found = taken([{"token_count": 1}, {}])
    with pytest.raises(RuntimeError, match=r"counts 2 points of 2 for source_url \(present\), ragval 0 of 2"):
        judge_here(found, offenders={})


def test_the_first_offending_ids_are_kept() -> None:
    _, results = judged([{}] * 50, required=("token_count",))
    [missing] = [r for r in results if (r["level"], r["field"]) == ("present", "token_count")]
    assert missing["unexpected_count"] == 50
    assert missing["point_ids"] == [str(number) for number in range(20)]


def test_an_expectation_that_crashes_is_a_check_that_failed_and_no_verdict_on_the_data() -> None:
    found = taken([{"token_count": 1}], required=("token_count",))
    results = judge_here(found, columns=found.levels.columns.drop_columns([level_column("token_count")]))
    measurement = with_expectations(measure_payloads(found), results)
    [crashed] = [finding for finding in measurement.findings if finding.code == "check.crashed"]
    assert "type token_count" in [subject.name for subject in crashed.subjects]
    assert measurement.values[0].value == 1.0
    broken = [result for result in results["results"] if result["exception"]]
    assert all("level:token_count" in result["exception"] for result in broken)
