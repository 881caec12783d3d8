"""The files that component.md and kubernetes.md show are right: they parse, load, and use keys that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from ragval_pipeline.orchestration.component.attributes import DagsterSettings

DOCS = Path(__file__).parents[2] / "docs" / "how-to"


def blocks(page: str, language: str) -> list[str]:
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    return found


def test_the_attributes_beside_the_suites_are_all_in_the_table() -> None:
    table = re.findall(r"^\| `(\w+)` \|", (DOCS / "component.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(table) == set(DagsterSettings.model_fields)


def test_the_values_name_what_the_page_explains() -> None:
    [text] = blocks("kubernetes.md", "yaml")
    values: dict[str, Any] = yaml.safe_load(text)
    assert values["concurrency"]["pools"] == {"granularity": "run", "defaultLimit": 1}
    assert values["concurrency"]["enabled"] is True  # without it the chart leaves the pools out
    assert values["dagsterDaemon"]["runRetries"]["retryOnAssetOrOpFailure"] is False
    [deployment] = values["dagster-user-deployments"]["deployments"]
    assert {entry["name"] for entry in deployment["env"]} == {"QDRANT_URL", "RAGVAL_REPORTS"}
