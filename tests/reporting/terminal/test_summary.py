from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.reporting.terminal.summary import render_summary
from ragval_pipeline.validation.query_report import HeldTo
from tests.reporting import factory

PATH = "ragval_reports/demo_book/20261120T111541Z-1f0c9a52/report.html"


def printed(report, *, width=80, terminal=False, encoding="utf-8", path=PATH):
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="")
    console = Console(file=file, width=width, force_terminal=terminal, legacy_windows=False)
    render_summary(report, console, report_path=path)
    file.flush()
    return raw.getvalue().decode(encoding)


def test_the_summary_reads_from_the_verdict_to_the_path():
    text = printed(factory.faulty().report)
    order = [
        "FAIL", "1 of 13 pages is not in the\n", "Findings: 2 errors, 1 warning",
        "✗ Pages missing from the index  coverage.missing_page", "Why: ", "└ ✗ Test questions not answered",
        "Indexed pages that are not on the site", "Required and not met", "92.3 %", "1 of 3 required met: ",
        "Not measured: ", PATH,
    ]  # fmt: skip
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_an_address_without_a_path_is_printed_once():
    found = make_finding("index.unreachable", ["http://localhost:6333"])
    lines = [line.strip() for line in printed(factory.report("error", findings=[found])).splitlines()]
    assert lines.count("http://localhost:6333") == 1


def test_no_line_ends_between_a_number_and_its_unit():
    lines = [line for width in range(40, 100) for line in printed(factory.faulty().report, width=width).splitlines()]
    assert any(re.search(r"\d %$", line) for line in lines)
    assert not [line for line in lines if re.match(r"\s*(%|ms\b)", line)]


def test_lines_fit_into_eighty_columns_unless_they_are_to_be_copied():
    lines = printed(factory.faulty().report).splitlines()
    assert all(cell_len(line) <= 80 for line in lines if "https://" not in line and PATH not in line)
    assert all(line == line.rstrip() for line in lines)


def test_a_required_criterion_that_is_not_measured_says_why_in_full():
    reason = "not measured: Qdrant: connection refused at http://127.0.0.1:6333 (tried 4 times). Check qdrant.url."
    criteria = [factory.criterion("coverage", None, 1.0, required=True, reason=reason, reason_code="unreachable")]
    text = printed(factory.report("error", criteria=criteria), width=60)
    assert reason.removeprefix("not measured: ") in " ".join(text.split())


@pytest.mark.parametrize("terminal", [True, False])
def test_no_payload_commands_the_terminal_or_becomes_markup(terminal):
    findings = [
        make_finding("text.mojibake", [text, "2"], scope=text, message=text, remedy=text) for text in factory.HOSTILE
    ]
    text = printed(factory.report(findings=findings, collection_name=factory.HOSTILE[5]), terminal=terminal, width=200)
    plain = re.sub("\x1b\\[[0-9;]*m", "", text)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", plain)
    assert "[bold red]markup[/]" in plain
    assert "\x1b[2J" not in text


def test_a_console_that_knows_only_ascii_gets_ascii():
    text = printed(factory.faulty().report.model_copy(update={"collection_name": "Größe 日本"}), encoding="ascii")
    assert ">= 100 %" in text
    assert "x FAIL" in text
    assert "collection Gr??e ??" in text


def test_two_subjects_of_many_are_shown():
    finding = make_finding("payload.empty_field", [f"{n:05d}" for n in range(1234)])
    text = printed(factory.report(findings=[finding]))
    assert "point 00001" in text
    assert "00002" not in text
    assert "and 1,232 more" in text


def test_unmeasured_criteria_are_grouped_by_reason():
    text = printed(factory.unreachable().report)
    assert "Not measured: 6" in text
    assert text.count("Qdrant: refused") == 4


def test_without_a_written_report_no_path_is_named():
    assert "Report:" not in printed(factory.report(), path=None)
    assert "Findings: none" in printed(factory.report(), path=None)


def test_a_reason_without_room_goes_on_in_its_column():
    criteria = [factory.criterion("embedding_match", 0.0, 0.99, reason="0 of 3 re-embedded points are what is stored")]
    lines = printed(factory.report(criteria=criteria), width=60).splitlines()
    start = next(number for number, line in enumerate(lines) if "0 of 3" in line)
    column = lines[start].index("0 of 3")
    assert " ".join(line[column:] for line in lines[start : start + 2]) == f"{criteria[0].reason} embedding_match"
    assert lines[start + 1][:column].isspace()


def test_a_failed_query_shows_what_it_asks_and_why_it_failed():
    text = printed(factory.faulty().report)
    assert "“Describe a body in URDF” is not answered as expected. best score 0.38 is below 0.45" in " ".join(
        text.split()
    )


def test_what_is_required_and_met_is_named_and_the_rest_takes_a_line_each():
    criteria = [factory.criterion(f"recall_at_{k}", 0.5, reason="mean over 20 queries") for k in range(1, 9)]
    gated = [factory.criterion(f"ndcg_at_{k}", 0.9, 0.8) for k in range(1, 9)]
    lines = printed(factory.report(criteria=[*factory.CRITERIA[:3], *gated, *criteria])).splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("✓ 8 more gates met: "))
    required = " ".join(" ".join(lines[:start]).partition("3 of 3 required met: ")[2].split())
    assert required.count(" %") == 3, "what decides is named whole"
    assert " more" not in required
    assert lines[start].endswith(" more")
    assert lines[start + 1].startswith("· Without a gate: ")
    assert lines[start + 2] == ""


def test_the_failure_in_the_headline_is_not_repeated_for_each_criterion():
    told = "embedder: the provider answered HTTP 401: invalid api token. Check embedding.api_key."
    criteria = [
        factory.criterion(name, None, 0.9, required=required, reason=f"not measured: {told}", reason_code="unreachable")
        for name, required in (("query_pass_rate", True), ("critical_queries", True), ("accuracy", False))
    ]
    finding = make_finding("embedder.unreachable", ["401"], message=told, remedy="Check embedding.api_key.")
    text = printed(factory.report("error", criteria=criteria, findings=[finding]), width=200)
    assert text.count("see above") == 3
    assert text.count(told) == 1
    assert text.count("Check embedding.api_key.") == 2


def test_drafts_are_shown_separately_from_the_queries_that_count():
    held_to = HeldTo(top_k=5, conditions=[], min_similarity=None, module_match=None)
    draft = factory.query("q1", "Other uses", 0.6, passed=None, given={"status": "draft"}, held_to=held_to)
    report = factory.report(query_results=[draft])
    assert " · 1 draft query · " in printed(report.model_copy(update={"total_queries": 0}))
    assert " · 12 queries · 1 draft query · " in printed(report.model_copy(update={"total_queries": 12}))


def test_a_pass_shows_what_does_not_count_yet_as_not_measured_and_counts_the_rest():
    """Drafts excuse the criterion of the questions: nothing that is required was missed."""
    excused = factory.criterion("query_pass_rate", None, 0.9, required=True, reason_code="not_applicable")
    shown = printed(factory.report(criteria=[factory.criterion("coverage", 1.0, 1.0, required=True), excused]))
    assert "Required, but not counted in this run" in shown
    assert "Required and not" not in shown
    assert "1 of 1 required met" in shown
