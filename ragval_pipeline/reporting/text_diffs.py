"""Chunk text against page, as the report's page shows it.

What lives here: reading the examples that the integrity check kept as evidence. What does not: comparing texts
(``validation/integrity``).
"""

from __future__ import annotations

from dataclasses import dataclass

from ragval_pipeline.reporting.bundle import ReportBundle

#: Chunks shown; ``evidence/integrity_examples.json`` holds more.
MOST_DIFFS = 12


@dataclass(frozen=True)
class TextDiff:
    """One chunk that differs from its page.

    Args:
        point_id: The chunk.
        page_url: The page it says it is from.
        share: Fraction of its letters that stand on the page.
        segments: (kind, text): ``same``, ``index`` (only in the chunk), ``page`` (only on the page), ``skipped``.
    """

    point_id: str
    page_url: str
    share: float
    segments: list[tuple[str, str]]


def text_diffs(bundle: ReportBundle) -> list[TextDiff]:
    """The chunks that differ most from their page, at most ``MOST_DIFFS``."""
    examples = bundle.extras.get("integrity_examples.json") or []
    return [
        TextDiff(
            point_id=str(example["point_id"]),
            page_url=str(example["page_url"]),
            share=float(example["coverage"]),
            segments=[(str(kind), str(text)) for kind, text in example["segments"]],
        )
        for example in examples[:MOST_DIFFS]
    ]
