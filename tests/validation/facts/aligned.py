"""A page, and a chunk's text aligned with it. Not a test."""

from __future__ import annotations

from ragval_pipeline.text.grams import runs_of
from ragval_pipeline.validation.facts.align import Alignment, align
from ragval_pipeline.validation.facts.page import Searched
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER

PAGE = f"Using the arm\n{GRIPPER}\n{CAMERA}\n{BATTERY}"


def match(text: str, page: str = PAGE, **given: list[str]) -> Alignment:
    return align(text, Searched(page), **given)


def missing(found: Alignment) -> list[str]:
    return [found.text.between(*run) for run in runs_of(~found.found)]
