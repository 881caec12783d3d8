from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from ragval_pipeline.cli.explain import explained
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.suite.criteria import all_criteria
from tests.cli.conftest import Ended, Home

pytestmark = pytest.mark.usefixtures("without_gx")


def test_every_finding_and_criterion_isexplained() -> None:
    for name in (*CATALOGUE, *(criterion.name for criterion in all_criteria([5]))):
        title, found = explained(name, Path("ragval.yaml"))
        sections = dict(found)
        assert title != name
        assert len(sections) >= 3, name
        assert all(paragraph.strip() for paragraphs in sections.values() for paragraph in paragraphs), name


def test_a_finding_isexplained_with_its_measurement_threshold_and_remedy(ragval: Callable[..., Ended]) -> None:
    ended = ragval("explain", "integrity.drifted")
    assert ended.code == 0
    for part in (
        "What it says",
        "How it is measured",
        "0.97 (share of a chunk's letters)",
        "How to fix it",
        "text.mojibake",
    ):
        assert part in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


@pytest.mark.parametrize(("name", "meant"), [("chunk.boilerplate", "text.boilerplate"), ("coverag", "coverage")])
def test_an_unknown_name_is_an_error_with_the_nearest_one(name: str, meant: str, ragval: Callable[..., Ended]) -> None:
    ended = ragval("explain", name)
    assert ended.code == 2
    assert f"Did you mean {meant}?" in ended.err


def test_a_finding_of_a_kept_run_isexplained_with_its_subjects(home: Home, ragval: Callable[..., Ended]) -> None:
    home.edit(source={"exclude": ["/docs/intro"]})  # the page's chunks are out of scope now
    ragval("run", "-s", home.suite, "--only", "coverage")
    ended = ragval("explain", "-s", home.suite, "last:coverage.orphan_page")
    assert ended.code == 0
    for part in ("In the run", "is in the index but not in scope", "/docs/intro", "How to fix it", "delete_pages"):
        assert part in ended.out
    other = ragval("explain", "-s", home.suite, "last:vector.zero")
    assert other.code == 2
    assert "did not find vector.zero. It found: coverage.orphan_page" in other.message


@pytest.mark.slow
def test_a_rule_of_ones_own_is_explained_by_its_run_after_it_is_gone(home: Home, ragval: Callable[..., Ended]) -> None:
    rule = {
        "code": "custom.seen", "message": "{count} chunks were seen.", "cause": "They are there.",
        "remedy": "Close your eyes.", "sql": "SELECT point_id AS name FROM points LIMIT 2",
    }  # fmt: skip
    (home.folder / "own.yaml").write_text(yaml.safe_dump([rule]), encoding="utf-8")
    home.edit(rules=["own.yaml"])
    ragval("run", "-s", home.suite)
    home.edit(rules=None)
    ended = ragval("explain", "-s", home.suite, "last:custom.seen")
    assert ended.code == 0, ended.err
    for part in ("2 chunks were seen", "They are there.", "Close your eyes.", "does not have any more"):
        assert part in " ".join(ended.out.split())
    assert ragval("explain", "-s", home.suite, "custom.seen").code == 2


def test_without_a_name_all_names_are_listed_with_their_titles(ragval: Callable[..., Ended]) -> None:
    ended = ragval("explain")
    assert ended.code == 0
    listed = {line.split()[0] for line in ended.out.splitlines() if line.startswith("  ")}
    assert {*CATALOGUE, *(criterion.name for criterion in all_criteria([]))} <= listed
    assert "Thresholds" in ragval("explain", "coverage").out
    [ranked] = [line for line in ended.out.splitlines() if "hit_at_K" in line]
    assert ranked.endswith("Relevant page in the top K")


def test_a_name_like_no_other_leads_to_the_list_of_all_names(ragval: Callable[..., Ended]) -> None:
    assert ragval("explain", "xyzzy").message.endswith("there is nothing called xyzzy. ragval explain lists all names.")
