"""What a simulated repair is said to clear is what making the repair clears, or less where it is not sure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ragval_pipeline.testing.defects import Corpus, find_defect


def named(report: Any, code: str) -> Any:
    return next((finding for finding in report.findings if finding.code == code), None)


@pytest.mark.parametrize("name", ["coverage.missing_page", "vector.swapped", "text.glued_words"])
def test_of_queries_that_fail_for_two_reasons_those_are_cleared_that_do_not_fail_without_the_defect(
    name: str, corpus: Corpus, validate: Callable[[Corpus], Any], without_gx: None
):
    wrong = find_defect("query.failed").plant_in(corpus).subjects
    defect = find_defect(name)
    defect.plant_in(corpus, defect.amounts[-1])
    report = validate(corpus).report
    failed = named(report, "query.failed")
    told = named(report, defect.code).details["would_clear"]["query.failed"]
    cleared, right = set(told["cleared"]), set(failed.subjects) - wrong
    assert told["of"] == failed.count
    # How an ingestion would cut a missing page is not known.
    assert cleared <= right and 2 * len(cleared) > len(right) if name == "coverage.missing_page" else cleared == right
    assert cleared
    assert wrong <= set(failed.subjects)
    links = {
        name: (details.get("because"), details.get("simulated")) for name, details in failed.details["subjects"].items()
    }
    # What the simulation is not sure of is neither claimed nor refuted: it follows by what the findings share.
    assert {name for name, link in links.items() if link == (defect.code, True)} == cleared
    assert {name for name, link in links.items() if link == (None, None)} == wrong
    assert all(links[name] == (defect.code, None) for name in right - cleared)
    assert failed.because is None
