"""What a simulated repair is said to clear is what making the repair clears, or less where it is not sure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ragval_pipeline.testing.defects import Corpus, find_defect
from ragval_pipeline.testing.defects.store import StoredPoint


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


def test_a_query_that_fails_until_two_defects_are_mended_follows_from_both(
    corpus: Corpus, validate: Callable[[Corpus], Any], without_gx: None
):
    """Its page has no vectors, and pages that the site has not rank where it would."""
    query = next(query for query in corpus.queries if query.get("relevant_urls"))
    url = corpus.fields["source_url"]
    (page,) = query["relevant_urls"]
    own = [point for point in corpus.points if page in point.payload[url]]
    for number in range(6):
        for point in own:
            payload = {**point.payload, url: f"{point.payload[url]}-{number}"}
            corpus.points.append(StoredPoint(10_000 + len(corpus.points), payload, point.vector))
    for point in own:
        point.vector = [0.0] * corpus.space.size
    failed = named(validate(corpus).report, "query.failed")
    told = failed.details["subjects"][query["id"]]
    assert {told["because"], *told["together_with"]} == {"vector.zero", "coverage.orphan_page"}
    assert told["simulated"]
    for wrong in ("vector.zero", "coverage.orphan_page"):
        assert wrong in failed.remedy
