"""A run after few changes finds what a whole run finds, wherever the reports are."""

from __future__ import annotations

from pathlib import Path

import pytest
from upath import UPath

from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.reporting.run import Run
from ragval_pipeline.sources.kept.languages import LANGUAGES
from ragval_pipeline.sources.kept.matches import MATCHES
from ragval_pipeline.suite.model import Suite
from tests.orchestration.test_calls import timeless
from tests.orchestration.world import World

ONLY = ["coverage", "integrity", "metadata", "chunks", "vectors"]


def evidence(run: Run) -> dict[str, bytes]:
    """The facts and pages of a run, and what it says about points and pages."""
    folder = UPath(run.folder)
    files = [file for kind in ("facts", "pages") for file in (folder / "evidence" / kind).iterdir()]
    files += [folder / name for name in ("findings.parquet", "remediation.json")]
    return {
        file.name if file.parent == folder else f"{file.parent.name}/{file.name}": file.read_bytes() for file in files
    }


def rewrite(world: World) -> None:
    """Change a word on one page, and remove the chunks of another one."""
    first, last = sorted((world.folder / "site").rglob("index.html"))[1:3]
    text = first.read_text(encoding="utf-8")
    first.write_text(text.replace(" the ", " that "), encoding="utf-8")
    last.unlink()


def agree(one: Run, other: Run) -> bool:
    return timeless(one.report) == timeless(other.report) and evidence(one) == evidence(other)


def runs_of(suite: Suite) -> list[Run]:
    return [run_suite(suite, only=ONLY), run_suite(suite, only=ONLY, full=True)]


@pytest.mark.parametrize("place", [pytest.param("folder", marks=pytest.mark.slow), "memory"])
def test_a_run_after_a_change_finds_what_a_whole_run_finds(
    world: World, tmp_path: Path, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    changes = {"report_uri": f"memory://{tmp_path.name}"} if place == "memory" else {}
    suite = world.suite(changes)
    before = run_suite(suite, only=ONLY)
    rewrite(world)
    caplog.set_level("INFO", "ragval_pipeline")
    after, whole = runs_of(suite)
    assert agree(after, whole)
    assert not agree(before, whole)
    kept = [UPath(run.folder) / "evidence" / "kept" for run in (before, after, whole)]
    assert all((folder / name).exists() for folder in kept for name in (MATCHES, LANGUAGES))
    [line] = [record.getMessage() for record in caplog.records if record.getMessage().startswith("facts of ")]
    reused, _, units = line.split()[2:5]
    assert 0 < int(reused) < int(units)
