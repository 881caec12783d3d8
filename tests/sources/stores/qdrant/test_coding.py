"""Whole numbers of a collection: how they come from a model's is learnt from what is right among them."""

from __future__ import annotations

import numpy as np
import pytest

from ragval_pipeline.sources.stores.qdrant.coding import learn_coding

RNG = np.random.default_rng(7)
GIVEN = RNG.normal(0, 1 / 16, (24, 256)).astype(np.float32)


def stored(given: np.ndarray, scale: float = 127.0, offset: float = 128.0) -> np.ndarray:
    return np.clip(np.floor(given * scale + offset), 0, 255).astype(np.float32)


def test_scale_and_offset_are_learnt_though_some_vectors_are_of_other_texts() -> None:
    spoilt = np.concatenate([GIVEN[:16], np.roll(GIVEN[16:], 1, axis=0)])
    coding = learn_coding(stored(spoilt), GIVEN)
    assert (coding.scale, coding.offset) == (pytest.approx(127, rel=0.01), pytest.approx(127.5, abs=0.1))
    assert (np.abs(coding.coded(GIVEN) - stored(GIVEN)) <= 1).all()


def test_numbers_that_the_model_returns_itself_stay_as_they_are() -> None:
    own = stored(GIVEN)
    coding = learn_coding(own, own)
    assert (coding.scale, coding.offset) == (pytest.approx(1), pytest.approx(0, abs=1e-3))
    assert np.array_equal(coding.coded(own), own)


def test_vectors_of_another_model_have_the_same_size_and_another_direction() -> None:
    other = RNG.normal(0, 1 / 16, GIVEN.shape).astype(np.float32)
    coding = learn_coding(stored(other), GIVEN)
    made, there = coding.centred(coding.coded(GIVEN)), coding.centred(stored(other))
    lengths = np.linalg.norm(made, axis=1), np.linalg.norm(there, axis=1)
    assert np.median(lengths[0] / lengths[1]) == pytest.approx(1, rel=0.1)
    assert np.abs((made * there).sum(axis=1) / lengths[0] / lengths[1]).max() < 0.5


def test_vectors_of_different_texts_point_in_different_directions_only_around_their_centre() -> None:
    coding = learn_coding(stored(GIVEN), GIVEN)

    def cosine(rows: np.ndarray) -> float:
        return float(rows[0] @ rows[1] / np.linalg.norm(rows[0]) / np.linalg.norm(rows[1]))

    assert cosine(stored(GIVEN)) > 0.99
    assert abs(cosine(coding.centred(stored(GIVEN)))) < 0.3


def test_a_vector_of_zeros_stays_one() -> None:
    coding, zero = learn_coding(stored(GIVEN), GIVEN), np.zeros((1, 256), np.float32)
    assert not coding.coded(zero).any()
    assert not coding.centred(zero).any()
