"""What the lost passages of several pages say about their cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, VISITORS, html, measured, paragraphs, point

CODE = "arm.connect(port=3, speed=9600)\narm.move_to(shelf='left', slot=7)\narm.release(after_seconds=2)"
ROOMS = ("amber", "birch", "cedar", "dahlia")


def room(name: str, *parts: str) -> tuple[str, ...]:
    """Texts of a page of its own."""
    return tuple(part.replace("the", f"the {name}") for part in parts)


def not_captured(folder: Path, pages: dict[str, str | None], *points: dict[str, object]) -> Finding:
    [finding] = [entry for entry in measured(folder, pages, *points).findings if entry.code == "integrity.not_captured"]
    return finding


def test_one_kind_of_blocks_that_is_lost_everywhere_is_dropped_by_the_extraction(tmp_path: Path) -> None:
    texts = {f"/{name}": room(name, GRIPPER, CAMERA) for name in ROOMS}
    pages = {page: html(f"<p>{one}</p><pre>{CODE} # {page}</pre><p>{two}</p>") for page, (one, two) in texts.items()}
    found = not_captured(tmp_path, pages, *(point(page, " ".join(both)) for page, both in texts.items()))
    assert found.count == len(ROOMS)
    assert found.cause.startswith("The extraction drops code blocks")
    assert "keeps code blocks" in found.remedy
    pages |= {f"/{at}": html(paragraphs(text)) for at, text in enumerate((BATTERY, VISITORS))}
    wall = "Please sign in with the account of your company to read what is written here."
    walls = [point(page, wall) for page in ("/0", "/1")]
    both = not_captured(tmp_path / "both", pages, *walls, *(point(page, " ".join(own)) for page, own in texts.items()))
    assert both.count == len(ROOMS) + 2
    assert both.cause.startswith("On 4 of these pages, the extraction drops code blocks")


@pytest.mark.parametrize("kept", [True, False])
def test_a_kind_that_chunks_mostly_have_is_not_dropped(kept: bool, tmp_path: Path) -> None:
    texts = {f"/{name}": room(name, GRIPPER, CAMERA) for name in ROOMS}
    pages = {page: html(f"<p>{one}</p><pre>{CODE} # {page}</pre><p>{two}</p>") for page, (one, two) in texts.items()}
    more = {f"/{name}{number}": room(f"{name} {number}", BATTERY) for name in ROOMS for number in range(2)}
    pages |= {page: html(f"<pre>{CODE} # {page}</pre><p>{one}</p><p>{VISITORS}</p>") for page, (one,) in more.items()}
    stored = [point(page, " ".join(both)) for page, both in texts.items()]
    stored += [point(page, f"{CODE} # {page}" if kept else VISITORS) for page in more]
    assert not_captured(tmp_path, pages, *stored).cause.startswith("The extraction drops code blocks") is False


def test_passages_that_are_lost_only_between_chunks_may_be_lost_after_the_extraction(tmp_path: Path) -> None:
    texts = {f"/{name}": room(name, GRIPPER, CAMERA, BATTERY, VISITORS) for name in ROOMS}
    pages = {page: html(paragraphs(*parts)) for page, parts in texts.items()}
    between = [point(page, parts[at], at) for page, parts in texts.items() for at in (0, 2, 3)]
    found = not_captured(tmp_path / "between", pages, *between)
    assert found.cause.startswith("Nothing is missing within a chunk")
    assert "whether all points have ids of their own" in found.remedy
    within = [*between, point("/amber", f"{texts['/amber'][0]} {texts['/amber'][2]}", 4)]
    assert not_captured(tmp_path / "within", pages, *within).cause == CATALOGUE["integrity.not_captured"].cause
