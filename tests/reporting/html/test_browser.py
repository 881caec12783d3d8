"""The page in a real browser: offline, without errors, usable by mouse, keyboard and screen reader, fast when large."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.reporting.corpus import Corpus
from tests.reporting import factory
from tests.reporting.factory import report_html

pytestmark = pytest.mark.browser

#: Impacts of axe-core that must not occur.
SERIOUS = {"serious", "critical"}
SHOWN = "[...document.querySelectorAll('#query-table tbody')].filter(row => row.checkVisibility())"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One page of each kind, on disk."""
    folder = tmp_path_factory.mktemp("pages")
    example = {
        "point_id": "p1", "page_url": factory.PAGES[0], "class": "drifted", "coverage": 0.81,
        "segments": [["same", "a robot "], ["index", "flies"], ["page", "walks"], ["skipped", "…"]],
    }  # fmt: skip
    faulty = factory.faulty()
    with_diff = factory.ReportBundle(
        **{**vars(faulty), "extras": {"integrity_examples.json": [example]}, "settings": {}}
    )
    bundles = {
        "healthy": factory.bundle(),
        "faulty": with_diff,
        "unreachable": factory.unreachable(),
        "later": factory.with_history(),
        "hostile": factory.hostile(),
        "large": factory.large(findings=10_000),
    }
    corpus = Corpus(lengths=(100, 200, 250, 900), unit="tokens, as stored")
    for name, bundle in bundles.items():
        (folder / f"{name}.html").write_bytes(report_html(bundle, corpus))
    return folder


class Watched:
    """A page that notes what it asked for and what it complained about."""

    def __init__(self, browser, file, **context):
        self.context = browser.new_context(offline=True, **context)
        self.page = self.context.new_page()
        self.complaints, self.requests, self.dialogs = [], [], []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


@pytest.mark.parametrize("name", ["healthy", "faulty", "unreachable", "later", "hostile", "large"])
def test_the_page_opens_from_disk_without_network_and_without_complaint(browser, files, name):
    with Watched(browser, files / f"{name}.html") as opened:
        assert opened.requests == [(files / f"{name}.html").as_uri()]
        assert opened.complaints == []
        assert opened.dialogs == []
        assert opened.page.locator("h1").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("name", ["faulty", "unreachable", "later", "hostile"])
