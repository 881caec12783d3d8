"""What a person sees in Dagster's UI after an index lost a page: lineage, verdict, checks and their evidence.

The pictures of the docs are taken here: ``RAGVAL_PICTURES=docs/images pytest tests/orchestration/test_ui.py``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.orchestration.live import REPOSITORY, Live, dagster_dev
from tests.orchestration.world import NAME, World, a_page
from tests.support.browser import picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.daemon]

INGESTION = ("demo_ingestion", "physical_ai_book_index")
DONE = {"SUCCESS", "FAILURE", "CANCELED"}
#: The machine may be busy with other tests.
PATIENCE_MS = 90_000
RENAME = """([from, to]) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(from, to);
}"""
#: A machine that takes pictures need not have a font with emoji.
SIGNS = {"✅": "✓", "❌": "✗", "🔴": "✗", "🟢": "✓", "⚠️": "!", "⚪": "○"}
ASSETS = """{ assetNodes { assetKey { path } isMaterializable isObservable kinds groupName dependencyKeys { path }
    assetObservations(limit: 1) { metadataEntries { label __typename ... on IntMetadataEntry { intValue } } } } }"""
GATES = """query ($key: AssetKeyInput!) { assetNodes(assetKeys: [$key]) { assetChecksOrError { ... on AssetChecks {
    checks { name blocking executionForLatestMaterialization { status evaluation { success severity description
    metadataEntries { label ... on TableMetadataEntry { table { records } } } } } } } } } }"""


def launch(live: Live, job: str) -> dict[str, Any]:
    """Run a job of the code location ``ragval`` to its end."""
    selector = {"repositoryName": REPOSITORY, "repositoryLocationName": "ragval", "pipelineName": job}
    launched = live.ask(
        """mutation ($params: ExecutionParams!) { launchPipelineExecution(executionParams: $params) {
           __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }""",
        params={"selector": selector, "runConfigData": {}, "mode": "default"},
    )["launchPipelineExecution"]
    return ended(live, launched["run"]["runId"])


def ended(live: Live, run_id: str) -> dict[str, Any]:
    def look() -> list[dict[str, Any]]:
        return [run for run in live.runs() if run["runId"] == run_id and run["status"] in DONE]

    return live.until(look, within_s=400)[0]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Dagster after a good validation and one that missed a page."""
    with dagster_dev(tmp_path_factory.mktemp("ui"), settings="nux:\n  enabled: false\n") as live:
        assert ended(live, live.materialise("demo_ingestion", *INGESTION))["status"] == "SUCCESS"
        assert launch(live, f"{NAME}_validation")["status"] == "SUCCESS"
        world = World(live.folder / ".ragval" / "demo")
        world.delete_page(a_page(world))
        assert launch(live, f"{NAME}_validation")["status"] == "FAILURE"
        yield live


@pytest.fixture(scope="module")
def missing(live: Live) -> str:
    return a_page(World(live.folder / ".ragval" / "demo"))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1600, "height": 1000}) as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context.new_page()


def keep(page: Page, name: str, live: Live) -> None:
    """Take a picture for the docs when one is asked for; the folder of the test is none of their business."""
    folder = os.environ.get("RAGVAL_PICTURES")
    if folder:
        page.wait_for_timeout(2_000)  # spinners and transitions
        for written, shown in {str(live.folder): "/srv/book", **SIGNS}.items():
            page.evaluate(RENAME, [written, shown])
        picture(page, Path(folder) / f"ui-{name}.png")


def asset(live: Live, name: str, view: str = "overview") -> str:
    return f"{live.url}/assets/{NAME}/{name}?view={view}"


def test_the_lineage_knows_what_is_read_and_what_is_made(live: Live) -> None:
    nodes = {tuple(node["assetKey"]["path"]): node for node in live.ask(ASSETS)["assetNodes"]}
    sitemap, collection = nodes[NAME, "sitemap"], nodes[NAME, "collection"]
    assert not sitemap["isMaterializable"]
    assert not collection["isMaterializable"]
    assert collection["kinds"] == ["qdrant"]
    assert [key["path"] for key in collection["dependencyKeys"]] == [list(INGESTION)]
    assert nodes[INGESTION]["isMaterializable"]
    [seen] = collection["assetObservations"]
    numbers = {entry["label"]: entry.get("intValue") for entry in seen["metadataEntries"]}
    assert numbers["points"] > 80


