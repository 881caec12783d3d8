"""A whole run of the shortest adapter, on worlds of the generated handbook."""

import sys
from dataclasses import replace

from indexdefects import run
from indexdefects.plan import Spec
from indexdefects.report import as_document, as_page
from indexdefects.results import rows
from indexdefects.tools import tools

FAMILIES = ("clean", "page_deleted", "point_copied", "vector_zero", "vector_noise")


def scores_in(folder):
    specs = [Spec(name, "tenth", 1, "handbook", "paragraphs", 12) for name in FAMILIES]
    names = run.make_all(specs, folder, folder / "cache")
    run.audit_all(tools()["script"], names, folder, python=sys.executable, every_tier=False)
    return [replace(score, cpu_seconds=0.0) for score in run.score_all(tools(), folder)]


def test_two_runs_give_the_same_scores(tmp_path):
    assert scores_in(tmp_path / "one") == scores_in(tmp_path / "two")


def test_the_script_finds_what_it_can_name_and_is_not_blamed_for_the_rest(tmp_path):
    (row,) = rows(scores_in(tmp_path))
    assert (row.claimed, row.detected, row.f1, row.clean, row.alarmed, row.errors) == (3, 3, 1.0, 1, 0, 0)


def test_the_pages_name_each_family_that_was_shown(tmp_path):
    scores = scores_in(tmp_path)
    titles = {name: tool.title for name, tool in tools().items()}
    page, document = as_page(scores, titles), as_document(scores, titles, "script")
    assert all(name in page for name in FAMILIES[1:4])
    assert "`vector_noise` | - | no name for it" in document


def test_the_whole_set_has_a_row_for_each_family_with_its_shares(tmp_path):
    scores = scores_in(tmp_path)
    titles = {name: tool.title for name, tool in tools().items()}
    document = as_document(scores, titles, "script", scores)
    assert "| `vector_zero` | - | 1.00 | - | 1 of 1 | - |" in document.partition("## The whole set")[2]
    assert "## The whole set" not in as_document(scores, titles, "script")


def test_what_has_an_answer_is_not_run_again(tmp_path):
    scores_in(tmp_path)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "answers").rglob("*.json")}
    scores_in(tmp_path)
    assert kept == {path: path.stat().st_mtime_ns for path in (tmp_path / "answers").rglob("*.json")}


def test_each_adapter_states_a_pinned_tool_and_families_that_exist():
    from indexdefects.defects.registry import TIERS, defects

    for name, tool in tools().items():
        assert tool.claims <= set(defects()), name
        assert set(tool.tiers) <= set(TIERS), name
        assert all(
            "==" in each or "<" in each for each in tool.dependencies if not each.startswith("ragval-pipeline")
        ), name


def test_worlds_that_a_tool_did_not_answer_are_told(tmp_path):
    scores = scores_in(tmp_path)
    failed = [replace(score, error="ModuleNotFoundError") if score.family == "clean" else score for score in scores]
    titles = {name: tool.title for name, tool in tools().items()}
    told = "Worlds without an answer, counted as without findings: a script of 40 lines at source: 1."
    assert told in as_document(failed, titles, "script")
    assert told in as_page(failed, titles)
    assert "without an answer" not in as_document(scores, titles, "script")