def test_axe_finds_nothing_serious_and_nothing_runs_out_of_sight(browser, files, name, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    with Watched(
        browser, files / f"{name}.html", viewport={"width": width, "height": 900}, color_scheme=scheme
    ) as opened:
        opened.page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
        found = Axe().run(opened.page).response["violations"]
        said = [
            f"{entry['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
            for entry in found
            if entry["impact"] in SERIOUS
            for node in entry["nodes"][:3]
        ]
        assert said == []
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_findings_begin_on_the_first_screen_and_the_page_stays_short(browser, files):
    for name in ("faulty", "later", "hostile", "large"):
        with Watched(browser, files / f"{name}.html", viewport={"width": 1280, "height": 800}) as opened:
            assert opened.page.locator(".finding h3").first.bounding_box()["y"] < 800, name
    subjects = {"page": list(factory.PAGES), "point": [str(number) for number in range(40)]}
    kinds = {
        kind: [code for code, row in CATALOGUE.items() if row.subject_kind == kind and row.severity != "info"]
        for kind in subjects
    }
    thirteen = [make_finding(code, names) for kind, names in subjects.items() for code in kinds[kind][:7]][:13]
    bundle = factory.bundle(factory.report("fail", findings=thirteen), thirteen)
    later = replace(bundle, history=factory.with_history().history)
    (files / "thirteen.html").write_bytes(report_html(later))
    for width in (1280, 400):
        with Watched(browser, files / "thirteen.html", viewport={"width": width, "height": 800}) as opened:
            assert opened.page.locator(".finding h3").first.bounding_box()["y"] < 800
            assert opened.page.evaluate("document.documentElement.scrollHeight") < 8_000


def test_the_id_of_a_point_is_copied_from_beside_its_place(browser, files):
    point = Subject(name="9f1c", details={"page_url": factory.PAGES[0], "chunk_index": 0})
    findings = [make_finding("text.zero_width", [point])]
    (files / "point.html").write_bytes(report_html(factory.bundle(factory.report(findings=findings), findings)))
    with Watched(browser, files / "point.html", permissions=["clipboard-read", "clipboard-write"]) as opened:
        opened.page.get_by_role("button", name="id", exact=True).click()
        assert opened.page.evaluate("navigator.clipboard.readText()") == "9f1c"


def test_lines_are_copied_and_pages_sort(browser, files):
    with Watched(browser, files / "faulty.html", permissions=["clipboard-read", "clipboard-write"]) as opened:
        opened.page.locator(".steps .copy").first.click()
        assert opened.page.evaluate("navigator.clipboard.readText()") == factory.PAGES[3]


def test_a_narrow_screen_has_every_section_in_sight_whole_dates_and_the_lines_to_copy(browser, files):
    narrow = {"viewport": {"width": 400, "height": 800}, "permissions": ["clipboard-read", "clipboard-write"]}
    with Watched(browser, files / "later.html", **narrow) as opened:
        page = opened.page
        for link in page.locator(".sections a").all():
            box = link.bounding_box()
            assert box["x"] + box["width"] <= 400, link.inner_text()
        assert page.evaluate("[...document.querySelectorAll('time')].every(time => time.getClientRects().length < 2)")
        page.locator(".steps .copy").first.click()
        assert page.evaluate("navigator.clipboard.readText()") == factory.PAGES[3]


def test_lines_to_copy_are_not_cut_at_the_edge_of_their_box(browser, files):
    for width in (400, 1280):
        with Watched(browser, files / "large.html", viewport={"width": width, "height": 800}) as opened:
            assert opened.page.evaluate(
                "[...document.querySelectorAll('.copied pre')].every(box => box.scrollWidth <= box.clientWidth)"
            )


def test_the_table_is_filtered_by_words_and_by_result(browser, files):
    with Watched(browser, files / "faulty.html") as opened:
        page = opened.page
        assert page.evaluate(f"{SHOWN}.map(row => row.dataset.query)") == ["q3", "q1"]
        page.get_by_label("Result").select_option("failed")
        assert page.evaluate(f"{SHOWN}.map(row => row.dataset.query)") == ["q3"]
        assert page.locator("#query-tools output").inner_text() == "1 of 2 shown"
        page.get_by_label("Result").select_option("all")
        page.get_by_label("Filter").fill("WHAT IS ros")
        assert page.evaluate(f"{SHOWN}.map(row => row.dataset.query)") == ["q1"]
        page.get_by_label("Filter").fill("no such words")
        assert page.evaluate(f"{SHOWN}.length") == 0


def test_chips_show_the_findings_of_one_severity_and_a_link_to_a_hidden_one_shows_all(browser, files):
    with Watched(browser, files / "faulty.html") as opened:
        page = opened.page
        shown = "[...document.querySelectorAll('.finding[data-kinds]')].filter(card => !card.hidden).length"
        everything = page.evaluate(shown)
        chips = page.locator("#findings .chips")
        chips.get_by_role("button", name="warning").click()
        assert 0 < page.evaluate(shown) < everything
        assert chips.locator("output").inner_text() == f"{page.evaluate(shown)} of {everything} shown"
        page.locator(".steps .do a").first.click()
        page.wait_for_function(f"{shown} === {everything}")


def test_a_finding_leads_to_what_it_means_in_the_same_file(browser, files):
    with Watched(browser, files / "faulty.html") as opened:
        opened.page.locator(".finding .about").first.click()
        told = opened.page.locator("#about-coverage\\.missing_page p").first
        told.wait_for(state="visible")
        assert told.inner_text() == CATALOGUE["coverage.missing_page"].sentence


def test_a_column_sorts_up_and_down_and_says_so(browser, files):
    with Watched(browser, files / "large.html") as opened:
        page = opened.page
        head = page.get_by_role("columnheader", name="best score")
        scores = f"{SHOWN}.map(row => Number(row.dataset.score))"
        for direction in ("ascending", "descending"):
            head.get_by_role("button").click()
            assert head.get_attribute("aria-sort") == direction
            found = page.evaluate(scores)
            assert found == sorted(found, reverse=direction == "descending")
        page.get_by_role("columnheader", name="result").get_by_role("button").press("Enter")
        assert page.evaluate(f"{SHOWN}[0].dataset.verdict") == "bad"
        assert head.get_attribute("aria-sort") is None


def test_a_query_opens_by_click_by_key_and_by_link(browser, files):
    with Watched(browser, files / "faulty.html") as opened:
        page = opened.page
        hits = page.locator("#query-1 .hits")
        assert not hits.is_visible()
        page.locator("#query-1 .ask").click()
        assert hits.is_visible()
        page.locator("#query-1 summary").press("Enter")
        assert not hits.is_visible()
        page.locator("#finding-query-failed .subjects a").first.click()
        assert page.locator("#query-2 .hits").is_visible()


def test_the_page_can_be_read_without_its_script(browser, files):
    with Watched(browser, files / "faulty.html", java_script_enabled=False) as opened:
        page = opened.page
        assert not page.locator("#query-tools").is_visible()
        assert page.locator("#query-table button").count() == 0
        page.locator("#query-1 summary").click()
        assert page.locator("#query-1 .hits").is_visible()
        assert page.locator("svg.drawn").count() == 3


def test_paper_shows_what_went_wrong_and_no_controls(browser, files):
    with Watched(browser, files / "faulty.html") as opened:
        opened.page.emulate_media(media="print")
        assert not opened.page.locator("#query-tools").is_visible()
        assert not opened.page.locator("nav").is_visible()
        assert len(opened.page.pdf()) > 10_000
