"""Random worlds: the facts of small indexes, in combinations that no real index has. Not a test."""

from __future__ import annotations

import random

from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.facts.bucket import BucketFacts
from ragval_pipeline.validation.facts.texts import Stray, TextFacts
from tests.support.held import HeldFacts, held_points
from tests.validation.factory import NOW, SITE


def chunks_of_a_world(seed: int) -> ChunkEvidence:
    """Some texts with random facts."""
    draw = random.Random(seed)
    pages = [None, *(f"{SITE}/p{number}" for number in range(draw.randint(1, 5)))]
    habit = draw.random()  # how often a hash is right
    found = [_text(draw, number, draw.choice(pages), habit) for number in range(draw.randint(0, 25))]
    draw.shuffle(found)
    required = frozenset({"text"} if draw.random() < 0.5 else ())
    return ChunkEvidence(HeldFacts(BucketFacts((), tuple(found), ())), held_points([]), NOW, required=required)


def _text(draw: random.Random, number: int, page: str | None, habit: float) -> TextFacts:
    stored = draw.choice([None, "", "h1", "h2", f"h{number}", f"h{number}"])
    right = bool(stored) and draw.random() < habit**0.1
    return TextFacts(
        f"{number:03}",
        page,
        page if draw.random() < 0.9 else None,
        compared=page is not None,
        letters=draw.choice([0, 1, 10, 40, 400]),
        digest=draw.choice([None, 1, 2, number]),
        blank=draw.random() < 0.2,
        body=draw.choice([0.0, 2.5, 7.5, 39.5, 40.0, 41.0, 400.0]),
        excerpt=draw.choice(["", "See above.", "机器人"]),
        strays=tuple(
            Stray(draw.choice(["U+200B", "U+FEFF", "U+00AD"]), draw.randint(1, 3), draw.choice(["text", "headings"]))
            for _ in range(draw.choice([0, 0, 0, 1, 2, 4]))
        ),
        stored_hash=stored,
        hashed_as=draw.choice(["sha256 of the text", "md5 of the text"]) if right else None,
    )
