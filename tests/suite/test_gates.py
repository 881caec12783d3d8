"""Criteria and gates: the suite's over the profile's over the criterion's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.criteria import GROUPS, Gate, all_criteria, criterion_name, groups_of
from ragval_pipeline.suite.gates import criteria_of, gates_of, ranks_of
from tests.suite.writing import SMALLEST, refused, suite_of

#: Section 4 of the design: name, operator, whether it is a numerator over a denominator.
CRITERIA = {
    "query_pass_rate": (">=", True), "negative_pass_rate": (">=", True), "critical_queries": (">=", True),
    "coverage": (">=", True), "metadata_completeness": (">=", True), "retrieved_metadata_completeness": (">=", True),
    "content_integrity": (">=", True), "source_captured": (">=", True), "relevance_rate": (">=", True),
    "avg_similarity": (">=", False), "mrr": (">=", False), "map": (">=", False), "keyword_recall": (">=", False),
    "accuracy": (">=", True), "determinism": (">=", True), "embedding_match": (">=", True),
    "ann_recall": (">=", False), "self_retrieval": (">=", True), "times_stored": ("<=", False),
    "latency_p95_ms": ("<=", False), "error_findings": ("<=", False), "no_regression": (">=", False),
}  # fmt: skip


def required_of(folder: Path, **sections: Any) -> dict[str, float | None]:
    gates = gates_of(suite_of(folder, **sections))
    return {name: gate.threshold for name, gate in gates.items() if gate.required}


def test_the_criteria_are_those_of_the_design():
    assert {entry.name: (entry.operator, entry.ratio) for entry in all_criteria(())} == CRITERIA
    ranked = [entry.name for entry in all_criteria((5, 3)) if entry.name not in CRITERIA]
    assert ranked == [f"{family}_at_{k}" for family in ("hit", "precision", "recall", "ndcg") for k in (3, 5)]
    assert {entry.group for entry in all_criteria((3,))} <= {*GROUPS, None}
    assert all(entry.means for entry in all_criteria((3,)))


def test_every_criterion_has_a_name_of_its_own_for_people():
    names = [criterion_name(entry.name) for entry in all_criteria((3, 5))]
    assert len(set(names)) == len(names)
    assert not any("_" in name for name in names)
    assert (criterion_name("coverage"), criterion_name("recall_at_7")) == (
        "Pages in the index", "Relevant pages found in the top 7",
    )  # fmt: skip
    assert criterion_name("f1_at_3") == "f1_at_3"


def test_without_profile_four_criteria_are_required_and_critical_queries(tmp_path: Path):
    assert required_of(tmp_path) == {
        "query_pass_rate": 0.90, "coverage": 1.0, "metadata_completeness": 1.0, "error_findings": 0.0,
        "critical_queries": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("criterion", "written", "gate"),
    [
        ("coverage", 0.5, Gate(0.5, required=True)),
        ("coverage", 0, Gate(0.0, required=True)),
        ("coverage", None, Gate(None, required=False)),
        ("coverage", {"threshold": 0.5}, Gate(0.5, required=True)),
        ("coverage", {"threshold": 0.5, "required": False}, Gate(0.5, required=False)),
        ("coverage", {"required": False}, Gate(1.0, required=False)),
        ("coverage", {"required": True}, Gate(1.0, required=True)),
        ("coverage", {}, Gate(1.0, required=True)),
        # What is only shown becomes a gate.
        ("mrr", 0.3, Gate(0.3, required=True)),
        ("mrr", {"threshold": 0.3, "required": False}, Gate(0.3, required=False)),
        ("mrr", None, Gate(None, required=False)),
        ("mrr", {}, Gate(None, required=False)),
    ],
)
def test_a_suite_changes_the_gate_of_a_criterion(tmp_path: Path, criterion: str, written: Any, gate: Gate):
    assert gates_of(suite_of(tmp_path, criteria={criterion: written}))[criterion] == gate


def test_a_number_is_required_also_where_the_profile_only_shows_the_criterion(tmp_path: Path):
    under = {"profile": "retrieval-pipeline-testing"}
    assert gates_of(suite_of(tmp_path, **under))["latency_p95_ms"] == Gate(2000.0, required=False)
    changed = gates_of(suite_of(tmp_path, **under, criteria={"latency_p95_ms": 500}))
    assert changed["latency_p95_ms"] == Gate(500.0, required=True)


def test_a_required_criterion_without_threshold_is_refused(tmp_path: Path):
    error = refused(tmp_path, {**SMALLEST, "criteria": {"mrr": {"required": True}}})
    assert error.key == "criteria.mrr"
    # Where the criterion knows a threshold of its own, required alone is enough.
    gates = gates_of(suite_of(tmp_path, criteria={"accuracy": {"required": True}}))
    assert gates["accuracy"] == Gate(0.95, required=True)


def test_what_a_profile_does_not_name_is_shown_and_not_required(tmp_path: Path):
    gates = gates_of(suite_of(tmp_path, profile="rag-validation"))
    assert not gates["coverage"].required
    assert not gates["error_findings"].required


def test_ranks_are_those_of_the_metrics_and_of_the_gates(tmp_path: Path):
    suite = suite_of(tmp_path, retrieval={"k": [10, 1]}, criteria={"recall_at_7": 0.5, "ndcg_at_10": None})
    assert ranks_of(suite) == (1, 7, 10)
    assert "hit_at_7" in {entry.name for entry in criteria_of(suite)}
    assert list(gates_of(suite)) == [entry.name for entry in criteria_of(suite)]
    under = suite_of(tmp_path, profile="rag-retrieval-testing", retrieval={"k": [1]})
    assert ranks_of(under) == (1, 5)


@pytest.mark.parametrize(
    ("gates", "says"),
    [
        ({"coverage": 95}, "Write 95 % as 0.95."),
        ({"recall_at_5": {"threshold": 1.5, "required": False}}, "must be a share between 0 and 1, not 1.5"),
        ({"mrr": -0.1}, "must be a share between 0 and 1, not -0.1"),
        ({"error_findings": -1}, "must be at least 0, not -1"),
    ],
)
def test_a_gate_out_of_range_is_refused(tmp_path: Path, gates: dict[str, Any], says: str):
    error = refused(tmp_path, {**SMALLEST, "criteria": gates})
    assert error.key == f"criteria.{next(iter(gates))}"
    assert says in str(error)


def test_scores_times_and_counts_have_gates_of_their_own_size(tmp_path: Path):
    gates = {"avg_similarity": 12.5, "latency_p95_ms": 5000, "error_findings": 3}
    assert {name: gates_of(suite_of(tmp_path, criteria=gates))[name].threshold for name in gates} == gates


@pytest.mark.parametrize(
    "only", ["coverage,queries", ["coverage", "queries"], ["coverage, queries,", "coverage"], ("coverage,", "queries")]
)
def test_groups_are_named_one_by_one_or_separated_by_commas(only: str | Sequence[str]) -> None:
    assert groups_of(only) == ("coverage", "queries")


def test_no_selection_is_every_group() -> None:
    assert groups_of(None) is None


@pytest.mark.parametrize("only", ["", ",", [], [" "]])
def test_a_selection_of_nothing_is_an_error_and_not_everything(only: str | Sequence[str]) -> None:
    with pytest.raises(SuiteError, match="names no group"):
        groups_of(only)


def test_an_unknown_group_names_the_nearest() -> None:
    with pytest.raises(SuiteError, match=r"there is no group covrage\. Did you mean coverage\?"):
        groups_of("covrage")
