"""A site whose chunks are measured, and what is found. Not a test."""

from __future__ import annotations

from typing import Any

from tests.validation.integrity.world import (
    BATTERY,
    CAMERA,
    GRIPPER,
    VISITORS,
    html,
    paragraphs,
    point,
)

PAGES: dict[str, str | None] = {
    "/a": html(paragraphs(GRIPPER, CAMERA)),
    "/b": html(paragraphs(BATTERY)),
    "/c": html(paragraphs(VISITORS)),
}


POINTS = (point("/a", GRIPPER, 0), point("/a", CAMERA, 1), point("/b", BATTERY), point("/c", VISITORS))


def changed(*at: int, to: dict[int, str]) -> list[dict[str, Any]]:
    return [{**entry, "text": to.get(number, entry["text"])} for number, entry in enumerate(POINTS)]


def codes(found: Any) -> set[str]:
    return {finding.code for finding in found.findings}


def detail(found: Any, code: str) -> dict[str, Any]:
    return dict(next(finding for finding in found.findings if finding.code == code).subjects[0].details)
