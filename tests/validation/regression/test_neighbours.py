from __future__ import annotations

import numpy as np
import pytest

from ragval_pipeline.validation.regression.neighbours import kept_neighbours, page_vectors, smallest_loss


def pages(count: int, dimension: int, seed: int) -> dict[str, np.ndarray]:
    vectors = np.random.default_rng(seed).normal(size=(count, dimension))
    ids = [str(number) for number in range(count)]
    return page_vectors([(ids, vectors.astype(np.float32))], {id_: f"/{id_}" for id_ in ids})


def test_a_page_is_the_mean_direction_of_its_chunks_whatever_their_lengths() -> None:
    matrix = np.array([[3, 0], [0, 1], [0, 0], [np.nan, 1], [5, 5]], dtype=np.float32)
    found = page_vectors([(["1", "2", "3", "4", "5"], matrix)], {"1": "/a", "2": "/a", "3": "/a", "4": "/a"})
    assert set(found) == {"/a"}
    assert found["/a"] == pytest.approx([0.5**0.5, 0.5**0.5])


def test_an_index_keeps_all_neighbours_of_itself_turned_round() -> None:
    index = pages(40, 8, seed=1)
    turned = {page: np.concatenate([vector[::-1], [0.0]]) for page, vector in index.items()}
    kept = kept_neighbours(index, turned, most=3)
    assert (kept.pages, kept.mean, kept.moved) == (40, 1.0, [])


def test_unrelated_vectors_keep_as_many_neighbours_as_chance_gives() -> None:
    kept = kept_neighbours(pages(200, 8, seed=1), pages(200, 8, seed=2), most=3)
    assert kept.mean == pytest.approx(5 / 199, abs=0.02)
    assert len(kept.moved) == 3


def test_the_page_that_moved_is_named_first() -> None:
    axes = np.eye(6)
    near = [axes[number // 3] + 0.1 * axes[2 + number % 3] for number in range(6)]
    before = {f"/{number}": vector for number, vector in enumerate(near)}
    after = {**before, "/0": near[3] + 0.01 * axes[5]}
    kept = kept_neighbours(before, after, most=1)
    assert kept.mean == 1.0  # six pages: all others are the five nearest
    fewer = kept_neighbours(before | {"/6": axes[5]}, after | {"/6": axes[5]}, most=1)
    assert fewer.mean is not None
    assert fewer.mean < 1


@pytest.mark.parametrize("common", [0, 1])
def test_without_two_common_pages_nothing_is_measured(common: int) -> None:
    index = dict(list(pages(3, 4, seed=1).items())[:common])
    assert kept_neighbours(index, pages(3, 4, seed=2), most=3).mean is None


def test_six_lost_questions_are_the_fewest_that_are_no_chance() -> None:
    assert [smallest_loss(count) for count in (0, 5, 6, 500)] == [None, None, 6, 6]
