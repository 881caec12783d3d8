from __future__ import annotations

from ragval_pipeline.reporting.finding_groups import MOST_CARDS, finding_groups

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.reporting.outline import finding_tree, first_steps
from tests.reporting import factory


def groups(*findings):
    return finding_groups(finding_tree([finding.reported() for finding in findings]))


def test_findings_are_grouped_by_what_to_do_in_the_order_of_the_report():
    found = groups(
        make_finding("coverage.missing_page", ["u1"]),
        make_finding("query.duplicate", ["q1"]),
        make_finding("payload.missing_field", ["p1"], scope="title"),
    )
    assert [(group.title, len(group.nodes), group.listed) for group in found] == [
        ("Ingest again", 2, "reingest_urls"), ("Correct the test queries", 1, "queries"),
    ]  # fmt: skip


def test_a_group_is_as_bad_as_the_worst_that_follows_from_it():
    unfit = make_finding("query.threshold_unfit", ["0.7"])
    failed = make_finding("query.failed", ["q1"]).model_copy(update={"because": "query.threshold_unfit"})
    [group] = groups(unfit, failed)
    assert (group.title, group.severity) == ("Change a setting", "error")


def test_the_cause_of_errors_is_the_first_thing_to_do_even_if_it_is_a_warning_itself():
    findings = [
        make_finding("chunk.over_model_limit", ["p1"]),
        make_finding("query.threshold_unfit", ["0.7"]),
        make_finding("query.failed", ["q1"]).model_copy(update={"because": "query.threshold_unfit"}),
    ]
    steps = first_steps(factory.report("fail", findings=findings))
    assert [step.finding.code for step in steps] == ["query.threshold_unfit", "chunk.over_model_limit"]


def test_of_very_many_findings_the_rest_is_counted_by_code():
    found = groups(*(make_finding("payload.wrong_type", ["p"], scope=f"f{n}") for n in range(MOST_CARDS + 7)))
    assert len(found[0].nodes) == MOST_CARDS
    assert found[0].rest == {"payload.wrong_type": 7}
