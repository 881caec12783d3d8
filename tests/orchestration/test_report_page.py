"""The summary on the page of ``validation_report`` is as short as Dagster's UI shows in place."""

from __future__ import annotations

import pytest

from ragval_pipeline.orchestration.report_page import beginning_of


def shown(text: str) -> bool:
    """What the UI decides by: the length of a string in JavaScript."""
    return len(text.encode("utf-16-le")) // 2 < 1_000


@pytest.mark.parametrize("line", ["- a line of the summary", "- \U0001f534 **1 page** lost from the index"])
@pytest.mark.parametrize("longer", range(0, 60, 7))
def test_a_long_summary_begins_with_whole_lines_and_is_shown_in_place(line: str, longer: int) -> None:
    lines = ["x" * longer, *[line] * 100]
    beginning = beginning_of("\n".join(lines))
    kept, _, rest = beginning.rpartition("\n\n")
    assert rest == "The report has the rest."
    assert kept.split("\n") == lines[: kept.count("\n") + 1]
    assert shown(beginning)
    assert not shown(f"{kept}\n{line}\n\n{rest}")


def test_a_short_summary_is_shown_as_it_is() -> None:
    assert beginning_of("x" * 999) == "x" * 999
    assert beginning_of("x" * 1_000) != "x" * 1_000
