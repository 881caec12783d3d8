from __future__ import annotations

from collections.abc import Callable

import pytest
from upath import UPath

from tests.cli.conftest import Ended, Home
from tests.reporting import factory
from tests.reporting.history.kept import NAMES, keep

pytestmark = pytest.mark.usefixtures("without_gx")

Ragval = Callable[..., Ended]


@pytest.fixture
def kept(home: Home) -> UPath:
    """A run whose healthy scores are all below the usual 0.70."""
    positive = [factory.query(f"q{at}", f"Question {at}?", 0.55 + at / 100) for at in range(12)]
    negative = [factory.query(f"n{at}", f"Other {at}?", 0.2 + at / 50, given={"negative": True}) for at in range(5)]
    base = UPath(home.folder / "reports" / home.collection)
    keep(base, NAMES[0], factory.report(query_results=[*positive, *negative], index={"vectors": []}))
    return base


def test_it_prints_the_lines_to_paste_and_marks_the_usual_thresholds(home: Home, kept: UPath, ragval: Ragval) -> None:
    before = home.suite.read_bytes()
    ended = ragval("calibrate", "-s", home.suite, "--run", "last")
    assert ended.code == 0
    assert "min_similarity: 0.42" in ended.out
    assert "the usual min_similarity" in ended.out
    assert "0.70 would fail 100 %" in " ".join(ended.out.split())
    assert home.suite.read_bytes() == before


def test_write_changes_the_two_numbers_and_no_other_byte(home: Home, kept: UPath, ragval: Ragval) -> None:
    before = home.suite.read_bytes().decode()
    assert ragval("calibrate", "-s", home.suite, "--run", "last", "--write").code == 0
    expected = before.replace("min_similarity: 0.38", "min_similarity: 0.42", 1)
    expected = expected.replace("relevance_similarity: 0.45", "relevance_similarity: 0.42", 1)
    assert home.suite.read_bytes().decode() == expected
    assert expected != before


def test_the_last_run_is_the_newest_that_asked_queries(home: Home, kept: UPath, ragval: Ragval) -> None:
    keep(kept, NAMES[1], factory.report(groups=["coverage"], query_results=[], index={"vectors": []}))
    ended = ragval("calibrate", "-s", home.suite, "--run", "last")
    assert ended.code == 0
    assert "min_similarity: 0.42" in ended.out
    assert ended.message == f"ragval: {NAMES[1]} has no query results; using the scores of {NAMES[0]}."


def test_a_run_without_query_results_says_so(home: Home, kept: UPath, ragval: Ragval) -> None:
    keep(kept, NAMES[1], factory.report(groups=["coverage"], query_results=[]))
    ended = ragval("calibrate", "-s", home.suite, "--run", NAMES[1])
    assert ended.code == 2
    assert f"{NAMES[1]}: has no query results" in ended.message
    assert "--run" in ended.message


def test_a_distance_has_no_similarity_thresholds(home: Home, kept: UPath, ragval: Ragval) -> None:
    index = {"vectors": [{"name": None, "size": 2, "distance": "Euclid"}]}
    keep(kept, NAMES[1], factory.report(index=index))
    ended = ragval("calibrate", "-s", home.suite, "--run", "last")
    assert ended.code == 4
    assert "Euclid" in ended.message


def test_without_a_run_the_index_is_asked_and_nothing_is_kept(home: Home, ragval: Ragval) -> None:
    before = home.files()
    content = ragval("calibrate", "-s", home.suite, "--json").json
    assert content["scores"]["negative"]
    assert content["scores"]["self_retrieval"]
    assert 0.2 < content["min_similarity"] < 0.5
    assert home.files() == before
