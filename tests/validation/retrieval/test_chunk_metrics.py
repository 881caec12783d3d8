from __future__ import annotations

from typing import Any

import ir_measures
import pytest

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.validation.report import MetricValue
from ragval_pipeline.validation.retrieval.measure import measure_retrieval
from ragval_pipeline.validation.retrieval.metrics import chunk_metrics, expected_ids
from tests.validation.factory import SITE, answer, page_hits, query, settings

MD5 = "0123456789abcdef0123456789abcdef"
DASHED = "01234567-89ab-cdef-0123-456789abcdef"


def measured(*pairs: tuple[Any, Answer], **changes: Any) -> dict[str, MetricValue]:
    return chunk_metrics(
        [entry for entry, _ in pairs], {entry.id: given for entry, given in pairs}, settings(**changes)
    )


ON_A = query(id="q1", relevant_urls=[f"{SITE}/a"])


def test_precision_on_chunks_is_the_share_that_is_on_a_relevant_page() -> None:
    """Three chunks of the right page are one page of five, and three chunks of five."""
    found = measured((ON_A, answer("q1", *page_hits("/a", "/a", "/a", "/b", "/b"))))
    assert found["precision_at_3"] == MetricValue(value=1.0, n=1, ceiling=1.0)
    assert found["precision_at_5"].value == pytest.approx(0.6)
    assert found["hit_at_3"].value == 1.0
    assert found["mrr"].value == 1.0
    assert found["judged_at_5"].value == pytest.approx(0.6)


def test_missing_ranks_are_misses_and_an_answer_without_hits_counts() -> None:
    found = measured(
        (ON_A, answer("q1", *page_hits("/b", "/a"))), (query(id="q2", relevant_urls=[f"{SITE}/a"]), answer("q2"))
    )
    assert found["precision_at_5"] == MetricValue(value=0.1, n=2, ceiling=1.0)
    assert found["mrr"].value == pytest.approx(0.25)
    assert found["hit_at_3"].value == 0.5


def test_recall_and_ndcg_need_the_ids_of_the_relevant_chunks() -> None:
    assert not any(
        name.startswith(("recall", "ndcg", "map")) for name in measured((ON_A, answer("q1", *page_hits("/a"))))
    )
    named = query(id="q1", expected_results=[{"id": 2}, {"id": 9}])
    found = measured((named, answer("q1", *page_hits("/a", "/b", "/c"))))
    assert found["recall_at_3"] == MetricValue(value=0.5, n=1, ceiling=1.0)
    assert found["precision_at_3"] == MetricValue(value=1 / 3, n=1, ceiling=2 / 3)
    qrels = [ir_measures.Qrel("q1", "2", 1), ir_measures.Qrel("q1", "9", 1)]
    run = [ir_measures.ScoredDoc("q1", str(rank), -float(rank)) for rank in (1, 2, 3)]
    [expected] = ir_measures.calc_aggregate([ir_measures.nDCG @ 3], qrels, run).values()
    assert found["ndcg_at_3"].value == pytest.approx(expected, abs=1e-9)


def test_ids_are_compared_in_their_canonical_form() -> None:
    named = query(id="q1", expected_results=[{"id": MD5.upper()}])
    assert expected_ids(named) == [DASHED]
    hits = [hit.__class__(1, DASHED, hit.score, hit.payload) for hit in page_hits("/a")]
    assert measured((named, answer("q1", *hits)))["recall_at_3"].value == 1.0


def test_a_result_that_states_no_id_names_no_chunk() -> None:
    assert expected_ids(query(id="q1", expected_results=[{"id": 1}, {"text": "x"}])) == []
    assert measured((query(id="q1", expected_results=[{"text": "x"}]), answer("q1", *page_hits("/a")))) == {}


def test_negative_failed_and_unjudged_queries_are_left_out() -> None:
    failed = query(id="q2", relevant_urls=[f"{SITE}/a"])
    found = measured(
        (ON_A, answer("q1", *page_hits("/a"))),
        (failed, Answer("q2", error="Qdrant: refused")),
        (query(id="q3", negative=True), answer("q3", *page_hits("/a"))),
        (query(id="q4"), answer("q4", *page_hits("/a"))),
    )
    assert found["hit_at_3"] == MetricValue(value=1.0, n=1, ceiling=1.0)
    assert measured((query(id="q4"), answer("q4", *page_hits("/a")))) == {}


def test_ranks_beyond_top_k_are_not_looked_at() -> None:
    found = measured((ON_A, answer("q1", *page_hits("/a"))), top_k=3)
    assert "precision_at_3" in found
    assert "precision_at_5" not in found


def test_an_acceptable_page_counts_as_relevant_and_a_page_judged_0_does_not() -> None:
    acceptable = query(id="q1", relevant_urls=[f"{SITE}/a"], acceptable_urls=[f"{SITE}/b"])
    assert measured((acceptable, answer("q1", *page_hits("/b"))))["hit_at_3"].value == 1.0
    judged = query(id="q1", relevant_urls=[f"{SITE}/a"]).model_copy(update={"judgements": {f"{SITE}/b": 0}})
    found = measured((judged, answer("q1", *page_hits("/b"))))
    assert (found["hit_at_3"].value, found["judged_at_3"].value) == (0.0, 1.0)


def test_they_stand_beside_the_page_metrics_in_the_report() -> None:
    answers = [answer("q1", *page_hits("/a", "/a", "/b"))]
    section = measure_retrieval([ON_A], answers, settings()).sections["retrieval_metrics"]
    assert section["page"]["precision_at_3"]["value"] == pytest.approx(1 / 3)
    assert section["chunk"]["precision_at_3"]["value"] == pytest.approx(2 / 3)
