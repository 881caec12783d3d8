"""Indexes that frameworks write with their own code: the verdict on an honest one, and on one after an accident."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.interop import accidents
from tests.interop.cases import ACCIDENTS, LONG_AGO, WAYS
from tests.interop.world import World

pytestmark = [pytest.mark.interop, pytest.mark.usefixtures("without_gx")]

HONEST = [(framework, how) for framework, ways in WAYS.items() for how in ways]


def problems(report: dict) -> dict[str, dict]:
    """Errors and warnings by code."""
    return {finding["code"]: finding for finding in report["findings"] if finding["severity"] in {"error", "warning"}}


@pytest.mark.parametrize("place", ["path", "url"])
@pytest.mark.parametrize(("framework", "how"), HONEST)
def test_an_honest_index_passes_without_an_edited_line(
    make_world: Callable[[str], World], interpreter: Callable[[str], Path], framework: str, how: str, place: str
) -> None:
    world = make_world(place)
    world.ingest(interpreter("newest"), framework, how)
    report = world.first_verdict()
    assert problems(report) == {}
    assert report["verdict"] == "pass"
    measured = {criterion["name"]: criterion["value"] for criterion in report["criteria"]}
    assert measured["coverage"] == 1
    # A store of sparse vectors has nothing to embed again.
    assert measured["embedding_match"] == (None if (framework, how) == ("langchain", "sparse") else 1)


@pytest.mark.parametrize("place", ["path", "url"])
@pytest.mark.parametrize(("framework", "how"), LONG_AGO)
def test_an_honest_index_of_versions_long_ago_passes(
    make_world: Callable[[str], World], interpreter: Callable[[str], Path], framework: str, how: str, place: str
) -> None:
    world = make_world(place)
    world.ingest(interpreter("lowest"), framework, how)
    report = world.first_verdict()
    assert problems(report) == {}
    assert report["verdict"] == "pass"


@pytest.mark.parametrize(("framework", "how", "accident"), ACCIDENTS)
def test_an_accident_is_named_with_its_pages_and_what_to_do(
    make_world: Callable[[str], World], interpreter: Callable[[str], Path], framework: str, how: str, accident: str
) -> None:
    world = make_world("url")
    write = partial(world.ingest, interpreter("newest"), framework, how)
    write()
    spoiled = getattr(accidents, accident)(world, write)
    report = world.first_verdict()
    found, expected = problems(report), ACCIDENTS[framework, how, accident]
    assert report["verdict"] == expected.verdict
    assert [code for code, finding in found.items() if finding["because"] is None] == [*expected.codes]
    if expected.codes:
        first = found[expected.codes[0]]
        assert pages_of(first, world) == sorted(spoiled)
        assert expected.remedy in first["remedy"]


def pages_of(finding: dict, world: World) -> list[str]:
    """The pages that a finding names, itself or by its points."""
    return world.pages_of(finding["subjects"]) if finding["subject_kind"] == "point" else finding["subjects"]
