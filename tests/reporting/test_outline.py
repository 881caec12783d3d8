from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace
from itertools import permutations

from rich.console import Console

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.graph import consequences_of
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.reporting.document import Criteria, run_document
from ragval_pipeline.reporting.files.summary_md import summary_md
from ragval_pipeline.reporting.headline import headline
from ragval_pipeline.reporting.outline import (
    following,
    own_first,
    reason_of,
    verdict_words,
    would_change,
)
from ragval_pipeline.reporting.terminal.summary import render_summary
from ragval_pipeline.suite.payload import CANONICAL_FIELDS
from ragval_pipeline.validation.query_report import HeldTo
from ragval_pipeline.validation.repair.first_steps import first_steps
from ragval_pipeline.validation.repair.tree import also_clears, finding_tree
from ragval_pipeline.validation.report import QualityMetrics
from tests.reporting import factory
from tests.reporting.factory import report_html


def steps_of(bundle):
    return first_steps(bundle.plan, bundle.report, finding_tree(bundle.report.findings))


def codes(nodes):
    return [(node.finding.code, codes(node.consequences)) for node in nodes]


def reported(*pairs):
    return [make_finding(code, ["x"]).model_copy(update={"because": because}).reported() for code, because in pairs]


def test_a_consequence_is_attached_to_its_cause_in_any_order():
    findings = reported(
        ("query.failed", "coverage.missing_page"), ("coverage.missing_page", "coverage.foreign_host"),
        ("coverage.foreign_host", None),
    )  # fmt: skip
    assert codes(finding_tree(findings)) == [
        ("coverage.foreign_host", [("coverage.missing_page", [("query.failed", [])])])
    ]


def weighing(code: str, severity: str, share: float, because: str | None = None, **details):
    found = make_finding(code, ["x"], details={"share": share, **details})
    return found.model_copy(update={"severity": severity, "because": because}).reported()


def test_a_warning_that_leads_to_the_costliest_error_is_shown_before_other_errors():
    boilerplate = weighing("text.boilerplate", "error", 0.01)
    split = weighing("chunk.one_per_page", "warning", 0.7)
    limit = weighing("chunk.over_model_limit", "error", 0.5, "chunk.one_per_page")
    stray = weighing("text.zero_width", "warning", 0.9)
    assert codes(finding_tree([boilerplate, split, limit, stray])) == [
        ("chunk.one_per_page", [("chunk.over_model_limit", [])]),
        ("text.boilerplate", []),
        ("text.zero_width", []),
    ]


def test_what_mostly_follows_from_a_cause_is_never_shown_before_it():
    orphan = weighing("coverage.orphan_page", "warning", 0.1)
    drifted = weighing("integrity.drifted", "error", 0.2)
    failed = weighing("query.failed", "error", 0.5, causes={"coverage.orphan_page": 1})
    for findings in permutations([drifted, orphan, failed]):
        assert codes(finding_tree(findings)) == [
            ("coverage.orphan_page", []), ("query.failed", []), ("integrity.drifted", []),
        ]  # fmt: skip


def test_a_cause_of_a_few_of_its_subjects_does_not_bring_a_trifle_before_the_costliest_error():
    trifle = weighing("text.glued_words", "warning", 0.01)
    lost = make_finding("integrity.not_captured", [f"/{n}" for n in range(49)], details={"share": 0.51})
    lost = lost.model_copy(update={"details": {**lost.details, "causes": {"text.glued_words": 2}}}).reported()
    other = weighing("vector.zero", "error", 0.01)
    for findings in permutations([trifle, lost, other]):
        assert [code for code, _ in codes(finding_tree(findings))] == [
            "integrity.not_captured", "text.glued_words", "vector.zero",
        ]  # fmt: skip


def test_no_finding_follows_from_itself():
    """So the tree of the findings has a root for each."""
    fields = (None, *CANONICAL_FIELDS)
    assert [code for code in CATALOGUE for field in fields if code in consequences_of(code, field)] == []


