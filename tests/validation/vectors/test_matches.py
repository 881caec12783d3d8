"""A run that knows how vectors matched in an earlier one finds what a run finds that embeds every text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from upath import UPath

from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.sources.kept.code import code_identity
from ragval_pipeline.sources.kept.evidence import FORMAT, RECORD, Earlier, KeysManifest, Record, find_earlier
from ragval_pipeline.sources.kept.matches import MATCHES, Matches
from ragval_pipeline.sources.snapshot.manifest import Part
from ragval_pipeline.validation.measurement import Measurement
from tests.validation.vectors.space import Space, embedded, space, texts


class Counting(StaticEmbedder):
    """Counts the texts."""

    count = 0

    def embed(self, texts: Sequence[str], *, input_type: Any) -> Any:
        self.count += len(texts)
        return super().embed(texts, input_type=input_type)


@dataclass
class Runs:
    """Runs over a collection, each in a folder of its own."""

    folder: Path
    count: int = 0

    def run(self, world: Space) -> tuple[Measurement, int]:
        """What a run finds that may use the newest one, and how many texts it embeds."""
        self.count += 1
        world.embedder = Counting()
        matches = Matches(self.earlier(), "static", "model")
        found = world.examined(matches=matches)
        self._write(matches)
        return found, world.embedder.count

    def earlier(self) -> Earlier | None:
        return find_earlier(UPath(self.folder / "reports"), UPath(self.folder / f"near{self.count}"))

    def _write(self, matches: Matches) -> None:
        run = self.folder / "reports" / f"20261129T1200{self.count:02d}Z-{self.count:08d}"
        kept = run / "evidence" / "kept"
        kept.mkdir(parents=True)
        record = Record(format=FORMAT, code=code_identity(), buckets=1, page_buckets=0, files={})
        (kept / RECORD).write_text(record.model_dump_json())
        matches.write(KeysManifest(run_id="r", staged_uri=str(kept), parts=(Part(name=RECORD, rows=0),)))
        (run / "validation_report.json").write_text("{}")

    def newest(self, name: str) -> Path:
        return max((self.folder / "reports").iterdir()) / "evidence" / "kept" / name


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def _edit(rng: random.Random, world: Space) -> None:
    """One change: to a text, its vector or both, or which points there are."""
    at, other = rng.randrange(len(world.rows)), rng.randrange(len(world.rows))
    text = rng.choice(texts())
    match rng.randrange(8):
        case 0 | 1:
            world.set_text(at, text)
            world.vectors[at] = embedded([text])[0]
        case 2:
            world.set_text(at, text)
        case 3:
            world.vectors[at], world.vectors[other] = world.vectors[other], world.vectors[at]
        case 4:
            world.vectors[at] = None
        case 5:
            world.vectors[at] = np.zeros(256, np.float32)
        case 6:
            del world.rows[at], world.vectors[at]
        case _:
            world.rows[at]["embedded_text"] = f"{world.rows[at]['title']}\n\n{world.rows[at]['text']}"


def edited_at_random(runs: Runs, seed: int, *, rounds: int) -> None:
    rng, world = random.Random(seed), space(60)
    runs.run(world)
    for number in range(rounds):
        for _ in range(number and rng.randint(0, 2)):
            _edit(rng, world)
        assert runs.run(world)[0] == world.examined()


def test_after_random_edits_the_measurement_is_that_of_a_whole_run(runs: Runs) -> None:
    edited_at_random(runs, 1, rounds=4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_after_many_random_edits_the_measurement_is_that_of_a_whole_run(runs: Runs, seed: int) -> None:
    edited_at_random(runs, seed, rounds=12)


def test_only_changed_texts_and_references_are_embedded(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragval_pipeline.validation.vectors.comparison.REFERENCES", 9)
    world = space(90)
    assert runs.run(world)[1] == 90
    assert runs.run(world)[1] == 9
    world.set_text(4, "Grippers close slowly when the arm is cold.")
    world.vectors[4] = embedded([world.rows[4]["text"]])[0]
    assert runs.run(world)[1] == 10


def test_an_embedder_that_gives_other_vectors_is_noticed(runs: Runs) -> None:
    world = space(90)
    runs.run(world)

    class Another(Counting):
        def embed(self, texts: Sequence[str], *, input_type: Any) -> Any:
            return super().embed([text[:40] for text in texts], input_type=input_type)

    world.embedder = Another()
    assert world.examined(matches=Matches(runs.earlier(), "static", "model")) == world.examined()


def test_matches_of_another_model_are_not_known(runs: Runs) -> None:
    world = space(30)
    runs.run(world)
    keys = Matches(None, "static", "model").keys(texts()[:30], np.stack([*embedded(texts()[:30])]))
    assert Matches(runs.earlier(), "static", "model").found(keys)[0].all()
    other = Matches(runs.earlier(), "static", "another")
    assert not other.found(other.keys(texts()[:30], embedded(texts()[:30])))[0].any()


def test_a_damaged_file_is_not_read(runs: Runs, caplog: pytest.LogCaptureFixture) -> None:
    world = space(30)
    first, _ = runs.run(world)
    content = bytearray(runs.newest(MATCHES).read_bytes())
    content[len(content) // 2] ^= 1
    runs.newest(MATCHES).write_bytes(bytes(content))
    assert runs.run(world) == (first, 30)
    assert "is damaged" in caplog.text
