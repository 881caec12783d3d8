"""Random small indexes, spoilt in several ways at once: no plan deletes a sentence of the site that is stored."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ragval_pipeline.validation.chunks.differences import find_differences
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.repair.proof import Proof
from ragval_pipeline.validation.repair.remedies import Listing, names_to_look_up, plan_remedies
from ragval_pipeline.validation.repair.stored import lookup_of
from tests.validation.chunks.world import paragraphs, record
from tests.validation.factory import site
from tests.validation.rows import evidence_of, rows

WORDS = (
    "arm", "base", "cable", "drive", "edge", "frame", "grip", "hinge",
    "inlet", "joint", "knob", "lever", "motor", "nozzle", "outlet", "plate",
)  # fmt: skip
PAGES = ("/a", "/b", "/c")


def sentence(rng: random.Random, number: int) -> str:
    return f"The {' '.join(rng.choices(WORDS, k=9))} {number} is checked by hand."


def ingested(rng: random.Random, page: str, sentences: list[str]) -> list[dict[str, Any]]:
    """The chunks of a page: windows of one size, with or without overlap, numbers and times."""
    size = rng.randint(1, 3)
    step, dated = rng.randint(1, size), rng.choice([None, "2026-01-01", "2026-03-01"])
    cut = [" ".join(sentences[at : at + size]) for at in range(0, len(sentences), step)]
    numbered = rng.random() < 0.7
    return [
        {"source_url": page, "text": text, "embedded_at": dated} | ({"chunk_index": at} if numbered else {})
        for at, text in enumerate(cut)
    ]


def spoilt(rng: random.Random, points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some points lost, copied, changed, stored under another page, or renumbered."""
    kept = [point for point in points if rng.random() > 0.1]
    for point in kept:
        match rng.randrange(12):
            case 0:
                words = point["text"].split()
                point["text"] = " ".join([*words[: len(words) // 2], "formerly", *words[len(words) // 2 + 3 :]])
            case 1:
                point["source_url"] = rng.choice([*PAGES, "/old"])
            case 2:
                point["chunk_index"] = rng.randint(0, 3)
    return [*kept, *({**point} for point in kept if rng.random() < 0.1)]


#: In the last two, only a page with a few words in common has a text that another page lacks.
@pytest.mark.parametrize("seed", [*range(12), 153, 238])
def test_no_sentence_of_the_site_that_is_stored_is_deleted(seed: int):
    rng = random.Random(seed)
    text = {page: [sentence(rng, 10 * at + part) for part in range(rng.randint(2, 6))] for at, page in enumerate(PAGES)}
    pages = [page for page in PAGES for _ in range(rng.choice([1, 1, 2]))]
    stored = rows(*spoilt(rng, [point for page in pages for point in ingested(rng, page, text[page])]), pages=PAGES)
    rng.shuffle(stored)
    evidence = evidence_of(stored, [record(paragraphs(*text[page]), page=page) for page in PAGES])
    compared = evidence.compared
    findings = [*find_all(evidence), *find_differences(compared)]
    moved = frozenset(name for names in compared.moved.values() for name in names)
    lookup = lookup_of(stored, names_to_look_up(findings))
    plan = plan_remedies(
        findings, Listing(site(*PAGES).scope_urls), lookup, Proof(evidence.facts, moved=moved).unproven
    )

    def held(points: list[dict[str, Any]]) -> set[str]:
        return {each for own in text.values() for each in own if any(each in point["text"] for point in points)}

    left = [point for point in stored if point["point_id"] not in plan.delete]
    assert held(stored) - held(left) == set()
