"""A run that reads the facts of an earlier one writes the same files as one that computes everything."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from ragval_pipeline.measuring.facts.make import make_facts
from ragval_pipeline.sources.kept import evidence
from ragval_pipeline.sources.kept.evidence import Earlier, KeysManifest, find_earlier
from ragval_pipeline.sources.site.page_copies import writer as page_writer
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.site.page_copies.writer import take_copies
from ragval_pipeline.sources.site.page_reader import PageReader
from ragval_pipeline.sources.snapshot import writer as point_writer
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, html, paragraphs, point, site, snapshot_of

SENTENCES = (
    GRIPPER, CAMERA, BATTERY, "On this page", "Naïve façade: 3 < 4 & «so on».", "caf\u00c3\u00a9 is open",
    "\u200bhidden", "Größe über 15 µm",
    "<details><summary>More</summary>{{ template }}</details>", "東京の駅で待っています。",
)  # fmt: skip


@dataclass
class Site:
    """A small site and its index, which can be edited at random."""

    pages: dict[str, str | None]
    points: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @classmethod
    def drawn(cls, rng: random.Random, pages: int) -> Site:
        """A site of some pages."""
        drawn = cls({})
        for number in range(pages):
            drawn.write(rng, f"/p{number}")
        drawn.points["nowhere"] = [point("", rng.choice(SENTENCES)), point("", None)]
        drawn.points["/other"] = [point("/other", GRIPPER)]
        return drawn

    def write(self, rng: random.Random, path: str) -> None:
        """Write a page anew, and its chunks."""
        told = rng.choices(SENTENCES, k=rng.randint(1, 4))
        self.pages[path] = html(f"<h1>{path}</h1>{paragraphs(*told)}")
        payload = rng.choice([{}, {"token_count": 30}, {"headings": [path], "title": path}, {"model": "embed-v4.0"}])
        self.points[path] = [
            point(path, text if rng.random() < 0.8 else text[rng.randint(0, 20) :], at, **payload)
            for at, text in enumerate(told)
        ]

    def edit(self, rng: random.Random) -> None:
        """One change: to a page, its chunks, their order or payload, or which pages there are."""
        path = rng.choice(sorted(self.pages))
        own = self.points.get(path, [])
        match rng.randrange(7):
            case 0:
                self.write(rng, path)
            case 1:
                self.write(rng, f"/new{rng.randrange(100)}")
            case 2:
                self.pages[path] = None
            case 3:
                self.points.pop(path, None)
            case 4:
                own.reverse()
            case 5 if own:
                own[0] = {**own[0], **rng.choice([{"title": "Another"}, {"text": CAMERA}, {"token_count": 7}])}
            case _:
                self.pages[path] = html(paragraphs(rng.choice(SENTENCES)))


@dataclass
class Runs:
    """Runs over a site, each in a folder of its own, and their history."""

    folder: Path
    count: int = 0

    @property
    def base(self) -> UPath:
        return UPath(self.folder / "reports")

    def run(self, world: Site, *, is_full: bool = False) -> tuple[dict[str, bytes], int]:
        """The files of a run by name, and how many units it computed."""
        self.count += 1
        work = self.folder / f"work{self.count}"
        earlier = None if is_full else find_earlier(self.base, UPath(work / "earlier"))
        copies = self._copies(work, world, earlier)
        payloads = [payload for path in world.points for payload in world.points[path]]
        facts = make_facts(
            snapshot_of(work, world.pages, *payloads), copies, folder=UPath(work / "facts"), kept_uri="",
            run_id="r", earlier=earlier, leaves=KeysManifest(run_id="r", staged_uri=str(work / "kept")),
        )  # fmt: skip
        names = [
            f"{kind}/{part.name}"
            for kind, held in (("pages", copies.manifest), ("facts", facts))
            for part in held.parts
        ]
        assert facts.kept is not None
        run = self.folder / "reports" / f"20261129T1200{self.count:02d}Z-{self.count:08d}"
        for name in [*names, *(f"kept/{part.name}" for part in facts.kept.parts)]:
            (run / "evidence" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(work / name, run / "evidence" / name)
        (run / "validation_report.json").write_text("{}")
        return {name: (work / name).read_bytes() for name in names}, facts.units - facts.reused

    def newest(self, name: str) -> Path:
        """A file of the newest run's evidence."""
        return max((self.folder / "reports").iterdir()) / "evidence" / name

    def _copies(self, work: Path, world: Site, earlier: Earlier | None) -> PageCopies:
        root = work / "site"
        for path, text in world.pages.items():
            root.mkdir(parents=True, exist_ok=True)
            if text is not None:
                (root / f"{path.strip('/')}.html").write_text(text, encoding="utf-8")
        inventory = site(*world.pages)
        reader = PageReader(site_root=root, base_path=None, fetcher=None, folder=inventory.folder())
        manifest = take_copies(
            inventory, reader, max_pages=100, folder=UPath(work / "pages"), kept_uri="", run_id="r",
            earlier=earlier,
        )  # fmt: skip
        return PageCopies(manifest)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Runs over a small site of several buckets."""
    monkeypatch.setattr(point_writer, "POINTS_PER_BUCKET", 16)
    monkeypatch.setattr(page_writer, "PAGES_PER_BUCKET", 4)
    return Runs(tmp_path)


def edited_at_random(runs: Runs, seed: int, *, pages: int, rounds: int) -> None:
    rng = random.Random(seed)
    world = Site.drawn(rng, pages)
    runs.run(world)
    for _ in range(rounds):
        for _ in range(rng.randint(0, 3)):
            world.edit(rng)
        found, _ = runs.run(world)
        assert found == runs.run(world, is_full=True)[0]


def test_after_random_edits_the_files_are_those_of_a_whole_run(runs: Runs) -> None:
    edited_at_random(runs, 1, pages=8, rounds=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_after_many_random_edits_the_files_are_those_of_a_whole_run(runs: Runs, seed: int) -> None:
    edited_at_random(runs, seed, pages=6 + 4 * seed, rounds=4)


def test_only_what_has_changed_is_computed(runs: Runs) -> None:
    rng = random.Random(4)
    world = Site.drawn(rng, 8)
    _, first = runs.run(world)
    assert first == 11  # pages, the other page, and two points without one
    assert runs.run(world)[1] == 0
    world.write(rng, "/p3")
    assert runs.run(world)[1] == 1


def _damaged(runs: Runs, name: str) -> None:
    file = runs.newest(name)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda runs: _damaged(runs, "facts/chunks-00000.parquet"), "is damaged"),
        (lambda runs: _damaged(runs, "kept/facts.parquet"), "is damaged"),
        (lambda runs: runs.newest("facts/pages-00001.parquet").unlink(), "No such file"),
        (lambda runs: runs.newest("kept/kept.json").write_text("{"), "kept.json is damaged"),
    ],
)
def test_damaged_or_missing_files_are_not_read(
    runs: Runs, caplog: pytest.LogCaptureFixture, spoil: Callable[[Runs], None], told: str
) -> None:
    world = Site.drawn(random.Random(5), 6)
    first, units = runs.run(world)
    spoil(runs)
    again, computed = runs.run(world)
    assert (again, computed) == (first, units)
    assert told in caplog.text


def test_facts_of_other_code_are_not_read(
    runs: Runs, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = Site.drawn(random.Random(6), 6)
    _, units = runs.run(world)
    monkeypatch.setattr(evidence, "code_identity", lambda: "another")
    caplog.set_level("INFO")
    assert runs.run(world)[1] == units
    assert "another version of ragval" in caplog.text


def test_a_run_that_was_killed_while_it_wrote_is_not_read(runs: Runs) -> None:
    world = Site.drawn(random.Random(7), 4)
    runs.run(world)
    runs.run(world)
    runs.newest("").parent.joinpath("validation_report.json").unlink()
    shutil.rmtree(runs.newest("facts"))
    assert runs.run(world)[1] == 0


def test_an_earlier_run_may_be_removed_while_it_is_read(runs: Runs) -> None:
    world = Site.drawn(random.Random(8), 4)
    runs.run(world)
    earlier = find_earlier(runs.base, UPath(runs.folder / "near"))
    assert earlier is not None
    near = [earlier.bring(kind) for kind in ("kept", "pages", "facts")]
    shutil.rmtree(runs.newest("").parent)
    assert all(folder is not None and any(folder.iterdir()) for folder in near)
