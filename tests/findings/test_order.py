"""What costs the reader most comes first, and every cause before what follows from it."""

from __future__ import annotations

import random

import pytest

from ragval_pipeline.findings.factory import Totals, order_findings, with_shares
from ragval_pipeline.findings.model import Finding
from tests.findings.linking import finding, linked, page, point, query


def codes(*findings: Finding) -> list[str]:
    return [entry.code for entry in order_findings(linked(*findings))]


@pytest.mark.parametrize(
    ("made", "share"),
    [
        (finding("coverage.missing_page", page("/a"), page("/b")), 2 / 20),
        (finding("integrity.not_captured", page("/a", extent=0.38)), 0.38 / 20),
        (finding("vector.zero", point("1")), 1 / 200),
        (finding("query.failed", query("q")), 1 / 10),
        (finding("coverage.foreign_host", page("h", pages=("/a", "/b"))), 2 / 20),
        (finding("vector.model_mismatch", "docs"), 1.0),
        (finding("regression.significant_drop", query("ndcg", queries=("q", "r"))), 2 / 10),
        (finding("query.unreachable_gate", "precision_at_5"), 0.0),
        (finding("vector.mixed_models", point("1"), looked_at=4), 1 / 4),
    ],
    ids=lambda value: value.code if isinstance(value, Finding) else "",
)
def test_a_finding_costs_the_share_of_pages_points_or_queries_that_it_affects(made: Finding, share: float):
    [shared] = with_shares([made], Totals(pages=20, points=200, queries=10))
    assert shared.share == pytest.approx(share)
    assert shared.reported().details["share"] == pytest.approx(share)


def test_much_lost_content_comes_before_some_changed_chunks_and_errors_before_warnings():
    lost = finding("integrity.not_captured", *(page(f"/{number}", extent=0.38) for number in range(100)))
    drifted = finding("integrity.drifted", *(point(str(number), "/x") for number in range(15)))
    optional = finding("payload.empty_field", *(point(f"e{number}", "/y", extent=1 / 7) for number in range(90)))
    limit = finding("chunk.over_model_limit", *(point(f"o{number}", "/z") for number in range(100)))
    assert codes(limit, optional, drifted, lost) == [
        "integrity.not_captured", "integrity.drifted", "payload.empty_field", "chunk.over_model_limit",
    ]  # fmt: skip


def test_a_few_foreign_words_in_every_chunk_come_after_chunks_that_lose_half_of_their_text():
    frame = finding("text.boilerplate", *(point(str(number), extent=0.01) for number in range(100)))
    limit = finding("chunk.over_model_limit", *(point(str(number), extent=0.5) for number in range(10)))
    assert codes(frame, limit) == ["chunk.over_model_limit", "text.boilerplate"]


def test_a_warning_comes_right_before_the_error_that_it_explains_and_after_all_other_errors():
    zero = finding("vector.zero", point("9", "/z"))
    twice = finding("chunk.duplicate_index", point("1"), point("2"))
    variant = finding("coverage.url_variant", page("/a"))
    limit = finding("chunk.over_model_limit", *(point(str(number), "/l") for number in range(9)))
    assert codes(zero, twice, variant, limit) == [
        "vector.zero", "coverage.url_variant", "chunk.duplicate_index", "chunk.over_model_limit",
    ]  # fmt: skip


def test_a_cause_of_some_subjects_comes_first_too():
    failed = finding("query.failed", query("q1", "/a"), query("q2", "/b"))
    assert codes(failed, finding("retrieval.dark_page", page("/a"))) == ["retrieval.dark_page", "query.failed"]


def test_what_follows_from_one_cause_comes_right_after_it():
    missing = finding("coverage.missing_page", page("/a"))
    failed, lost = finding("query.failed", query("q", "/a")), finding("regression.query_lost", query("q"))
    other = finding("payload.missing_field", *(point(str(number), "/z") for number in range(50)))
    assert codes(lost, failed, other, missing) == [
        "payload.missing_field", "coverage.missing_page", "query.failed", "regression.query_lost",
    ]  # fmt: skip


def test_in_any_order_of_arrival_every_cause_comes_first_and_nothing_gets_lost():
    found = linked(
        finding("coverage.foreign_host", page("h", pages=("/a",))),
        finding("coverage.missing_page", page("/a"), page("/b")),
        finding("query.failed", query("q1", "/a"), query("q2", "/c")),
        finding("text.mojibake", point("1", "/c")),
        finding("retrieval.dark_page", page("/c")),
        finding("integrity.not_captured", page("/c")),
        finding("regression.query_lost", query("q1"), query("q2")),
        *(finding("payload.empty_field", point("7", "/z", fields=(name,)), scope=name) for name in ("a", "b")),
    )
    expected = [(entry.code, entry.scope) for entry in order_findings(found)]
    for seed in range(20):
        shuffled = random.Random(seed).sample(found, len(found))
        ordered = order_findings(shuffled)
        assert [(entry.code, entry.scope) for entry in ordered] == expected
        places = {entry.code: place for place, entry in enumerate(ordered)}
        for entry in ordered:
            for subject in entry.subjects:
                assert places[subject.details.get("because", entry.code)] <= places[entry.code]
