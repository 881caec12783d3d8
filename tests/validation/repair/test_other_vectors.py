"""Points with the same text and different vectors are no copies of each other."""

from __future__ import annotations

import numpy as np
import pytest

from ragval_pipeline.sources.snapshot.prints import estimated_cosine, vector_prints
from ragval_pipeline.sources.stores.qdrant.protocol import VectorBatch
from ragval_pipeline.validation.repair.other_vectors import embedded_apart, have_several, same_texts

RNG = np.random.default_rng(7)


def prints_of(vectors: np.ndarray) -> dict[str, bytes]:
    return dict(vector_prints(VectorBatch(tuple(map(str, range(len(vectors)))), vectors.astype(np.float32))))


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-3])
def test_vectors_that_an_api_returns_with_noise_are_alike(noise: float) -> None:
    vector = RNG.standard_normal(256)
    prints = prints_of(np.stack([vector, 3 * vector + noise * RNG.standard_normal(256)]))
    assert estimated_cosine(prints["0"], prints["1"]) == pytest.approx(1, abs=1e-4)


def test_vectors_that_cannot_be_compared_have_no_cosine() -> None:
    one, other = prints_of(np.ones((1, 4)))["0"], prints_of(np.ones((1, 5)))["0"]
    assert estimated_cosine(one, other) is None
    assert estimated_cosine(one, b"missing") is None
    assert estimated_cosine(one, prints_of(np.zeros((1, 4)))["0"]) is None


def test_points_with_vectors_of_their_own_are_found_by_these_alone() -> None:
    questions = prints_of(RNG.standard_normal((300, 256)))
    groups = [[str(number), str(number + 100), str(number + 200)] for number in range(100)]
    deleted = {str(number) for number in range(100, 300)}
    assert embedded_apart(deleted, groups, questions) == deleted


def test_copies_with_the_same_vector_stay_copies_and_one_of_another_text_is_not_asked() -> None:
    vectors = RNG.standard_normal((4, 256))
    vectors[1] = vectors[0]
    assert embedded_apart({"1", "3"}, [["0", "1"], ["3"]], prints_of(vectors)) == set()


def test_groups_are_those_of_the_points_to_delete() -> None:
    assert same_texts([("a", 1), ("b", 1), ("c", 2), ("d", None), ("e", 3), ("f", 3)], {"b", "c", "d"}) == [["a", "b"]]


def test_texts_with_three_vectors_that_differ_are_not_those_of_two_models() -> None:
    groups = [[str(number), str(number + 20), str(number + 40)] for number in range(20)]
    questions = RNG.standard_normal((60, 256))
    assert have_several(groups, prints_of(questions))
    assert not have_several(groups[:2], prints_of(questions))
    assert not have_several(groups, prints_of(np.concatenate([questions[:40], questions[:20]])))
