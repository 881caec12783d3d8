from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ragval_pipeline.demo import workspace
from ragval_pipeline.demo.ingest import IngestionSummary
from ragval_pipeline.demo.workspace import DemoHome
from tests.cli.conftest import Ended, command

Ragval = Callable[..., Ended]


@pytest.fixture
def quick(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy the demo that is built already instead of building it once more."""

    def copy(home: Path) -> DemoHome:
        shutil.copytree(built, home.absolute(), dirs_exist_ok=True)
        return DemoHome(home.absolute(), IngestionSummary(13, 91, "physical_ai_book", 0.0))

    monkeypatch.setattr(workspace, "build_demo", copy)


def test_the_demo_passes_in_an_empty_folder_without_colour_or_a_terminal(tmp_path: Path) -> None:
    ended = command("demo", cwd=tmp_path, NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert ended.code == 0, ended.err
    assert "+ PASS  physical_ai_book" in ended.out
    assert "Findings: none" in ended.out
    assert "5 of 5 required met: Test questions answered 100 %" in ended.out
    assert max(map(len, ended.out.replace("Report: ", "").splitlines())) <= 90
    assert ended.out.isascii()
    assert "\x1b" not in ended.out
    report = next(line for line in ended.out.splitlines() if line.startswith("Report: ")).removeprefix("Report: ")
    assert (tmp_path / report).is_file()
    assert "Warning" not in ended.err
    assert [path.name for path in tmp_path.iterdir()] == [".ragval"]


def test_an_unknown_defect_names_the_nearest_and_builds_nothing(ragval: Ragval, tmp_path: Path) -> None:
    ended = ragval("demo", "--break", "coverage.mising_page")
    assert ended.code == 2
    assert "Did you mean coverage.missing_page?" in ended.message
    assert list(tmp_path.iterdir()) == []


def test_the_listed_defects_stand_with_variants_below_their_code(ragval: Ragval) -> None:
    lines = ragval("demo", "--list-defects").out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("coverage.orphan_page "))
    assert lines[start + 1].startswith("coverage.orphan_page:excluded ")
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "Plant one with ragval demo --break CODE, a variant with CODE:VARIANT."


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("code", ["text.boilerplate", "coverage.missing_page"])
def test_the_demo_says_what_it_planted_and_that_exactly_that_was_named(ragval: Ragval, code: str) -> None:
    ended = ragval("demo", "--break", code, "--json")
    [finding] = [entry for entry in ended.json["findings"] if entry["code"] == code]
    planted, outcome = (line for line in ended.err.splitlines() if "Planted" in line)
    assert planted.startswith(f"Planted {code}: ")
    kind = "points" if code == "text.boilerplate" else "page"
    assert outcome.endswith(f"Planted {code}: reported with exactly the planted {finding['count']} {kind}.")
    assert all(name in " ".join(ended.err.split()) for name in sorted(finding["subjects"])[:5])


@pytest.mark.usefixtures("quick")
def test_several_defects_are_planted_beside_each_other_and_each_outcome_is_told(ragval: Ragval) -> None:
    codes = ("text.zero_width", "chunk.order_shuffled")
    ended = ragval("demo", "--break", codes[0], "--break", codes[1], "--json")
    assert set(codes) <= {finding["code"] for finding in ended.json["findings"]}
    for code in codes:
        assert f"Planted {code}: reported with exactly the planted 1 p" in ended.err


@pytest.mark.usefixtures("quick")
def test_a_defect_without_room_beside_others_ends_with_two(ragval: Ragval) -> None:
    ended = ragval("demo", "--break", "text.boilerplate", "--break", "text.mojibake", "--break", "text.glued_words")
    assert (ended.code, "has no room beside the others" in ended.message) == (2, True)


def test_a_planted_defect_that_is_not_named_or_not_exactly_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    from types import SimpleNamespace

    from ragval_pipeline.cli.demo import show_outcome
    from ragval_pipeline.cli.terminal import stdout_console
    from ragval_pipeline.findings.factory import make_finding
    from ragval_pipeline.testing.defects import Planted

    planted = Planted("coverage.missing_page", frozenset({"a", "b"}))
    for subjects, says in (
        (("a", "c"), "reported for 1 of the planted 2 pages and for 1 other."),
        ((), "not reported."),
    ):
        findings = [make_finding("coverage.missing_page", subjects).reported()] if subjects else []
        run = SimpleNamespace(report=SimpleNamespace(findings=findings), folder=None)
        show_outcome([planted], run, console=stdout_console())  # type: ignore[arg-type]
        assert " ".join(capsys.readouterr().out.split()).endswith(f"Planted coverage.missing_page: {says}")
