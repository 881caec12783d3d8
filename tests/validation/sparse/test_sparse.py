"""Sparse vectors: what their numbers are, which points lack them, and whether word rarity counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.stores.qdrant.facts import SparseFacts
from ragval_pipeline.sources.stores.qdrant.sparse import SparseBatch
from ragval_pipeline.testing.defects.planters.sparse import bm25
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.sparse.measure import measure_sparse
from ragval_pipeline.validation.sparse.vectors import SparseVectors, read_vectors, weights_of

TEXTS = ("a tide is a tide", "the moon pulls the water and the water pulls the moon", "one two two three three three")
Weights = dict[int, float]


def batch(rows: dict[str, Weights | None]) -> SparseBatch:
    held = {name: row for name, row in rows.items() if row is not None}
    return SparseBatch(
        tuple(held),
        np.array([len(row) for row in held.values()], dtype=np.int64),
        np.array([index for row in held.values() for index in row], dtype=np.uint32),
        np.array([value for row in held.values() for value in row.values()], dtype=np.float32),
        tuple(rows.keys() - held.keys()),
    )


def vectors(rows: dict[str, Weights | None], name: str = "bm25", *, idf: bool = True, **how: Any) -> SparseVectors:
    return read_vectors(SparseFacts(name=name, idf=idf), [batch(rows)], **{"judged": True, "model": None, **how})


def measured(*found: SparseVectors, texts: dict[str, str] | None = None) -> Measurement:
    rows = {name: {"text": "Some words", **({"text": (texts or {})[name]} if texts else {})} for name in "123"}
    return measure_sparse(found, collection="docs", rows_of=lambda ids: {name: rows[name] for name in ids})


def named(measurement: Measurement) -> dict[str, list[str]]:
    return {finding.code: [subject.name for subject in finding.subjects] for finding in measurement.findings}


def only(measurement: Measurement) -> Finding:
    [finding] = measurement.findings
    return finding


FULL = {str(number): bm25(text) for number, text in enumerate(TEXTS, 1)}


def test_the_weights_of_bm25_are_known_by_their_numbers_and_others_are_not_taken_for_them() -> None:
    weights = [np.array(list(row.values()), dtype=np.float32) for row in FULL.values()]
    learned = np.random.default_rng(1).uniform(0.1, 2, 40).astype(np.float32)
    assert weights_of(weights) == "bm25"
    assert weights_of([*weights, learned]) is None
    assert weights_of([np.array([1, 2, 1, 3], dtype=np.float32)]) == "counts"
    assert weights_of([np.array([0.7, 0.7], dtype=np.float32)]) is None
    assert weights_of([]) is None


def test_a_point_without_a_vector_and_one_with_an_empty_one_are_named() -> None:
    finding = only(measured(vectors({"1": FULL["1"], "2": None, "3": {}})))
    assert (finding.code, finding.severity, finding.scope) == ("sparse.missing", "error", "bm25")
    assert {subject.name: subject.details for subject in finding.subjects} == {"2": {}, "3": {"vector": "empty"}}


def test_an_empty_vector_is_right_for_a_text_without_words() -> None:
    texts = {"1": "words", "2": "words", "3": "* * *"}
    assert named(measured(vectors({**FULL, "3": {}}), texts=texts)) == {}


def test_a_collection_whose_points_all_lack_it_is_said_to_be_dense_only() -> None:
    finding = only(measured(vectors(dict.fromkeys(FULL))))
    assert finding.message == "None of 3 points has a sparse vector: hybrid searches of this collection are dense only."


def test_of_several_vectors_a_point_needs_one_unless_the_suite_names_it() -> None:
    english, german = {**FULL, "3": None}, {"1": None, "2": None, "3": FULL["3"]}
    assert named(measured(vectors(english, "en"), vectors(german, "de"))) == {}
    assert named(measured(vectors(english, "en"), vectors(german, "de", judged=False))) == {"sparse.missing": ["3"]}


@pytest.mark.parametrize(
    ("rows", "idf", "model", "found"),
    [
        (FULL, False, None, ["bm25"]),
        (FULL, True, None, []),
        ({"1": {1: 0.3, 2: 1.7}, "2": {3: 0.41, 4: 2.9}}, False, None, []),
        ({"1": {1: 0.3, 2: 1.7}, "2": {3: 0.41, 4: 2.9}}, False, "bm25", ["bm25"]),
    ],
)
def test_the_modifier_is_missed_where_the_weights_are_those_of_bm25(
    rows: dict[str, Weights | None], idf: bool, model: str | None, found: list[str]
) -> None:
    assert named(measured(vectors(rows, idf=idf, model=model))).get("index.no_idf", []) == found


def test_the_report_lists_each_vector_with_model_modifier_and_coverage() -> None:
    section = measured(vectors({"1": FULL["1"], "2": FULL["2"], "3": None})).sections["sparse"]
    assert section == [
        {"name": "bm25", "idf": True, "model": "bm25", "points": 3, "missing": 1, "empty": 0, "computed_again": 0}
    ]
    assert measured().sections == {}