def test_first_steps_are_what_keeps_gates_from_being_met_then_errors_and_no_information():
    findings = [
        make_finding("query.no_coverage", ["capstone"]),
        make_finding("coverage.orphan_page", ["a"]),
        make_finding("coverage.missing_page", ["b"]),
        make_finding("query.failed", ["q1"]).model_copy(update={"because": "coverage.missing_page"}),
        make_finding("payload.empty_field", ["1"]),
        make_finding("payload.wrong_type", ["1"]),
    ]
    steps = steps_of(factory.bundle(factory.report(findings=findings)))
    assert [step.node.finding.code for step in steps] == [
        "coverage.missing_page", "payload.empty_field", "payload.wrong_type",
    ]  # fmt: skip
    missed = [factory.criterion("metadata_completeness", 0.9, 1.0, required=True)]
    steps = steps_of(factory.bundle(factory.report("fail", findings=findings, criteria=missed)))
    assert steps[0].node.finding.code == "payload.empty_field"
    assert [step.gates for step in steps] == [["metadata_completeness"], [], []]


def clearing(code, *names, of, **more):
    told = {"query.failed": {"cleared": list(names), "of": of}} if names else {}
    return make_finding(code, ["1"], details={"would_clear": told, **more})


def test_a_cause_whose_repair_clears_nothing_comes_after_those_that_clear_most_then_hold_for_most():
    failed = make_finding("query.failed", ["q1", "q2"]).model_copy(update={"because": "text.boilerplate"})
    missed = [factory.criterion("query_pass_rate", 0.5, 0.9, required=True)]
    vain = clearing("payload.empty_field", of=2)
    frame = clearing("text.boilerplate", "q1", of=2)
    gone = clearing("integrity.gone", "q1", "q2", of=2)
    report = factory.report("fail", findings=[frame, failed, vain, gone], criteria=missed)
    steps = steps_of(factory.bundle(report))
    assert [step.node.finding.code for step in steps] == ["integrity.gone", "text.boilerplate", "payload.empty_field"]
    assert steps[0].gates == ["query_pass_rate"]
    wide = [clearing("payload.empty_field", of=2, share=0.1), clearing("payload.wrong_type", of=2, share=0.9)]
    codes = [step.node.finding.code for step in steps_of(factory.bundle(factory.report(findings=wide)))]
    assert codes == ["payload.wrong_type", "payload.empty_field"]


def test_what_is_only_presumed_to_follow_keeps_its_own_advice():
    swapped = make_finding("vector.swapped", ["1", "2"])
    unfit = make_finding("query.threshold_unfit", ["0.7"]).model_copy(update={"because": "vector.swapped"})
    report = factory.report(findings=[swapped, unfit])
    assert also_clears(finding_tree(report.findings)[0]) == []
    assert [step.node.finding.code for step in steps_of(factory.bundle(report))] == [
        "vector.swapped",
        "query.threshold_unfit",
    ]


def test_a_pass_without_any_query_that_a_person_confirmed_says_so():
    draft = factory.query(
        "q1", "Other uses", 0.6, passed=None, given={"status": "draft"},
        held_to=HeldTo(top_k=5, conditions=[], min_similarity=None, module_match=None),
    )  # fmt: skip
    only = headline(factory.report(query_results=[draft]))
    assert only.endswith("required criteria. It says nothing about answers: its only test query is a draft.")
    sourceless = factory.criterion("coverage", None, None, required=False, reason_code="no_data")
    assert headline(factory.report(criteria=[sourceless])).endswith(
        " It says nothing about pages: the suite has no source."
    )
    beside = factory.report(query_results=[draft, factory.query("q2", "What is ROS 2?", 0.6)])
    assert headline(beside) == "This index meets all 3 required criteria."


