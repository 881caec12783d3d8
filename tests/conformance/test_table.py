from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.reporting.profiles import schema_of
from ragval_pipeline.suite.profiles.table import PROFILES
from tests.conformance.table import KINDS, PAGE, Row, page, rows, seeds

TESTS = Path(__file__).parents[1]
SEEDS = seeds()
ROWS = [row for seed in SEEDS for row in rows(seed)]


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_every_profile_has_its_table() -> None:
    assert [seed["profile"] for seed in SEEDS] == list(PROFILES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.seed} {row.section} {row.item}")
def test_every_row_is_whole_and_its_test_exists(row: Row) -> None:
    assert all((row.section.strip(), row.item.strip(), row.how.strip()))
    assert row.kind in KINDS
    file, _, name = row.test.partition("::")
    assert (TESTS / file).is_file(), f"no file {file}"
    assert name in names_in(file), f"no test {name} in {file}"


def test_no_item_is_listed_twice() -> None:
    names = [(row.seed, row.section, row.item) for row in ROWS]
    assert [name for name in names if names.count(name) > 1] == []


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed["seed"])
def test_every_field_of_a_reports_entities_has_its_row(seed: dict[str, Any]) -> None:
    defined = schema_of(seed["profile"])["$defs"]
    for entity in seed["entities"]:
        assert set(defined[entity]["required"]) == set(defined[entity]["properties"]), (
            "a field may be null, never absent"
        )
    fields = {f"{entity}.{field}" for entity in seed["entities"] for field in defined[entity]["properties"]}
    named = {row.item for row in rows(seed) if row.kind == "field"}
    assert fields - set(seed.get("extra", ())) - named == set()


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.conformance.table"
