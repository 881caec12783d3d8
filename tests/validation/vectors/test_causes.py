"""What wrong vectors lead to is told as their consequence."""

from __future__ import annotations

import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.validation.causes import link_consequences

FAILED = make_finding("query.failed", [Subject(name="q1", details={"expected_pages": ["/a"]})])
HUB = make_finding("retrieval.hub_chunk", [Subject(name="p9", page="/z")])
UNFIT = make_finding("query.threshold_unfit", ["0.7"])


def because(*findings: object) -> dict[str, str | None]:
    linked = link_consequences(findings, page_modules={})  # type: ignore[arg-type]
    return {finding.code: finding.because for finding in linked}


@pytest.mark.parametrize("code", ["vector.zero", "vector.missing", "vector.swapped", "vector.identical"])
def test_a_wrong_vector_explains_the_queries_of_its_page(code: str) -> None:
    cause = make_finding(code, [Subject(name="p1", page="/a")], details={"share": 0.001})
    assert because(FAILED, cause)["query.failed"] == code
    elsewhere = make_finding(code, [Subject(name="p1", page="/b")], details={"share": 0.001})
    assert because(FAILED, elsewhere)["query.failed"] is None


@pytest.mark.parametrize("code", ["vector.zero", "vector.mixed_models", "vector.swapped"])
def test_many_wrong_vectors_explain_what_is_found_in_their_place(code: str) -> None:
    cause = make_finding(code, [Subject(name="p1", page="/b")], details={"share": 0.05})
    found = because(FAILED, HUB, UNFIT, cause)
    assert (found["query.failed"], found["retrieval.hub_chunk"], found["query.threshold_unfit"]) == (code,) * 3
    few = make_finding(code, [Subject(name="p1", page="/b")], details={"share": 0.049})
    assert set(because(FAILED, HUB, UNFIT, few).values()) == {None}


def test_another_model_for_all_explains_every_search() -> None:
    cause = make_finding("vector.model_mismatch", ["c"])
    assert because(FAILED, HUB, UNFIT, cause)["query.failed"] == "vector.model_mismatch"
    order = link_consequences([FAILED, cause], page_modules={})
    assert [finding.code for finding in order] == ["vector.model_mismatch", "query.failed"]