def test_the_headline_says_of_failed_questions_what_all_of_them_have_in_common():
    criteria = [factory.criterion("query_pass_rate", 0.5, 0.9, required=True, numerator=2, denominator=4)]
    refused = factory.query("q1", "Very long", None, passed=None, status="error", failed_conditions=[])
    missed = factory.query("q2", "Other uses", 0.6, passed=False, failed_conditions=["url"])
    told = headline(factory.report("fail", criteria=criteria, query_results=[refused, missed]))
    assert told == "2 of 4 test questions fail."
    told = headline(factory.report("fail", criteria=criteria, query_results=[missed, missed]))
    assert told == "2 of 4 test questions do not find their page."
    answered = factory.query("q3", "Who won?", 0.6, passed=False, failed_conditions=["negative"])
    answered = answered.model_copy(update={"query": {**answered.query, "negative": True}})
    told = headline(factory.report("fail", criteria=criteria, query_results=[missed, answered]))
    assert told == "2 of 4 test questions fail."


def test_the_headline_speaks_of_the_sitemap_and_counts_no_addresses():
    criteria = [factory.criterion("error_findings", 1.0, 0.0, required=True)]
    finding = make_finding("source.empty", ["https://x.org/sitemap.xml"])
    told = headline(factory.report("fail", criteria=criteria, findings=[finding]))
    assert told.startswith("The sitemap lists no page in scope")


def test_the_headline_speaks_of_the_collection_and_counts_no_collections():
    criteria = [factory.criterion("error_findings", 1.0, 0.0, required=True)]
    finding = make_finding("vector.dimension", ["vectors"], message="768 and 1024")
    told = headline(factory.report("fail", criteria=criteria, findings=[finding]))
    assert told.startswith("The collection and the embedder differ in dimension or distance")


def test_the_headline_names_the_warning_that_errors_follow_from_instead_of_each_of_them():
    criteria = [factory.criterion("error_findings", 2.0, 0.0, required=True)]
    pages = [f"/docs/{name}" for name in "abc"]
    findings = [
        make_finding("coverage.stale_page", pages),
        make_finding("integrity.drifted", ["1", "2"]).model_copy(update={"because": "coverage.stale_page"}),
        make_finding("integrity.not_captured", pages[:1]).model_copy(update={"because": "coverage.stale_page"}),
        make_finding("vector.zero", ["7"]),
    ]
    told = headline(factory.report("fail", criteria=criteria, findings=findings))
    assert "3 pages changed after they were embedded" in told
    assert "1 chunk has a vector of zeros" in told
    assert "differ from their pages" not in told
    assert "more error" not in told


def test_the_headline_says_what_decided():
    assert headline(factory.report()) == "This index meets all 3 required criteria."
    assert headline(factory.faulty().report) == (
        "1 of 2 test questions scores below its threshold; 1 of 13 pages is not in the index."
    )  # fmt: skip
    assert headline(factory.unreachable().report) == "An outside system failed: Qdrant: connection refused."


def test_pages_of_which_something_is_lost_are_not_called_complete():
    criteria = [factory.criterion(name, 1.0, 1.0) for name in ("coverage", "source_captured")]
    criteria.append(factory.criterion("error_findings", 1, 0, required=True))
    for code, holds in (
        ("integrity.not_captured", "every page is in the index"),
        ("integrity.drifted", "the pages are complete"),
    ):
        report = factory.report("fail", criteria=criteria, findings=[make_finding(code, ["/docs/a"])])
        assert headline(report).endswith(f"{holds}.")


def test_the_headline_of_a_pass_counts_what_is_left_to_look_at_and_names_the_first():
    long = make_finding("chunk.over_model_limit", [str(number) for number in range(13)], details={"share": 1.0})
    spelled = make_finding("coverage.url_variant", ["https://x/a", "https://x/a/"])
    findings = [spelled, long, make_finding("query.no_coverage", ["m"])]
    metrics = QualityMetrics(total_chunks=13)
    assert headline(factory.report(findings=findings, quality_metrics=metrics)) == (
        "This index meets all 3 required criteria, "
        "with 2 warnings, among them “Chunks longer than the model reads” (13 of 13 points)."
    )
    assert headline(factory.report(findings=findings[:1])).endswith(
        ", with 1 warning: “One page under several addresses” (2 pages)."
    )


