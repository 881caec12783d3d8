from __future__ import annotations

import random

import numpy as np
import pytest

from ragval_pipeline.validation.chunks.duplicates import Bands, candidate_pairs, similarity
from tests.validation.rows import detected, evidence_of, named, rows

WORDS = [f"word{number}" for number in range(500)]


def passage(seed: int, length: int = 60) -> list[str]:
    return random.Random(seed).sample(WORDS, length)


def changed(words: list[str], count: int) -> list[str]:
    copy = list(words)
    for number in range(count):
        copy[(number + 1) * len(copy) // (count + 1)] = f"other{number}"
    return copy


def judged(*passages: list[str], pages: list[str] | None = None):
    where = pages or [f"/p{number}" for number in range(len(passages))]
    found = rows(*({"text": " ".join(words), "source_url": page} for words, page in zip(passages, where, strict=True)))
    return detected("chunk.near_duplicate", evidence_of(found))


@pytest.mark.parametrize("length", [20, 30, 45, 100, 200])
def test_two_changed_words_leave_a_near_duplicate(length):
    original = passage(1, length)
    assert named(judged(original, changed(original, 2), passage(2, length), passage(3, length))) == ["0", "1"]


@pytest.mark.parametrize("paged", [True, False])
def test_of_points_without_pages_nobody_knows_whether_they_are_of_different_ones(paged: bool):
    texts = [passage(1, 60), changed(passage(1, 60), 2)]
    found = rows(*({"text": " ".join(words), "source_url": f"/{at}"} for at, words in enumerate(texts)))
    stored = found if paged else [{**row, "page_key": None, "page_url": None} for row in found]
    [finding] = detected("chunk.near_duplicate", evidence_of(stored))
    assert finding.message.endswith("another page." if paged else "another point.")


def test_a_passage_with_every_fourth_word_changed_is_another():
    original = passage(1, 80)
    assert judged(original, changed(original, 20)) == []


def test_very_short_passages_are_not_compared():
    original = passage(1, 15)
    assert judged(original, changed(original, 1)) == []


def test_chunks_of_one_page_overlap_on_purpose():
    original = passage(1)
    assert judged(original, changed(original, 2), pages=["/a", "/a"]) == []


def test_equal_texts_are_duplicates_and_not_near_duplicates():
    original = passage(1)
    assert judged(original, original) == []


def test_the_details_name_the_most_alike_first():
    original = passage(1, 100)
    finding = judged(original, changed(original, 4), changed(original, 1))[0]
    assert finding.subjects[0].details["others"] == ["2", "1"]
    assert finding.subjects[0].details["similarity"] == pytest.approx(95 / 101, abs=1e-4)


def test_every_planted_pair_among_two_thousand_chunks_is_found_and_nothing_else():
    originals = [passage(number, 50) for number in range(1000)]
    others = [
        changed(words, 2) if number < 100 else passage(5000 + number, 50) for number, words in enumerate(originals)
    ]
    expected = sorted([str(number) for number in range(100)] + [str(1000 + number) for number in range(100)])
    assert named(judged(*originals, *others)) == expected


def test_members_of_a_large_family_are_all_found():
    original = passage(1, 80)
    family = [[*original[:-1], f"version{number}"] for number in range(200)]
    assert len(named(judged(*family))) == 200


def _bands(*sets):
    bands = Bands()
    for some in (sets[:1], sets[1:]):  # as they come: a batch after the other
        bands.add(np.concatenate(some), np.cumsum([0, *map(len, some)]))
    return bands


def test_sets_that_are_alike_become_candidates_and_others_do_not():
    pool = np.random.default_rng(0).integers(0, 2**32, 1000, dtype=np.uint32)
    first, second, other = np.unique(pool[:200]), np.unique(pool[50:250]), np.unique(pool[500:])
    assert similarity(first, second) == pytest.approx(150 / 250)
    assert set(candidate_pairs(_bands(first, second, other))) == {(0, 1)}
