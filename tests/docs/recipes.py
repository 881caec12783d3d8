"""The code blocks of the tutorial and of the recipes, run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ragval_pipeline.cli import main
from tests.docs.stage import Stage, commands, of


@of("docs/tutorial/mkdocs-site.md", 2, 3, 4, 5, 6, 7, 8)
def tutorial(stage: Stage, codes: Sequence[str]) -> None:
    """In the environment of the tests, which has MkDocs; the commands of ragval run in this process."""
    site, script, ingest, first, queries, again, changed = codes
    stage.environment.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    stage.shell(site)
    stage.write("index.py", script)
    assert stage.shell(ingest) == "7 chunks\n"
    assert [main(line) for line in commands(first)] == [0, 0]
    stage.write("queries.yaml", queries)
    assert [main(line) for line in commands(again)] == [0]
    assert (report := latest(stage.folder))["passed_queries"] == report["total_queries"] == 4
    stage.shell(changed.replace("ragval run\n", ""))
    assert [main(line) for line in commands(changed)] == [1]
    [missing] = [entry for entry in latest(stage.folder)["findings"] if entry["code"] == "coverage.missing_page"]
    assert [*missing["subjects"]] == ["https://tea.example.com/errors/"]
    stage.shell(ingest)
    assert [main(line) for line in commands(again)] == [0]


def latest(folder: Path) -> dict:
    """The report of the last run of the only suite."""
    return json.loads(max(folder.glob("ragval_reports/*/2*/validation_report.json")).read_text(encoding="utf-8"))