def test_the_headline_of_a_partial_run_says_how_much_it_was_asked_for():
    left_out = factory.criterion("coverage", None, 1.0, required=True, reason_code="not_selected")
    kept = [factory.criterion("query_pass_rate", 1.0, 0.9, required=True)]
    partial = factory.report(groups=["queries"], criteria=[*kept, left_out])
    assert headline(partial) == "Only 1 of 2 required criteria was selected, and it is met: Test questions answered."
    assert verdict_words(partial) == "Pass (partial)"
    missed = [factory.criterion("query_pass_rate", 0.5, 0.9, required=True), left_out]
    assert headline(factory.report("fail", groups=["queries"], criteria=missed)) == (
        "Test questions answered is 50 %, must be ≥ 90 %. Only 1 of 2 required criteria was selected."
    )


def test_a_partial_run_that_was_asked_for_all_that_is_required_says_so():
    kept = [factory.criterion(name, 1.0, 0.9, required=True) for name in ("query_pass_rate", "accuracy")]
    left_out = factory.criterion("coverage", None, 1.0, reason_code="not_selected")
    told = headline(factory.report(groups=["queries"], criteria=[*kept, left_out]))
    assert told.startswith("All 2 required criteria were selected, and all are met: Test questions answered, ")
    told = headline(factory.report(groups=["queries"], criteria=[kept[0], left_out]))
    assert told == "The only required criterion was selected, and it is met: Test questions answered."


def test_a_partial_run_of_an_earlier_version_is_known_by_its_criteria():
    criteria = [factory.criterion("coverage", 1.0, 1.0), factory.criterion("mrr", None, reason_code="not_selected")]
    assert verdict_words(factory.report(criteria=criteria)) == "Pass (partial)"


def test_every_output_says_that_a_run_was_partial():
    bundle = factory.bundle(factory.report(groups=["coverage"]))
    assert b"Pass (partial)" in summary_md(run_document(bundle.report))
    assert b"Pass (partial)" in report_html(bundle)
    assert b"partial" not in summary_md(run_document(factory.report()))


def test_the_headline_of_an_unmeasured_run_names_what_is_missing():
    criteria = [factory.criterion("coverage", None, 1.0, required=True, reason_code="no_data")]
    assert headline(factory.report("not_measured", criteria=criteria)).startswith(
        "Pages in the index could not be measured"
    )
    criteria = [factory.criterion("coverage", None, 1.0, required=True, reason_code="not_selected")]
    assert headline(factory.report("not_measured", criteria=criteria)).startswith("No required criterion was")


def test_required_criteria_come_first_and_unmeasured_ones_last():
    outline = Criteria.of(factory.CRITERIA)
    assert [result.name for result in outline.required] == ["query_pass_rate", "coverage", "metadata_completeness"]
    assert [result.name for result in outline.unmeasured] == ["ann_recall", "no_regression"]
    assert len(outline.shown) == 4


def test_reasons_do_not_repeat_what_their_place_says():
    assert reason_of(factory.criterion("mrr", 0.5, reason="mean over 3 queries; no gate")) == "mean over 3 queries"
    assert reason_of(factory.criterion("mrr", 0.5, reason="no gate")) == ""
    assert reason_of(factory.criterion("mrr", None, reason="not measured: no truth")) == "no truth"


def failed(*causes):
    subjects = [
        Subject(name=f"q{number}", details={"because": cause} if cause else {})
        for number, cause in enumerate(causes, 1)
    ]
    return make_finding("query.failed", subjects, details={"causes": dict(Counter(filter(None, causes)))})


def outputs_below_zeros(below):
    """What terminal, summary and page say of a finding below one of vectors of zeros."""
    run = factory.report("fail", findings=[make_finding("vector.zero", ["1"]), below])
    page = io.StringIO()
    render_summary(run, Console(file=page, width=200), report_path=None)
    return page.getvalue(), summary_md(run_document(run)).decode(), report_html(factory.bundle(run)).decode()


