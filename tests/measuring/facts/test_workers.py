"""Who makes the facts does not matter: one process or several, in whatever order they end, here or on Ray."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from upath import UPath

from ragval_pipeline.measuring.facts.files import StoredFacts
from ragval_pipeline.measuring.facts.make import make_facts
from ragval_pipeline.sources import workers
from ragval_pipeline.sources.embedders import static
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.sources.site.page_copies import writer as page_writer
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.snapshot import writer as point_writer
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.sources.workers import WorkerError, each_done
from ragval_pipeline.suite.sections import ScaleSettings
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.facts.store import FactsError
from ragval_pipeline.validation.measurement import failed_measurement
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, copies_of, snapshot_of

TEXTS = (GRIPPER, CAMERA, BATTERY, GRIPPER.replace("motor", "engine"), f"On this page\n{CAMERA}{BATTERY}")
PAGES = {f"/p{number}": f"<h1>Part {number}</h1><p>{GRIPPER}</p><p>{CAMERA} {BATTERY}</p>" for number in range(24)}


class KillsOneWorker:
    """Limits of models, which end the first process that asks for one, as a machine without memory does."""

    def __init__(self, left: Path) -> None:
        self.left = str(left)

    def has_limit(self, payload_model: str | None) -> bool:
        if not Path(self.left).exists():
            Path(self.left).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    def model_of(self, payload_model: str | None) -> str | None:
        return None


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes the facts of a small site of many buckets."""
    monkeypatch.setattr(point_writer, "POINTS_PER_BUCKET", 8)
    monkeypatch.setattr(page_writer, "PAGES_PER_BUCKET", 2)
    stored = [
        {"text": text, "source_url": f"https://docs.test{path}", "chunk_index": at, "token_count": 30}
        for path in PAGES
        for at, text in enumerate(TEXTS)
    ]
    snapshot, copies = snapshot_of(tmp_path, PAGES, *stored), copies_of(tmp_path, PAGES)
    assert min(snapshot.manifest.buckets, copies.manifest.buckets) >= 8

    def make(name: str, limits: Any = None, **scale: Any) -> dict[str, bytes]:
        folder = tmp_path / name
        manifest = make_facts(
            Snapshot(snapshot.manifest), PageCopies(copies.manifest), folder=UPath(folder), kept_uri="kept",
            run_id="run", limits=limits, scale=ScaleSettings(**scale),
        )  # fmt: skip
        names = [part.name for part in manifest.parts]
        assert names == sorted(names)
        return {name: (folder / name).read_bytes() for name in names}

    return make


def test_one_and_several_workers_write_the_same_files_byte_for_byte(made: Any) -> None:
    alone = made("alone", workers=1)
    assert len(alone) >= 16
    assert made("three", workers=3) == alone


def test_pages_and_vectors_are_the_same_whoever_makes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_writer, "_BATCH", 5)
    texts = [f"{text} {number}\nbehind a line" for number in range(240) for text in TEXTS]
    embed = partial(StaticEmbedder().embed, texts, input_type="search_document")
    copies, vectors = [copies_of(tmp_path / "alone", PAGES)], embed().vectors
    with workers.keeping_workers():
        copies.append(copies_of(tmp_path / "three", PAGES, workers=3))
        monkeypatch.setattr(static, "_token_sums", None)  # this process has no part in it
        assert embed().vectors.tobytes() == vectors.tobytes()
    one, other = (
        [(held.manifest.folder() / part.name).read_bytes() for part in held.manifest.parts] for held in copies
    )
    assert one == other
    assert copies[0].manifest.readable == copies[1].manifest.readable == len(PAGES)


def test_a_worker_that_is_killed_is_an_error_that_says_so(made: Any, tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match=r"a worker process .* was killed.*scale\.workers"):
        made("killed", limits=KillsOneWorker(tmp_path / "left"), workers=2)


def test_facts_that_could_not_be_made_are_an_error_and_not_an_empty_collection(tmp_path: Path) -> None:
    snapshot, copies = snapshot_of(tmp_path, PAGES), copies_of(tmp_path, PAGES)
    manifest = FactsManifest(
        run_id="run", points=snapshot.manifest, copies=copies.manifest, crash="WorkerError", problem="a worker died"
    )
    with pytest.raises(FactsError, match="a worker died") as raised:
        list(StoredFacts(manifest).texts())
    [finding] = failed_measurement("chunk_structure", raised.value).findings
    assert (finding.code, finding.remedy) == ("check.crashed", "A worker died.")


class Counted:
    """Stands for a pool, and says how many processes it has."""

    ended: ClassVar[list[int]] = []

    def __init__(self, count: int) -> None:
        self.count = count

    def results(self, work: Any, items: Any) -> Iterator[int]:
        yield self.count

    def end(self) -> None:
        self.ended.append(self.count)


def test_a_small_collection_is_not_worth_a_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cpus", lambda: 8)
    monkeypatch.setattr(workers, "_Processes", Counted)
    few = list(each_done(len, ["a", "bc"], ScaleSettings(), weight=workers.POINTS_A_WORKER))
    many = list(each_done(len, ["a", "bc", "d"], ScaleSettings(), weight=100 * workers.POINTS_A_WORKER))
    assert (few, many) == ([1, 2], [3])


def test_workers_of_a_run_serve_all_of_its_work_and_are_more_when_more_are_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "_Processes", Counted)
    Counted.ended = []
    with workers.keeping_workers():
        assert list(workers.by_running(len, ["a", "bc"])) == [1, 2]
        for wanted, counts in ((2, [2]), (1, [2]), (3, [3])):
            assert list(each_done(len, iter("abc"), ScaleSettings(workers=wanted), weight=1)) == counts
        assert (list(workers.by_running(len, ["a", "bc"])), Counted.ended) == ([3], [2])
    assert Counted.ended == [2, 3]


def test_a_script_without_a_guard_is_not_run_again_by_its_workers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from ragval_pipeline.suite.sections import ScaleSettings\n"
        "from ragval_pipeline.sources.workers import each_done\n"
        "print(list(each_done(abs, [-1, -2, -3, -4], ScaleSettings(workers=2), weight=2)))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.returncode) == ("[1, 2, 3, 4]\n", 0), done.stderr


@pytest.mark.ray
def test_a_ray_cluster_of_two_writes_the_same_files_although_a_worker_is_killed(made: Any, tmp_path: Path) -> None:
    alone = made("alone", workers=1)
    killer = KillsOneWorker(tmp_path / "left")
    assert made("cluster", limits=killer, engine="ray", workers=2) == alone
    assert Path(killer.left).exists()
