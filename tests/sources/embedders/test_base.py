from __future__ import annotations

import numpy as np
import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.embedders.base import EmbeddingBatch, EmbeddingCost, check_batch, no_vectors


def test_a_good_answer_becomes_a_float32_array():
    array = check_batch([[1, 2.5], [3, 4]], 2, 2)
    assert array.dtype == np.float32
    assert array.tolist() == [[1.0, 2.5], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("vectors", "n", "dimension", "words"),
    [
        ([[1.0, 2.0]], 2, 2, "2 texts were sent, 1 vectors were returned"),
        ([], 2, None, "2 texts were sent, 0 vectors were returned"),
        (None, 1, None, "0 vectors were returned"),
        ([[1.0]], 1, 2, "1 dimensions instead of 2"),
        ([[1.0], [1.0, 2.0]], 2, None, "not a list of equally long lists"),
        ([1.0, 2.0], 2, None, "not a list of equally long lists"),
        ([[], []], 2, None, "not a list of equally long lists"),
        ([["a"]], 1, None, "not a list of equally long lists"),
        ([[object()]], 1, None, "not a list of equally long lists"),
        ([[1.0], [float("nan")]], 2, 1, "vector 2 of 2 holds NaN"),
        ([[float("-inf")]], 1, 1, "holds NaN or infinity"),
        ([[1e300]], 1, 1, "holds NaN or infinity"),
        ([[None]], 1, 1, "holds NaN or infinity"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_malformed_answer_is_a_failure_that_says_what_is_wrong(vectors, n, dimension, words):
    with pytest.raises(SystemFailure, match=words) as caught:
        check_batch(vectors, n, dimension)
    assert caught.value.code == "embedder.unreachable"
    assert caught.value.system == "embedder"
    assert caught.value.subject == "malformed answer"


def test_no_texts_give_no_rows_of_the_known_width():
    assert no_vectors(7).vectors.shape == (0, 7)
    assert no_vectors(None).vectors.shape == (0, 0)
    assert no_vectors(7).calls == 0


def test_costs_add_up_field_by_field():
    batch = EmbeddingBatch(
        vectors=np.zeros((2, 3), np.float32),
        calls=1,
        inputs=2,
        billed_tokens=9.0,
        tries=3,
        waited_s=0.5,
        cache_hits=4,
    )
    assert batch + batch == EmbeddingCost(2, 4, 18.0, 8, 6, 1.0)


def test_unknown_billing_stays_unknown_and_does_not_hide_what_is_known():
    unknown, known = EmbeddingCost(calls=1), EmbeddingCost(calls=1, billed_tokens=5.0)
    assert (unknown + unknown).billed_tokens is None
    assert (unknown + known).billed_tokens == 5.0
    assert (known + unknown).billed_tokens == 5.0
