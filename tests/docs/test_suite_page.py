"""The suite page says when to change each key; its table of profiles holds their real gates."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.suite.criteria import DEFAULT_GATES, Gate
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.payload import CANONICAL_FIELDS
from ragval_pipeline.suite.problems import key_paths
from ragval_pipeline.suite.profiles.table import PROFILES

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "suite.md").read_text(encoding="utf-8")
LINES = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| `")]
ROWS = {cells[0].strip("`"): cells[1:] for cells in LINES}
SECTIONS = (
    "qdrant",
    "source",
    "payload",
    "embedding",
    "retrieval",
    "retrieval.rerank",
    "retrieval.sparse",
    "retry",
    "history",
    "scale",
    "budget",
    "partitions",
    "automation",
)


def field_of(path: str) -> Any:
    first, *keys = path.split(".")
    field = Suite.model_fields[first]
    for key in keys:
        models = [field.annotation, *getattr(field.annotation, "__args__", ())]
        field = next(model.model_fields[key] for model in models if key in getattr(model, "model_fields", {}))
    return field


def test_every_key_of_the_suite_has_a_row_and_no_row_is_without_a_key() -> None:
    assert set(ROWS) - set(PROFILES) == set(key_paths(Suite)) - set(SECTIONS)
    assert all(len(cells) == 3 and all(cells) for cells in ROWS.values())


def test_the_page_names_every_canonical_field() -> None:
    assert all(f"`{name}`" in PAGE for name in CANONICAL_FIELDS)


@pytest.mark.parametrize("profile", [*PROFILES, "none"])
def test_the_table_of_profiles_shows_their_required_gates(profile: str) -> None:
    gates: dict[str, Gate] = dict(DEFAULT_GATES if profile == "none" else PROFILES[profile].gates)
    row = next(line for line in PAGE.splitlines() if line.startswith((f"| `{profile}` |", f"| {profile} | you")))
    shown = {name: float(value) for name, value in re.findall(r"`(\w+)` ([\d.]+)", row.rsplit("|", 2)[1])}
    assert shown == {name: gate.threshold for name, gate in gates.items() if gate.required}