def test_a_failed_gate_names_its_numbers_and_the_page(live: Live, missing: str) -> None:
    [node] = live.ask(GATES, key={"path": [NAME, "validation_report"]})["assetNodes"]
    gates = {check["name"]: check for check in node["assetChecksOrError"]["checks"]}
    assert gates["coverage"]["blocking"]
    evaluation = gates["coverage"]["executionForLatestMaterialization"]["evaluation"]
    assert (evaluation["success"], evaluation["severity"]) == (False, "ERROR")
    assert evaluation["description"] == "12 of 13 in-scope pages of the site"
    [offenders] = [entry["table"] for entry in evaluation["metadataEntries"] if entry["label"] == "offenders"]
    assert missing in offenders["records"][0]
    assert gates["query_pass_rate"]["executionForLatestMaterialization"]["evaluation"]["success"]


def test_the_lineage_is_drawn_with_its_external_sources(live: Live, browser: Browser) -> None:
    with browser.new_context(viewport={"width": 2900, "height": 1600}, device_scale_factor=0.5) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{live.url}/locations/ragval/asset-groups/{NAME}/lineage")
        for name in ("sitemap", "collection", "payload_snapshot", "validation_report", INGESTION[-1]):
            page.get_by_text(name, exact=True).first.wait_for()
        page.get_by_text("Loading...").first.wait_for(state="hidden")
        page.get_by_text("Hide navigation").click()
        keep(page, "lineage", live)


def test_the_reports_page_starts_with_the_verdict_and_the_beginning_of_the_report(live: Live, page: Page) -> None:
    page.goto(asset(live, "validation_report"))
    page.get_by_role("cell", name="verdict", exact=True).first.wait_for()
    page.get_by_text(re.compile(r"^Fail: .*1 of 13 pages is not in the index")).first.wait_for()
    assert page.get_by_text("report.html").first.is_visible()
    table = page.locator("table").filter(has_text="Timestamp").first
    assert table.evaluate("table => table.scrollWidth <= table.parentElement.clientWidth"), "the verdict is cut"
    keep(page, "report", live)
    page.get_by_text("lost from the index").first.wait_for()


def test_numbers_are_plotted_over_runs(live: Live, page: Page) -> None:
    page.goto(asset(live, "coverage_report"))
    page.get_by_text("Plots", exact=True).first.click()
    page.get_by_text("coverage", exact=True).first.wait_for()
    page.locator("canvas").first.wait_for()
    keep(page, "plots", live)


def test_the_queries_page_names_the_query_that_failed_first(live: Live, page: Page) -> None:
    page.goto(asset(live, "query_validation_results"))
    page.get_by_placeholder("Filter metadata keys").fill("queries")
    page.get_by_text("How do I transcribe speech with Whisper", exact=False).first.wait_for()
    page.get_by_text("chapter, url").first.wait_for()
    keep(page, "queries", live)


def test_the_checks_tab_shows_the_failed_gate_with_its_evidence(live: Live, page: Page, missing: str) -> None:
    page.goto(asset(live, "validation_report", "checks"))
    page.get_by_text("This is a blocking asset check").first.wait_for()
    page.get_by_text("12 of 13 in-scope pages of the site").first.wait_for()
    page.get_by_text("coverage.missing_page").first.wait_for()
    page.get_by_text(missing).first.wait_for()
    page.locator("canvas").nth(3).wait_for()
    plots = page.get_by_text(re.compile(r"^value(_\w+)?$")).all_inner_texts()
    assert plots[-4:] == ["value", "value_denominator", "value_numerator", "value_offenders"]
    assert page.get_by_text("Failed", exact=True).count() >= 2
    keep(page, "failed-gate", live)


def test_the_collections_page_shows_how_many_points_it_held(live: Live, page: Page) -> None:
    page.goto(asset(live, "collection"))
    page.get_by_text("External Asset").first.wait_for()
    page.get_by_role("cell", name="points", exact=True).first.wait_for()
    keep(page, "collection", live)
