"""The page on report.html names limits and pictures that are there."""

from __future__ import annotations

from pathlib import Path

from ragval_pipeline.findings.model import REPORTED_SUBJECTS
from ragval_pipeline.reporting.html.findings import MOST_CARDS
from ragval_pipeline.reporting.html.plots import MOST_RUNS
from ragval_pipeline.reporting.html.questions import MOST_HITS, MOST_ROWS

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "reading-the-report.md"


def test_the_limits_are_those_of_the_code() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"at most {MOST_ROWS:,} queries and {MOST_HITS:,} hits" in text
    assert f"{MOST_CARDS} findings in full and {REPORTED_SUBJECTS} subjects of each" in text
    assert f"over the last {MOST_RUNS} runs" in text