def test_what_hangs_below_a_cause_says_how_many_of_its_subjects_follow_from_it():
    below = failed("coverage.missing_page", "vector.zero", "coverage.missing_page", "vector.zero", "vector.zero")
    below = below.model_copy(update={"because": "vector.zero"})
    told = "3 of 5 follow from vector.zero, 2 from coverage.missing_page."
    assert following(below.reported()) == (3, told)
    terminal, *others = outputs_below_zeros(below)
    assert "(3 of 5)" in terminal
    assert all(told in text for text in (terminal, *others))


def test_what_goes_away_only_with_further_causes_names_them():
    below = make_finding("query.failed", ["q1", "q2"], details={"together_with": {"chunk.stale_tail": 1}})
    below = below.model_copy(update={"because": "vector.zero"})
    told = "2 follow from vector.zero, 1 of them together with chunk.stale_tail."
    assert following(below.reported()) == (2, told)
    assert all(told in text for text in outputs_below_zeros(below))
    some = failed("vector.zero", "text.mojibake").model_copy(update={"because": "vector.zero"})
    some.details["together_with"] = {"chunk.stale_tail": 1}
    told = "1 of 2 follows from vector.zero, 1 from text.mojibake, 1 of them together with chunk.stale_tail."
    assert following(some.reported()) == (1, told)


def test_subjects_without_a_cause_are_shown_before_those_that_go_away_with_one():
    found = failed("vector.zero", None, "vector.zero", None).reported()
    assert own_first(found) == ["q2", "q4", "q1", "q3"]
    assert following(found) == (4, "")


def test_the_most_affected_subjects_are_shown_first():
    subjects = [Subject(name=name, extent=extent) for name, extent in (("a", 0.1), ("b", 0.9), ("c", 0.5))]
    assert own_first(make_finding("integrity.not_captured", subjects).reported()) == ["b", "c", "a"]
    caused = [replace(subjects[0]), replace(subjects[1], details={"because": "integrity.gone"}), subjects[2]]
    assert own_first(make_finding("integrity.not_captured", caused).reported()) == ["c", "a", "b"]


def test_what_a_repair_clears_entirely_is_said_without_counting_twice():
    told = {
        "query.failed": {"cleared": ["q1", "q2", "q3"], "of": 3},
        "retrieval.dark_page": {"cleared": ["/docs/a", "/docs/b"], "of": 2},
    }
    found = make_finding("coverage.missing_page", ["/docs/a"], details={"would_clear": told}).reported()
    assert would_change(found) == "Would clear all 3 failed queries and both dark pages (simulated)."


def test_every_output_says_what_a_simulated_repair_would_clear_and_nothing_of_others():
    told = {
        "query.failed": {"cleared": ["q1", "q2"], "of": 3},
        "retrieval.dark_page": {"cleared": ["/docs/a"], "of": 1},
    }
    found = make_finding("coverage.missing_page", ["/docs/a"], details={"would_clear": told})
    cause = found.reported()
    sentence = "Would clear 2 of the 3 failed queries and the dark page (simulated)."
    assert would_change(cause) == sentence
    assert would_change(make_finding("coverage.missing_page", ["/docs/a"]).reported()) == ""
    broken = {"would_clear": {}, "would_fail": {"failing": ["q4"], "of": 7}}
    worse = make_finding("chunk.stale_tail", ["1"], details=broken).reported()
    assert would_change(worse) == "Would break 1 of the 7 queries that pass now (simulated)."
    run = factory.report("fail", findings=[found])
    assert sentence in report_html(factory.bundle(run)).decode()
    assert "2 of the 3 failed queries" in summary_md(run_document(run)).decode()
    page = io.StringIO()
    render_summary(run, Console(file=page, width=200), report_path="report.html")
    assert sentence in page.getvalue()
