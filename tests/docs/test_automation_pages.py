"""The pages on automation say what works: their Python runs, their keys are the suite's, their names are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from ragval_pipeline.suite.load import load_suite

DOCS = Path(__file__).parents[2] / "docs"
SUITE = """suite: docs
qdrant: {url: "http://127.0.0.1:9", collection: rag_embedding}
queries: [{query_text: q}]
"""


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragval.yaml").write_text(SUITE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("page", "sensors"), [
    ("alerts.md", ["ragval_alerts"]), ("after-ingestion.md", ["docs_automation_condition"]),
])  # fmt: skip
def test_the_python_of_a_page_loads(folder: Path, page: str, sensors: list[str]) -> None:
    [code] = blocks(page, "python")
    names: dict[str, Any] = {}
    exec(code, names)
    defs = names["defs"]
    dg.Definitions.validate_loadable(defs)
    assert [sensor.name for sensor in defs.sensors] == sensors


def test_the_automation_that_the_page_shows_is_a_suites(folder: Path) -> None:
    shown = blocks("after-ingestion.md", "yaml")[0]
    (folder / "ragval.yaml").write_text(SUITE + shown, encoding="utf-8")
    automation = load_suite(folder / "ragval.yaml").automation
    assert (automation.after_asset, automation.enabled) == ("ingestion/docs_index", True)


def test_the_pools_that_the_page_shows_are_those_of_make_dev() -> None:
    shown = yaml.safe_load(blocks("after-ingestion.md", "yaml")[1])
    shipped = yaml.safe_load((DOCS.parent / "dagster.yaml").read_text(encoding="utf-8"))
    assert shown["concurrency"] == shipped["concurrency"]


def test_the_targets_of_a_component_are_those_that_ragval_knows() -> None:
    from ragval_pipeline.orchestration.alerts.targets import target_of

    [shown] = [block for block in blocks("alerts.md", "yaml") if "alerts:" in block]
    targets = [target_of(written) for written in yaml.safe_load(shown)["attributes"]["alerts"]]
    assert [target.name.split()[0] for target in targets] == ["slack", "email", "webhook"]
