"""Every trigger alive: a Dagster with two code locations, followed ingestion by ingestion."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.triggers import AT_FIXED_TIMES, UNNAMED, Scene, at_once, one_after_the_other, staged

pytestmark = pytest.mark.daemon


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with staged(tmp_path_factory.mktemp("triggers")) as scene:
        yield scene


def test_ingestions_one_after_the_other_are_validated_one_by_one(scene: Scene) -> None:
    for followed in one_after_the_other(scene, 2):
        if followed.name in AT_FIXED_TIMES:
            assert len(followed.validations) >= 2, followed.name
            continue
        assert len(followed.validations) == 2, followed.name
        assert all(run["status"] == "SUCCESS" for run in followed.validations)
        if followed.name not in UNNAMED:
            assert {run["tags"]["ragval/ingestions"] for run in followed.validations} == set(followed.ended)


def test_ingestions_at_once_share_validations_and_the_last_state_is_validated(scene: Scene) -> None:
    for followed in at_once(scene, 3):
        assert 1 <= len(followed.validations) <= 3, followed.name
        assert followed.last_state_is_validated(), followed.name
