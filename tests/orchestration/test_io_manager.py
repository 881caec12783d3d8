from __future__ import annotations

import threading
from pathlib import Path
from typing import IO, Any, NoReturn

import dagster as dg
import pytest
from pydantic import BaseModel
from upath import UPath

from ragval_pipeline.orchestration.io_manager import Notes, ReportStoreIOManager
from ragval_pipeline.sources.history import HistoryNotReadError
from ragval_pipeline.sources.storage import Filled, write_whole
from tests.orchestration.world import World, run_job, why

UNTYPED = dg.DagsterType(type_check_fn=lambda _context, _value: True, name="Untyped", typing_type=Any)


class Fruit(BaseModel):
    name: str
    seeds: int = 0


class FruitOfTomorrow(BaseModel):
    name: str
    colour: str


def store(base: object) -> ReportStoreIOManager:
    return ReportStoreIOManager(base_uri=str(base))


def write(base: object, value: Any, *, run_id: str = "run-1") -> None:
    context = dg.build_output_context(asset_key=dg.AssetKey(["suite", "fruit"]), run_id=run_id)
    store(base).handle_output(context, value)


def read(base: object, kind: Any = Any, *, run_id: str | None = None) -> Any:
    key = dg.AssetKey(["suite", "fruit"])
    upstream = dg.build_output_context(asset_key=key, run_id=run_id) if run_id else None
    dagster_type = UNTYPED if kind is Any else dg.PythonObjectDagsterType(kind)
    return store(base).load_input(
        dg.build_input_context(asset_key=key, upstream_output=upstream, dagster_type=dagster_type)
    )


@pytest.fixture(params=["path", "file", "memory"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return {
        "path": str(tmp_path),
        "file": f"file://{tmp_path}",
        "memory": f"memory://{request.node.name}",
    }[request.param]


def test_a_model_comes_back_as_it_was_from_any_filesystem(base: str) -> None:
    write(base, Fruit(name="Ä", seeds=3))
    assert read(base, Fruit) == Fruit(name="Ä", seeds=3)


def test_values_are_readable_files_in_the_place_that_the_metadata_names(tmp_path: Path) -> None:
    context = dg.build_output_context(asset_key=dg.AssetKey(["suite", "fruit"]), run_id="run-1")
    store(tmp_path).handle_output(context, Fruit(name="fig"))
    [place] = [value.value for value in context.get_logged_metadata().values()]
    assert Path(place).read_text(encoding="utf-8") == '{"name":"fig","seeds":0}'


def test_an_input_without_a_type_reads_plain_json(tmp_path: Path) -> None:
    write(tmp_path, Fruit(name="fig"))
    assert read(tmp_path) == {"name": "fig", "seeds": 0}


def test_each_run_reads_its_own_value_and_another_run_the_latest(base: str) -> None:
    write(base, Fruit(name="first"), run_id="run-1")
    write(base, Fruit(name="second"), run_id="run-2")
    assert read(base, Fruit, run_id="run-1").name == "first"
    assert read(base, Fruit, run_id="run-2").name == "second"
    assert read(base, Fruit, run_id="run-3").name == "second"
    assert read(base, Fruit).name == "second"


def test_a_value_that_was_never_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"suite/fruit has no value below .*: materialise it first"):
        read(tmp_path, Fruit)


def test_a_value_of_another_version_asks_to_be_made_again(tmp_path: Path) -> None:
    write(tmp_path, Fruit(name="fig"))
    with pytest.raises(ValueError, match=r"does not match FruitOfTomorrow \(colour\).*Materialise"):
        read(tmp_path, FruitOfTomorrow)


def test_fields_that_a_later_version_added_do_not_matter(tmp_path: Path) -> None:
    write(tmp_path, FruitOfTomorrow(name="fig", colour="green"))
    assert read(tmp_path, Fruit) == Fruit(name="fig")


def test_a_file_that_is_no_json_says_so(tmp_path: Path) -> None:
    write(tmp_path, Fruit(name="fig"))
    (tmp_path / ".latest" / "fruit.json").write_text('{"name":', encoding="utf-8")
    with pytest.raises(ValueError, match="not JSON"):
        read(tmp_path, Fruit)


def test_a_value_that_is_not_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="not dict"):
        write(tmp_path, {"name": "fig"})


def test_no_value_writes_no_file(tmp_path: Path) -> None:
    write(tmp_path, None)
    assert not list(tmp_path.iterdir())


def test_the_folder_is_read_from_the_environment_when_a_value_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = ReportStoreIOManager(base_uri="${FRUIT_STORE}/sub", folder=str(tmp_path))
    monkeypatch.setenv("FRUIT_STORE", "here")
    context = dg.build_output_context(asset_key=dg.AssetKey(["suite", "fruit"]), run_id="run-1")
    manager.handle_output(context, Fruit(name="fig"))
    assert (tmp_path / "here" / "sub" / ".latest" / "fruit.json").is_file()


def test_a_failed_write_leaves_the_older_value_and_no_partial_file(tmp_path: Path) -> None:
    file = UPath(tmp_path / "fruit.json")
    write_whole(file, b"old")

    def full(opened: IO[bytes]) -> None:
        opened.write(b"ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_whole(file, Filled(full))
    assert [entry.name for entry in tmp_path.iterdir()] == ["fruit.json"]
    assert file.read_bytes() == b"old"


def test_a_step_whose_place_refuses_to_be_written_to_names_it_and_says_what_to_do(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it looks like a failure of what the step reads: the sitemap."""

    def refused(*_: object, **__: object) -> NoReturn:
        raise PermissionError(13, "Permission denied", f"{world.folder}/reports/x")

    monkeypatch.setattr("ragval_pipeline.sources.storage._write_local", refused)
    told = why(run_job(world.suite(), only="coverage"))
    assert "/reports/x: the report could not be written: Permission denied. Free space or choose another" in told


def test_a_place_that_refuses_to_be_read_is_not_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> NoReturn:
        raise ConnectionError("no route to the store")

    notes = Notes(UPath("memory://refused/suite"), "run-1")
    monkeypatch.setattr("fsspec.implementations.memory.MemoryFileSystem.exists", refused)
    for read in (lambda: notes.failure("fruit"), lambda: notes.value("fruit", Fruit), lambda: notes.stopped):
        with pytest.raises(HistoryNotReadError, match=r"no route to the store. Check report_uri"):
            read()


def test_two_writers_of_one_value_never_show_half_of_it(tmp_path: Path) -> None:
    file = UPath(tmp_path / "fruit.json")
    bodies = [bytes([letter]) * 200_000 for letter in b"ab"]
    seen: set[bytes] = set()
    write_whole(file, bodies[0])
    writers = [
        threading.Thread(target=lambda body=body: [write_whole(file, body) for _ in range(40)]) for body in bodies
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        seen.add(file.read_bytes())
    for writer in writers:
        writer.join()
    assert seen <= set(bodies)
    assert [entry.name for entry in tmp_path.iterdir()] == ["fruit.json"]
