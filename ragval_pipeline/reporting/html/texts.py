"""Chunks beside their page: what is only in the one, and what is only on the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragval_pipeline.reporting.files.bundle import ReportBundle
from ragval_pipeline.reporting.subjects import Subjects

#: Chunks that are shown, and differences of each; ``evidence/integrity_examples.json`` holds more.
MOST_DIFFS = 10
MOST_LINES = 10

#: A stretch of text and its kind: ``same``, ``index`` (only in the chunk), ``page`` (only on the page).
Segment = tuple[str, str]


@dataclass(frozen=True)
class DiffLine:
    """One difference with the text around it: as the chunk has it, and as the page has it."""

    chunk: list[Segment]
    page: list[Segment]


@dataclass(frozen=True)
class TextDiff:
    """One chunk that differs from its page.

    Attributes:
        point_id: The chunk.
        name: What people know it by.
        page_url: The page it says it is from.
        share: Fraction of its letters that stand on the page.
        lines: The differences that are shown.
        more: Differences that are not.
    """

    point_id: str
    name: str
    page_url: str
    share: float
    lines: list[DiffLine]
    more: int


def text_diffs(bundle: ReportBundle, subjects: Subjects) -> list[TextDiff]:
    """The chunks that differ most from their page, at most ``MOST_DIFFS``."""
    examples = bundle.extras.get("integrity_examples.json") or []
    found = []
    for example in examples[:MOST_DIFFS]:
        lines = list(_lines([(str(kind), str(text)) for kind, text in example["segments"]]))
        found.append(
            TextDiff(
                point_id=str(example["point_id"]),
                name=subjects.point(str(example["point_id"])),
                page_url=str(example["page_url"]),
                share=float(example["coverage"]),
                lines=lines[:MOST_LINES],
                more=len(lines) - len(lines[:MOST_LINES]),
            )
        )
    return found


def _lines(segments: Sequence[Segment]) -> Iterator[DiffLine]:
    """Stretches between what is left out, each as the chunk and as the page has it."""
    line: list[Segment] = []
    for kind, text in [*segments, ("skipped", "")]:
        if kind != "skipped":
            line.append((kind, text))
            continue
        if any(kind != "same" for kind, _ in line):
            yield DiffLine([part for part in line if part[0] != "page"], [part for part in line if part[0] != "index"])
        line = []
