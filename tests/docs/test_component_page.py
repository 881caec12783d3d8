"""The files that component.md and kubernetes.md show are right: they parse, load, and use keys that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import dagster as dg
import yaml
from jsonschema import Draft202012Validator

from ragval_pipeline import RagValidation
from ragval_pipeline.orchestration.component.attributes import DagsterSettings

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    return found


def test_the_instance_written_by_hand_is_short_and_loads() -> None:
    [text] = [block for block in blocks("component.md", "yaml") if block.startswith("type:")]
    attributes = yaml.safe_load(text)["attributes"]
    assert len(text.splitlines()) < 15
    assert not list(Draft202012Validator(RagValidation.model().model_json_schema()).iter_errors(attributes))
    defs = dg.component_defs(component=RagValidation.from_attributes_dict(attributes=attributes))
    assert defs.resolve_sensor_def("docs_after_ingestion").default_status is dg.DefaultSensorStatus.RUNNING


def test_the_attributes_beside_the_suites_are_all_in_the_table() -> None:
    table = re.findall(r"^\| `(\w+)` \|", (DOCS / "component.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(table) == set(DagsterSettings.model_fields)


def test_the_post_processing_moves_the_assets() -> None:
    [text] = [block for block in blocks("component.md", "yaml") if block.startswith("post_processing:")]
    assert yaml.safe_load(text)["post_processing"]["assets"][0]["target"] == "*"


def test_the_python_of_the_page_compiles() -> None:
    for block in blocks("component.md", "python"):
        compile(block, "component.md", "exec")


def test_the_values_name_what_the_page_explains() -> None:
    [text] = blocks("kubernetes.md", "yaml")
    values: dict[str, Any] = yaml.safe_load(text)
    assert values["concurrency"]["pools"] == {"granularity": "run", "defaultLimit": 1}
    assert values["concurrency"]["enabled"] is True  # without it the chart leaves the pools out
    assert values["dagsterDaemon"]["runRetries"]["retryOnAssetOrOpFailure"] is False
    [deployment] = values["dagster-user-deployments"]["deployments"]
    assert {entry["name"] for entry in deployment["env"]} == {"QDRANT_URL", "RAGVAL_REPORTS"}
