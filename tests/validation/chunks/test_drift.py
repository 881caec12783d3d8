"""What most of the texts that differ from their pages have in common."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, VISITORS, html, measured, paragraphs, point

TEXTS = (GRIPPER, CAMERA, BATTERY, VISITORS)
GERMAN = (
    "Der Motor am Ende des Arms wird nach jeder Kollision geprüft und der Befund in das rote Buch eingetragen.",
    "Am Abend werden alle Akkus in den Schrank im Erdgeschoss gelegt, dessen Schlüssel beim Meister im Regal liegt.",
    "Besucher tragen gelbe Helme und bleiben hinter der Linie auf dem Boden, solange sich die Geräte noch bewegen.",
)


def findings(folder: Path, texts: tuple[str, ...], stored: list[str]) -> dict[str, Finding]:
    pages: dict[str, str | None] = {f"/{at}": html(paragraphs(text)) for at, text in enumerate(texts)}
    points = [point(page, text) for page, text in zip(pages, stored, strict=True)]
    return {finding.code: finding for finding in measured(folder, pages, *points).findings}


def test_stop_words_that_were_removed_are_named_as_what_the_chunks_lack(tmp_path: Path) -> None:
    texts = tuple(f"{text} {TEXTS[at - 1]} {TEXTS[at - 2]}" for at, text in enumerate(TEXTS))
    stop = {"the", "and", "a", "in", "of", "by", "after", "with", "on", "that", "at", "from", "then", "it", "until"}
    stored = [" ".join(word for word in text.split() if word.lower() not in stop) for text in texts]
    drifted = findings(tmp_path, texts, stored)["integrity.drifted"]
    assert "removes frequent words (stop words)" in drifted.cause
    assert "“the”" in drifted.cause


@pytest.mark.parametrize("kept", [0.4, 0.7])
def test_text_of_the_page_before_is_carried_over(kept: float, tmp_path: Path) -> None:
    """Most of such a chunk is of its page, or of the one before."""
    texts = [f"{text} {TEXTS[at - 1][::2]}" for at, text in enumerate(TEXTS)]
    rests = [text[: round(len(text) * kept)] for text in texts]
    stored = [texts[0], *(f"{rest} {text}" for rest, text in zip(rests, texts[1:], strict=False))]
    found = findings(tmp_path, tuple(texts), stored)
    assert found["integrity.drifted"].count == 3
    assert "with some of https://docs.example.com/0" in found["integrity.drifted"].cause
    assert "the chunker carries text over" in found["integrity.drifted"].cause
    assert "starts with nothing left" in found["integrity.drifted"].remedy


def bare(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


@pytest.mark.parametrize("reduced", [bare, lambda text: text.encode("ascii", "ignore").decode()])
def test_letters_outside_ascii_are_lost_or_without_their_marks(reduced, tmp_path: Path) -> None:
    cause = findings(tmp_path / "some", GERMAN, list(map(reduced, GERMAN)))["integrity.drifted"].cause
    assert f"“{reduced('geprüft')}” should read “geprüft”" in cause
    other = [reduced(text).replace(" de", " ke") for text in GERMAN]
    found = findings(tmp_path / "other", GERMAN, other)["integrity.drifted"]
    assert found.cause == CATALOGUE["integrity.drifted"].cause
