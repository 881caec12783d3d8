from __future__ import annotations

import base64
import hashlib
import math
import re
import time
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.reporting.corpus import Corpus
from ragval_pipeline.reporting.html.page import fact_rows
from ragval_pipeline.reporting.html.questions import MOST_ROWS
from ragval_pipeline.reporting.remediation import remediation
from ragval_pipeline.validation.repair.repair_plan import RepairPlan
from ragval_pipeline.validation.verdict import LEFT_OUT
from tests.reporting import factory
from tests.reporting.factory import report_html

VOID = {"meta", "link", "br", "img", "wbr", "input", "hr"}


class Page(HTMLParser):
    """Collects what a browser would act on, and fails on tags that do not nest."""

    def __init__(self, content: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(content.decode("utf-8"))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text += data

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def page(bundle, corpus=None):
    return Page(report_html(bundle, corpus))


def test_every_finding_has_its_documentation_in_the_file():
    found = page(factory.faulty())
    ids = [attributes["id"] for attributes in found.named("article") if attributes.get("id", "").startswith("about-")]
    links = {attributes["href"] for attributes in found.named("a") if attributes.get("class") == "about"}
    assert links == {f"#{name}" for name in ids}
    assert len(ids) == len(set(ids)) == len(links) > 1
    assert all(CATALOGUE[name.removeprefix("about-")].measured in found.text for name in ids)


def lengths(*counts, unit="tokens, as stored"):
    return Corpus(lengths=counts, unit=unit)


ALL = ["faulty", "unreachable", "hostile"]


@pytest.mark.parametrize("name", ALL)
def test_the_page_needs_nothing_from_outside_and_runs_its_own_script_only(name):
    content = report_html(getattr(factory, name)())
    found = Page(content)
    script = re.findall(rb"<script>(.*?)</script>", content, re.DOTALL)
    assert len(script) == len(found.named("script")) == 1
    allowed = base64.b64encode(hashlib.sha256(script[0]).digest()).decode()
    assert f"script-src 'sha256-{allowed}';" in str([entry.get("content") for entry in found.named("meta")])
    assert {tag for tag, _ in found.tags} & {
        "img",
        "link",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
    } == set()
    for _, attributes in found.tags:
        assert not [key for key in attributes if key.startswith("on") or key in {"src", "srcset", "background"}]
    assert "default-src 'none'" in str(found.named("meta"))
    style = b" ".join(re.findall(rb"<style>(.*?)</style>", content, re.DOTALL))
    assert b"url(" not in style
    assert b"@import" not in style


def test_only_http_addresses_become_links():
    targets = [attributes["href"] for attributes in page(factory.hostile()).named("a")]
    assert targets
    assert all(target.startswith(("#", "http://", "https://")) for target in targets)
    assert not [target for target in targets if "javascript" in target]


def test_hostile_text_is_shown_as_text():
    text = page(factory.hostile()).text
    assert "<script>alert(1)</script>" in text
    assert "{{ 7 * 7 }}" in text
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_every_link_inside_the_page_leads_somewhere():
    found = page(factory.faulty(), lengths(100, 200, 300))
    ids = [attributes["id"] for _, attributes in found.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    anchors = set(ids)
    inner = {attributes["href"][1:] for name in ("a", "use") for attributes in found.named(name)
             if attributes["href"].startswith("#")}  # fmt: skip
    assert inner <= anchors
    assert "query-2" in inner


def test_the_top_says_verdict_suite_collection_and_time():
    text = " ".join(page(factory.faulty()).text.split())
    for part in ("Fail", "demo_book", "ragval_demo", "2026-11-20 11:15:41 UTC", "1 of 13 pages is not in the index"):
        assert part in text
    order = ["Do this first", "Pages missing from the index", "92.3 %", "1 of 3 required criteria met"]
    assert sorted(map(text.index, order)) == [text.index(part) for part in order]


def test_a_pass_shows_its_warnings_in_the_badge_and_in_the_tab():
    warned = factory.bundle(factory.report(findings=[make_finding("chunk.stale_tail", ["1", "2"])]))
    assert "<title>Pass, 1 warning: demo_book - ragval report</title>" in report_html(warned).decode()
    assert "<title>Pass: demo_book - ragval report</title>" in report_html(factory.bundle()).decode()


def test_only_what_is_worth_doing_is_advised_with_the_lines_to_copy():
    text = page(factory.faulty()).text
    steps = text[text.index("Do this first") : text.index("Findings", text.index("Do this first"))]
    assert factory.PAGES[3] in steps, "the page to ingest again"
    assert "Criteria that fail because of this: Test questions answered, Pages in the index" in " ".join(steps.split())
    informed = page(factory.bundle(factory.report(findings=[make_finding("query.no_coverage", ["capstone"])])))
    assert "Nothing to fix" in informed.text
    assert "draft" not in informed.text


def test_a_page_without_anything_to_fix_asks_to_review_the_drafts():
    draft = factory.query("q1", "What is ROS 2?", 0.6, given={"status": "draft"})
    told = " ".join(page(factory.bundle(factory.report(query_results=[draft]))).text.split())
    assert "Next, review the draft question below" in told


def test_a_run_without_queries_or_site_has_a_page():
    run = factory.report(query_results=[], coverage_report=factory.CoverageReport())
    text = page(factory.bundle(run)).text
    assert "No query was run." in text


def test_lengths_become_a_histogram_in_tokens_or_in_characters():
    with_counts = report_html(factory.bundle(), lengths(10, 20, 20, 500))
    assert b'aria-label="Lengths of 4 chunks. The token limit of the embedding model is not known."' in with_counts
    assert b"Chunk lengths are not known." in report_html(factory.bundle())
    characters = page(factory.bundle(), lengths(900, 1200, unit="characters"))
    assert "characters" in characters.text[characters.text.index("Chunk lengths") :]


def test_scores_that_differ_by_rounding_only_are_drawn_as_one():
    given = {"min_similarity": 0.8}
    queries = [
        factory.query(f"q{number}", "What is ROS 2?", score, given=given)
        for number, score in enumerate((0.8, math.nextafter(0.8, 1.0)))
    ]
    picture = report_html(factory.bundle(factory.report(query_results=queries))).decode()
    drawn = picture[picture.index('class="drawn scores"') :].split("</svg>")[0]
    assert len(set(re.findall(r'<circle class="good" cx="([\d.]+)"', drawn))) == 1


def test_distances_get_no_bars_since_longer_is_not_better(tmp_path):
    manifest = factory.snapshot(tmp_path / "payload", {"1": {}})
    vectors = ({"name": None, "size": 4, "distance": "Euclid"},)
    facts = manifest.facts.model_validate({**manifest.facts.model_dump(), "vectors": vectors})
    euclid = factory.bundle(manifest=manifest.model_copy(update={"facts": facts}))

    def best(content):
        return re.findall(rb'<td class="best">.*?</td>', content, re.DOTALL)[0]

    assert b"track" in best(report_html(factory.bundle()))
    assert b"track" not in best(report_html(euclid))


def test_a_thousand_queries_and_ten_thousand_findings_stay_under_five_megabytes():
    started = time.process_time()
    assert len(report_html(factory.large(findings=10_000))) < 5_000_000
    assert time.process_time() - started < 20


def test_what_a_large_page_leaves_out_it_says_with_where_it_is():
    text = " ".join(report_html(factory.large(queries=450, subjects=10, findings=400)).decode().split())
    assert "To keep this page small, some hits are left out; all are in query_results.csv." in text
    assert (
        "Not shown here: 251 of payload.wrong_type. All findings are in validation_report.json and findings.parquet."
    ) in text


def test_of_very_many_queries_those_that_did_not_pass_are_shown():
    content = report_html(factory.large(queries=MOST_ROWS + 100, subjects=1)).decode()
    verdicts = re.findall(r'data-verdict="(\w+)"', content)
    assert len(verdicts) == MOST_ROWS
    assert verdicts.count("bad") == sum(n % 7 == 0 for n in range(MOST_ROWS + 100))
    assert "2,000 of 2,100 queries, those that did not pass first; all are in query_results.csv." in content


def test_expected_words_and_right_pages_are_marked_in_the_hits():
    run = factory.report(query_results=[
        factory.query("q1", "What is ROS 2?", 0.6, given={"expected_keywords": ["topics", "Dienste"]}),
    ])  # fmt: skip
    content = report_html(factory.bundle(run, judgements={"q1": {factory.PAGES[1]: 2}})).decode()
    assert "talk through: <mark>topics</mark>, services" in content
    assert content.count(">right page<") == 2, "the heading of the column, and one hit"
    assert 'data-right="1"' in content


def test_a_finding_says_who_acts_on_it():
    text = " ".join(page(factory.faulty()).text.split())
    assert text.index("Ingest again") < text.index("Delete from the index")
    assert "Correct the test questions" not in text, "what follows from a missing page is repaired with it"


def test_of_numbers_that_repeat_nothing_is_deleted():
    found = make_finding("chunk.duplicate_index", ["1", "2"], details={"groups": 1, "repeats": 2})
    report = factory.report("fail", findings=[found])
    codes = ["chunk.duplicate_index"]
    again, delete = "Ingest again", "Delete from the index"
    plans = (RepairPlan(reingest={factory.PAGES[0]: codes}), RepairPlan(delete={"1": codes}))
    for plan, said, other in zip(plans, (again, delete), (delete, again), strict=True):
        text = " ".join(page(factory.bundle(report, plan=plan)).text.split())
        assert said in text
        assert other not in text


def test_a_chunk_that_differs_from_its_page_is_shown_as_a_readable_difference():
    example = {
        "point_id": "p1", "page_url": factory.PAGES[0], "class": "drifted", "coverage": 0.81,
        "segments": [["same", "a robot "], ["index", "<b>flies"], ["page", "walks"], ["skipped", "…"]],
    }  # fmt: skip
    content = report_html(factory.bundle(extras={"integrity_examples.json": [example]})).decode()
    assert "&lt;b&gt;flies" in content
    assert "<del>" in content
    assert "<ins>" in content
    assert "[only on the page: " in page(factory.bundle(extras={"integrity_examples.json": [example]})).text
    assert "Chunk text compared with its page" not in page(factory.bundle()).text


def test_what_the_model_does_not_read_is_said_beside_the_tokens():
    run = factory.report(environment={"embedding_model": "embed-english-v3.0"})
    text = page(factory.bundle(run), lengths(100, 600, 700)).text
    assert "The model reads 512 tokens: 2 chunks of 3 are longer." in text
    static = factory.report(environment={"embedding_model": "wordllama/l2_supercat/256"})
    assert "The embedding model reads texts of any length." in page(factory.bundle(static), lengths(9)).text


def test_nested_facts_become_flat_rows():
    assert fact_rows({"a": {"b": 1, "c": {}}, "d": [1.5, None], "e": True, "f": None, "g": 0}) == [
        ("a.b", "1"), ("d", "1.5, -"), ("e", "yes"), ("g", "0"),
    ]  # fmt: skip


def test_a_tile_says_what_a_share_counts_and_how_many_values_a_mean_has():
    criteria = [
        factory.criterion(
            "coverage", 12 / 13, 1.0, required=True, numerator=12, denominator=13, reason="12 of 13 pages"
        ),
        factory.criterion(
            "precision_at_3", 13 / 21, 0.7, required=True, numerator=13 / 3, denominator=7, reason="mean over 7 queries"
        ),
    ]
    text = page(factory.bundle(factory.report(criteria=criteria))).text
    assert "12 of 13" in text
    assert "mean of 7" in text
    assert "4.33" not in text


def test_a_tile_names_the_errors_that_count_and_not_those_of_other_criteria():
    reason = f"vector.zero{LEFT_OUT}coverage.missing_page"
    missed = factory.criterion("error_findings", 1.0, 0.0, required=True, reason=reason)
    text = page(factory.bundle(factory.report(criteria=[missed]))).text
    assert CATALOGUE["vector.zero"].title in text
    assert CATALOGUE["coverage.missing_page"].title not in text


def test_a_rule_of_ones_own_is_no_bug_of_ours() -> None:
    found = make_finding("custom.no_owner", ["1"], message="1 point has no owner.", cause="Not set.", remedy="Set it.")
    plan = RepairPlan(lists={"rules": [("custom.no_owner", None)]})
    remedies = remediation(plan, [found])
    assert remedies["actions"] == [{"code": "custom.no_owner", "scope": None, "action": "rule"}]
    assert [entry["code"] for entry in remedies["rules"]] == ["custom.no_owner"]
    shown = page(factory.bundle(factory.report("fail", findings=[found]), plan=plan)).text
    assert "1 point has no owner." in shown
    assert "Report a bug" not in shown


def test_a_first_step_that_a_person_decides_about_has_its_alternatives():
    told = "If that is intended, set it off under severity. Otherwise re-embed these points."
    found = make_finding("vector.text_mismatch", ["1"], remedy=told)
    bundle = factory.bundle(factory.report("fail", findings=[found]), [found])

    def step(plan):
        text = report_html(replace(bundle, plan=plan)).decode()
        return text[text.index("Do this first") : text.index('id="findings"')]

    assert told in step(replace(bundle.plan, review={"1": ["vector.text_mismatch"]}))
    assert "Otherwise" not in step(bundle.plan)
