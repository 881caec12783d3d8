from __future__ import annotations

from typing import Any

import pytest

from ragval_pipeline.sources.search.searchers import Probe
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, VectorFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.validation.index.ann import measure_ann, recall, why_exact

VECTOR = VectorFacts(name=None, size=256, distance="Cosine")


def facts(**changes: Any) -> CollectionFacts:
    known: dict[str, Any] = {
        "name": "c",
        "points_count": 50_000,
        "indexed_vectors_count": 50_000,
        "vectors": (VECTOR,),
        "hnsw": {"m": 16, "full_scan_threshold": 10_000},
    }
    return CollectionFacts(**{**known, **changes})


def hits(*pairs: tuple[str, float]) -> tuple[Hit, ...]:
    return tuple(Hit(rank, name, score) for rank, (name, score) in enumerate(pairs, 1))


@pytest.mark.parametrize(
    ("changes", "asked_exact", "words"),
    [
        ({}, True, "searches exactly"),
        ({"local": True}, False, "embedded Qdrant"),
        ({"hnsw": {"m": 0}}, False, "no HNSW"),
        ({"indexed_vectors_count": 0}, False, "no vector is indexed"),
        ({"points_count": 9_000}, False, "full_scan_threshold"),
    ],
)
def test_where_every_search_is_exact_there_is_nothing_to_measure(
    changes: dict[str, Any], asked_exact: bool, words: str
) -> None:
    assert words in str(why_exact(facts(**changes), VECTOR, asked_exact=asked_exact))


@pytest.mark.parametrize(
    "changes", [{}, {"quantized": True, "indexed_vectors_count": 0}, {"local": True, "simulated": True}]
)
def test_elsewhere_there_is(changes: dict[str, Any]) -> None:
    assert why_exact(facts(**changes), VECTOR, asked_exact=False) is None


def test_recall_is_the_share_of_the_exact_hits() -> None:
    exact = hits(("a", 0.9), ("b", 0.8), ("c", 0.7), ("d", 0.6))
    assert recall(exact, exact, higher_is_better=True) == 1.0
    assert recall(exact, hits(("a", 0.9), ("c", 0.7), ("x", 0.5), ("y", 0.4)), higher_is_better=True) == 0.5
    assert recall(exact, (), higher_is_better=True) == 0.0
    assert recall((), exact, higher_is_better=True) is None


def test_points_that_tie_with_the_last_exact_hit_are_as_good() -> None:
    exact = hits(("a", 0.9), ("b", 0.5))
    assert recall(exact, hits(("a", 0.9), ("c", 0.5000000)), higher_is_better=True) == 1.0
    assert recall(exact, hits(("a", 0.9), ("c", 0.5), ("b", 0.5)), higher_is_better=True) == 1.0
    near = hits(("a", 0.1), ("b", 0.5))
    assert recall(near, hits(("a", 0.1), ("c", 0.5)), higher_is_better=False) == 1.0
    assert recall(near, hits(("a", 0.1), ("c", 0.6)), higher_is_better=False) == 0.5


def test_the_mean_over_queries_and_stored_vectors_is_held_to_the_limit() -> None:
    exact = hits(("a", 0.9), ("b", 0.8))
    probes = [
        Probe("query", "q1", exact, exact),
        Probe("query", "q2", hits(("a", 0.9), ("x", 0.1)), exact),
        Probe("point", "p1", exact, exact),
        Probe("point", "p2", (), ()),
    ]
    result = measure_ann(probes, facts(), VECTOR, threshold=0.9)
    assert (result.value.numerator, result.value.denominator) == (2.5, 3)
    [finding] = result.findings
    assert (finding.code, [entry.name for entry in finding.subjects]) == ("index.low_ann_recall", ["c"])
    assert finding.details["lowest"] == {"q2": 0.5}
    assert (finding.details["queries"], finding.details["stored_vectors"]) == (2, 1)
    assert measure_ann(probes, facts(), VECTOR, threshold=0.8).findings == ()


def test_without_a_hit_nothing_is_measured() -> None:
    assert measure_ann([Probe("query", "q", (), ())], facts(), VECTOR, threshold=0.9).value.reason_code == "no_data"


def test_recall_under_a_filter_of_queries_is_named_though_the_others_are_found() -> None:
    exact = hits(("a", 0.9), ("b", 0.8))
    good, poor = Probe("query", "q", exact, exact), Probe("query", "q", hits(("a", 0.9)), exact)
    result = measure_ann(
        [good], facts(), VECTOR, threshold=0.95, under_filters={"lang: en": [good], "lang: de": [poor]}
    )
    assert result.value.value == 1.0
    assert result.section["ann"]["by_filter"] == {"lang: en": 1.0, "lang: de": 0.5}
    [finding] = result.findings
    assert "50 % (lang: de)" in finding.message.replace("\u202f", " ").replace("\xa0", " ")
    assert "lang: en" not in finding.message
    assert measure_ann([good], facts(), VECTOR, threshold=0.95, under_filters={"lang: en": [good]}).findings == ()
