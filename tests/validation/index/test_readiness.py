from __future__ import annotations

from typing import Any

import pytest

from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, VectorFacts
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.index.readiness import Serving, unindexed_points

VECTOR = VectorFacts(name=None, size=256, distance="Cosine")  # 1 KB each


def facts(**changes: Any) -> CollectionFacts:
    known: dict[str, Any] = {
        "name": "c",
        "points_count": 100_000,
        "indexed_vectors_count": 100_000,
        "vectors": (VECTOR,),
        "hnsw": {"m": 16},
        "indexing_threshold": 10_000,
        "segments": 4,
    }
    return CollectionFacts(**{**known, **changes})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"status": "yellow"}, "status"),
        ({"status": "grey"}, "status"),
        ({"status": "red"}, "status"),
        ({"optimizer": "no space left"}, "optimizer"),
        ({"deferred_points": 3}, "deferred_points"),
        ({"indexed_vectors_count": 20_000}, "unindexed"),
    ],
)
def test_each_problem_is_named_with_the_facts(changes: dict[str, Any], problem: str) -> None:
    [finding] = find_all(Serving(facts(**changes)))
    assert (finding.code, [entry.name for entry in finding.subjects]) == ("index.not_ready", ["c"])
    assert finding.details["problems"] == [problem]
    assert finding.details["status"] == changes.get("status", "green")


def test_the_embedded_qdrant_cannot_have_these_problems_and_a_simulated_one_can() -> None:
    assert find_all(Serving(facts(local=True, status="yellow"))) == []
    [finding] = find_all(Serving(facts(local=True, status="yellow", simulated=True)))
    assert finding.details["simulated"] is True


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"indexed_vectors_count": 60_000}, None),  # 40,000 KB may lie in four segments below the threshold
        ({"indexed_vectors_count": 59_000}, 41_000),
        ({"indexed_vectors_count": 100_500}, None),  # approximate counts may be above the points
        ({"indexed_vectors_count": 0, "points_count": 900}, None),
        ({"indexed_vectors_count": 0, "hnsw": {"m": 0}}, None),
        ({"indexed_vectors_count": 0, "indexing_threshold": 0}, None),
        ({"indexed_vectors_count": 0, "segments": None}, None),
        ({"indexed_vectors_count": 0, "vectors": (VECTOR, VECTOR.model_copy(update={"name": "b"}))}, None),
    ],
)
def test_vectors_are_missed_in_hnsw_only_where_there_is_no_doubt(changes: dict[str, Any], left: int | None) -> None:
    assert unindexed_points(facts(**changes)) == left


def test_a_filtered_field_without_an_index_is_named() -> None:
    known = facts(payload_indexes={"site": "keyword"})
    [finding] = find_all(Serving(known, {"site": "a", "lang": "en"}))
    assert [entry.name for entry in finding.subjects] == ["lang"]
    assert find_all(Serving(known, {"site": "a"})) == []
    assert find_all(Serving(known, None)) == []
    assert find_all(Serving(facts(local=True), {"lang": "en"})) == []
