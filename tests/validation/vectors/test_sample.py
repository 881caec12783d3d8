from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.validation.vectors.sample import choose_sample, suspects, wanted_points
from tests.validation.chunks.world import (
    BATTERY,
    CAMERA,
    GRIPPER,
    VISITORS,
    facts_of,
    html,
    paragraphs,
    point,
)
from tests.validation.vectors.space import other_model, space, subjects


def rows(number: int, **changes: Any) -> list[dict[str, Any]]:
    return [
        {"point_id": f"{place:04d}", "text": "words", "model": None, "embedded_at": None, **changes}
        for place in range(number)
    ]


@pytest.mark.parametrize(
    ("asked", "free", "wanted"), [(None, True, None), (None, False, 200), (50, True, 50), (0, True, 0)]
)
def test_a_free_provider_embeds_all_and_a_paid_one_two_hundred(
    asked: int | None, free: bool, wanted: int | None
) -> None:
    assert wanted_points(asked, free=free) == wanted


def test_the_sample_depends_on_the_ids_alone() -> None:
    chosen = choose_sample(rows(500), 100)
    assert chosen is not None
    assert len(chosen) == 100
    assert choose_sample(reversed(rows(500)), 100) == chosen
    fewer = choose_sample(rows(500), 40)
    assert fewer is not None
    assert fewer < chosen


def test_points_without_text_are_never_chosen() -> None:
    given = [*rows(3), {"point_id": "x", "text": " \u200b", "model": None, "embedded_at": None}]
    given.append({"point_id": "y", "text": None, "model": None, "embedded_at": None})
    assert choose_sample(given, 10) == {"0000", "0001", "0002"}


def test_a_few_points_of_another_model_or_day_are_in_every_sample() -> None:
    few = [{**row, "point_id": f"m{row['point_id']}"} for row in rows(4, model="other")]
    later = [{**row, "point_id": f"d{row['point_id']}"} for row in rows(4, embedded_at="2026-05-01T10:00:00Z")]
    chosen = choose_sample([*rows(5000), *few, *later], 50)
    assert chosen is not None
    assert len(chosen) <= 50
    assert sum(name.startswith("m") for name in chosen) >= 3
    assert sum(name.startswith("d") for name in chosen) >= 3


def test_suspects_come_first_and_leave_most_of_the_sample_to_the_others():
    for suspected, least in ((["0007", "0400"], 2), ([f"{place:04d}" for place in range(300)], 25)):
        chosen = choose_sample(rows(5000), 100, suspected)
        assert chosen is not None
        assert len(chosen) == 100
        assert least <= len(chosen.intersection(suspected)) < least + 15


def test_texts_that_differ_were_cut_or_do_not_have_their_hash_are_suspects(tmp_path: Path):
    digest = hashlib.sha256(GRIPPER.encode()).hexdigest()
    chunks = [
        point("/a", GRIPPER, text_hash=digest),
        point("/a", CAMERA[:30], text_hash=hashlib.sha256(CAMERA.encode()).hexdigest()),
        point("/b", VISITORS.replace("yellow", "white")),
        point("/b", BATTERY),
    ]
    pages = {"/a": html(paragraphs(GRIPPER, CAMERA)), "/b": html(paragraphs(VISITORS, BATTERY))}
    assert suspects(facts_of(tmp_path, pages, *chunks)) == {"1", "2"}


def test_a_sampled_point_brings_in_the_partner_that_holds_its_vector() -> None:
    points = space()
    points.vectors[3], points.vectors[70] = points.vectors[70], points.vectors[3]
    sample = points.named([*range(0, 30)])
    measurement = points.examined(sample)
    assert subjects(measurement) == {"vector.swapped": points.named([3, 70])}
    assert measurement.findings[0].message.startswith("At least 2 points")
    assert points.examined().findings[0].message.startswith("2 points")
    value = measurement.value("embedding_match")
    assert value is not None
    assert (value.numerator, value.denominator) == (29, 30)


def test_a_sampled_point_of_a_long_cycle_is_named_with_the_point_that_holds_its_vector() -> None:
    points = space()
    points.vectors = [*points.vectors[1:], points.vectors[0]]
    named = subjects(points.examined(points.named([10])))
    assert named == {"vector.swapped": points.named([9, 10])}


def test_a_sample_tells_of_another_model_for_its_own_points() -> None:
    points = space()
    for place, vector in zip(range(0, 90, 3), other_model(points.vectors[::3]), strict=True):
        points.vectors[place] = vector
    assert subjects(points.examined(points.named(range(45)))) == {"vector.mixed_models": points.named(range(0, 45, 3))}
