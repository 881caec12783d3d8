"""Zero, missing, copied and swapped vectors: exactly the points, at one, a tenth and half of them."""

from __future__ import annotations

import hashlib
import random

import numpy as np
import pytest

from ragval_pipeline.findings.causes import Site
from ragval_pipeline.findings.graph import explain
from tests.validation.vectors.space import Space, embedded, named, space, subjects

AMOUNTS = (2, 10, 44)


def pairs(points: Space, amount: int) -> list[tuple[int, int]]:
    places = random.Random(3).sample(range(len(points.rows)), amount)
    return list(zip(places[::2], places[1::2], strict=True))


@pytest.mark.parametrize("amount", [1, 9, 45])
def test_zero_vectors_are_named_and_nothing_else(amount: int) -> None:
    points = space()
    places = random.Random(1).sample(range(90), amount)
    for place in places:
        points.vectors[place] = np.zeros(256, dtype=np.float32)
    measurement = points.examined()
    assert subjects(measurement) == {"vector.zero": points.named(places)}
    value = measurement.value("embedding_match")
    assert value is not None
    assert (value.numerator, value.denominator) == (90 - amount, 90)


def test_numbers_that_are_not_finite_are_not_called_zeros() -> None:
    points = space()
    points.vectors[3] = np.full(256, np.nan, dtype=np.float32)
    points.vectors[4] = np.full(256, np.inf, dtype=np.float32)
    points.vectors[5] = np.zeros(256, dtype=np.float32)
    [finding] = points.examined().findings
    assert finding.message == "2 points with NaN or infinite numbers in the vector, 1 one of zeros."
    assert sorted(subject.details.get("numbers", "") for subject in finding.subjects) == ["", *["not finite"] * 2]


@pytest.mark.parametrize("amount", [1, 9, 45])
def test_missing_vectors_are_named_and_nothing_else(amount: int) -> None:
    points = space()
    places = random.Random(2).sample(range(90), amount)
    for place in places:
        points.vectors[place] = None
    measurement = points.examined()
    assert subjects(measurement) == {"vector.missing": points.named(places)}
    assert measurement.findings[0].subjects[0].page is not None
    assert measurement.findings[0].details["share"] == pytest.approx(amount / 90, abs=1e-4)


@pytest.mark.parametrize("amount", AMOUNTS)
def test_swapped_vectors_name_both_and_each_other(amount: int) -> None:
    points = space()
    chosen = pairs(points, amount)
    for first, second in chosen:
        points.vectors[first], points.vectors[second] = points.vectors[second], points.vectors[first]
    measurement = points.examined()
    assert subjects(measurement) == {"vector.swapped": points.named([place for pair in chosen for place in pair])}
    details = {entry.name: entry.details for entry in measurement.findings[0].subjects}
    first, second = chosen[0]
    assert details[points.ids[first]]["others"] == [points.ids[second]]
    assert details[points.ids[first]]["cosine_there"] > 0.9999


@pytest.mark.parametrize("amount", AMOUNTS)
def test_vectors_that_lost_step_are_swapped(amount: int) -> None:
    points = space()
    shifted = points.vectors[:amount]
    points.vectors[:amount] = [*shifted[1:], shifted[0]]
    assert subjects(points.examined()) == {"vector.swapped": points.named(range(amount))}


@pytest.mark.parametrize("amount", AMOUNTS)
def test_a_copied_vector_names_both_and_is_wrong_at_one_of_them(amount: int) -> None:
    points = space()
    chosen = pairs(points, amount)
    for source, target in chosen:
        points.vectors[target] = points.vectors[source]
    found = explain(points.examined().findings, Site())
    assert named(found) == {
        "vector.identical": points.named([place for pair in chosen for place in pair]),
        "vector.text_mismatch": points.named([target for _, target in chosen]),
    }
    assert found[0].details["groups"] == len(chosen)
    assert found[1].because == "vector.identical"
    assert found[1].details["looks_like"] == {"another_point": len(chosen)}


@pytest.mark.parametrize("source", [0, None])
def test_one_vector_for_many_is_one_group_and_wrong_for_all_but_its_owner(source: int | None) -> None:
    points = space()
    vector = points.vectors[0] if source == 0 else embedded(["error: rate limit exceeded"])[0]
    for place in range(60):
        points.vectors[place] = vector
    found = explain(points.examined().findings, Site())
    wrong = points.named(range(60)) - ({points.ids[0]} if source == 0 else set())
    assert named(found) == {"vector.identical": points.named(range(60)), "vector.text_mismatch": wrong}
    assert found[0].subjects[0].details["group_size"] == 60
    assert found[1].because == "vector.identical"
    assert found[1].details["looks_like"] == {"another_point" if source == 0 else "copied": len(wrong)}


def test_a_copy_that_was_normalised_again_is_the_same_vector() -> None:
    points = space()
    source = points.vectors[3]
    assert source is not None
    points.vectors[8] = (source * np.float32(1 + 3e-7)).astype(np.float32)
    assert subjects(points.examined()) == {
        "vector.identical": points.named([3, 8]),
        "vector.text_mismatch": points.named([8]),
    }


def test_the_same_text_twice_has_the_same_vector_and_that_is_right() -> None:
    points = space()
    points.set_text(5, points.rows[6]["text"])
    points.vectors[5] = points.vectors[6]
    assert points.examined().findings == ()


def test_a_text_that_was_emptied_has_no_vector_of_another() -> None:
    points = space()
    points.vectors[5] = points.vectors[6]
    points.set_text(5, " ")
    assert points.examined().findings == ()


def test_a_text_that_was_cut_after_it_was_embedded_has_no_vector_of_another() -> None:
    points = space()
    points.vectors[5] = points.vectors[6]
    points.set_text(5, points.rows[6]["text"][:60])
    assert "vector.identical" not in subjects(points.examined())


def test_texts_that_the_model_reads_alike_have_the_same_vector_and_that_is_right() -> None:
    points = space()
    words = points.rows[6]["text"].split(" ")
    points.set_text(5, " ".join([*words[1:], words[0]]))
    points.set_text(6, " ".join(words))
    points.vectors[5], points.vectors[6] = embedded([points.rows[5]["text"], points.rows[6]["text"]])
    same = points.examined()
    assert all(finding.code != "vector.identical" for finding in same.findings)


def test_when_a_swapped_text_has_a_twin_the_twin_is_spared() -> None:
    points = space()
    points.set_text(5, points.rows[6]["text"])
    points.vectors[5] = points.vectors[6]
    points.vectors[6], points.vectors[20] = points.vectors[20], points.vectors[6]
    assert subjects(points.examined()) == {"vector.swapped": points.named([6, 20])}


def test_hashes_of_a_kind_that_nobody_knows_disown_nothing() -> None:
    points = space()
    for row in points.rows:
        row["text_hash"] = hashlib.sha256(b"salt" + row["text"].encode()).hexdigest()
    points.vectors[1], points.vectors[2] = points.vectors[2], points.vectors[1]
    assert subjects(points.examined()) == {"vector.swapped": points.named([1, 2])}
