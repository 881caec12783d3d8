"""The page on report.html names limits and pictures that are there."""

from __future__ import annotations

import re
from pathlib import Path

from ragval_pipeline.findings.model import REPORTED_SUBJECTS
from ragval_pipeline.reporting.html.findings import MOST_CARDS
from ragval_pipeline.reporting.html.questions import MOST_HITS, MOST_ROWS
from ragval_pipeline.reporting.html.runs import MOST_RUNS

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "reading-the-report.md"


def test_every_picture_is_there_and_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert len(pictures) == len(set(pictures)) == 4
    assert all(0 < (PAGE.parent / name).stat().st_size < 200_000 for name in pictures)


def test_the_limits_are_those_of_the_code() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"at most {MOST_ROWS:,} queries and {MOST_HITS:,} hits" in text
    assert f"{MOST_CARDS} findings in full and {REPORTED_SUBJECTS} subjects of each" in text
    assert f"over the last {MOST_RUNS} runs" in text
