from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pydantic import BaseModel
from upath import UPath

from ragval_pipeline.orchestration.io_manager import ReportStoreIOManager
from ragval_pipeline.sources.history import HistoryNotReadError

UNTYPED = dg.DagsterType(type_check_fn=lambda _context, _value: True, name="Untyped", typing_type=Any)
FIRST, SECOND = "20260101T000000Z-aaaaaaaa", "20260102T000000Z-bbbbbbbb"


class Fruit(BaseModel):
    name: str
    seeds: int = 0


class FruitOfTomorrow(BaseModel):
    name: str
    colour: str


def read(base: object, kind: Any = Any, *, run_id: str | None = None) -> Any:
    key = dg.AssetKey(["suite", "validation_report"])
    upstream = dg.build_output_context(asset_key=key, run_id=run_id) if run_id else None
    context = dg.build_input_context(
        asset_key=key,
        upstream_output=upstream,
        dagster_type=UNTYPED if kind is Any else dg.PythonObjectDagsterType(kind),
    )
    return ReportStoreIOManager(base_uri=str(base)).load_input(context)


@pytest.fixture(params=["path", "file", "memory"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> UPath:
    """The reports of two runs on any filesystem, and a folder that is being written."""
    place = {"path": str(tmp_path), "file": f"file://{tmp_path}", "memory": f"memory://{request.node.name}"}
    base = UPath(place[request.param])
    for name, content in ((FIRST, "Ä"), (SECOND, "pear"), (f".{SECOND}.new", "half")):
        (base / name).mkdir(parents=True)
        (base / name / "validation_report.json").write_text(json.dumps({"name": content}), encoding="utf-8")
    return base


def test_a_run_reads_its_own_report_and_another_run_the_latest(base: UPath) -> None:
    assert read(base, Fruit, run_id="aaaaaaaa-0000-4000-8000-000000000000") == Fruit(name="Ä")
    assert read(base, Fruit, run_id="cccccccc-0000-4000-8000-000000000000") == Fruit(name="pear")
    assert read(base, Fruit) == Fruit(name="pear")


def test_an_input_without_a_type_reads_plain_json(base: UPath) -> None:
    assert read(base) == {"name": "pear"}


@pytest.mark.parametrize("run_id", [None, "cccccccc-0000-4000-8000-000000000000"])
def test_a_report_that_was_never_made_is_named(tmp_path: Path, run_id: str | None) -> None:
    with pytest.raises(FileNotFoundError, match="suite/validation_report has no report below"):
        read(tmp_path, run_id=run_id)


def test_a_report_of_another_version_asks_to_validate_again(base: UPath) -> None:
    with pytest.raises(ValueError, match=r"does not match FruitOfTomorrow \(colour\).*Validate again"):
        read(base, FruitOfTomorrow)


def test_nothing_is_stored(tmp_path: Path) -> None:
    context = dg.build_output_context(asset_key=dg.AssetKey(["suite", "validation_report"]), run_id="a")
    ReportStoreIOManager(base_uri=str(tmp_path)).handle_output(context, Fruit(name="pear"))
    assert not list(tmp_path.iterdir())


def test_the_folder_is_read_from_the_environment_when_a_report_is_read(
    base: UPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPORTS_HERE", str(base))
    assert read("${REPORTS_HERE}", Fruit) == Fruit(name="pear")


def test_a_place_that_refuses_to_be_read_is_not_a_defect(monkeypatch: pytest.MonkeyPatch, base: UPath) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(base), "iterdir", refused)
    monkeypatch.setattr("pathlib.Path.iterdir", refused)
    with pytest.raises(HistoryNotReadError, match="Permission denied"):
        read(base)
