"""Pages and hosts that nothing can be compared with."""

from __future__ import annotations

import base64
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.site.inventory import HostFailure
from ragval_pipeline.sources.site.page_copies.copies import PageCopies, record_of
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest, UnreadPagesError
from ragval_pipeline.sources.site.page_reader import PageCopy
from ragval_pipeline.validation.chunks.integrity import measure_integrity
from ragval_pipeline.validation.facts.bucket import facts_of_page
from tests.validation.chunks.world import (
    BATTERY,
    CAMERA,
    GRIPPER,
    PAGES,
    POINTS,
    VISITORS,
    Seen,
    changed,
    codes,
    detail,
    html,
    made,
    measured,
    paragraphs,
    point,
    record,
    snapshot_of,
    subjects,
    value,
)
from tests.validation.factory import absolute
from tests.validation.rows import texts


@pytest.mark.parametrize("problem", ["the folder has no file for it", ""])
def test_a_page_without_a_file_in_a_folder_is_gone_without_a_status_that_nobody_sent(problem: str):
    copy = PageCopy("https://docs.example.com/a", status=404, problem=problem)
    page, _ = facts_of_page(record_of(copy, "docs.example.com/a"), [])
    assert page.unfit == f"is gone ({problem or 'status 404'})"


def test_two_pages_that_hold_one_strange_text_and_nothing_else_were_read_behind_a_wall(tmp_path: Path):
    strange = "Sign in to continue. This page is only shown to members who have signed in with their account."

    def cause(*stored: dict[str, Any]) -> str:
        found = measured(tmp_path / str(len(stored)), PAGES, *stored)
        return next(entry.cause for entry in found.findings if entry.code == "integrity.gone")

    walled = [point("/b", strange), point("/c", strange)]
    assert "the crawler was served something other" in cause(*POINTS[:2], *walled)
    # What stands beside the chunks of its page may be what the page once said.
    assert "the crawler was served" not in cause(*POINTS, *walled)


def test_one_text_in_place_of_several_pages_is_told_as_what_the_crawler_was_given(tmp_path: Path):
    shell = "Please enable JavaScript in your browser to see what this site has to say."
    instead = measured(tmp_path / "shell", PAGES, *changed(to=dict.fromkeys(range(4), shell)))
    [gone] = (finding for finding in instead.findings if finding.code == "integrity.gone")
    assert "JavaScript" in gone.cause
    beside = measured(tmp_path / "beside", PAGES, *changed(to={0: shell, 2: shell}))
    [gone] = (finding for finding in beside.findings if finding.code == "integrity.gone")
    assert "JavaScript" not in gone.cause


def test_notices_that_differ_by_the_id_of_a_request_are_one_and_are_mended_in_the_crawler(tmp_path: Path):
    notice = (
        "Checking whether the connection to this site is secure before you are let in. Enable scripts and cookies in "
        "your browser to go on, and ask the owner of the site if this is shown again and again. Request {}."
    )
    stored = [point(page, notice.format(random.Random(page).randbytes(24).hex())) for page in ("/a", "/b", "/c")]
    [gone] = [finding for finding in measured(tmp_path, PAGES, *stored).findings if finding.code == "integrity.gone"]
    assert gone.cause.startswith("The same text is stored for 3 pages, and it is on none of them: the crawler")
    assert gone.remedy.startswith("Correct the crawler first")


def test_pictures_that_were_stored_as_text_are_left_out_by_the_extraction(tmp_path: Path):
    data = base64.b64encode(random.Random(3).randbytes(150)).decode()
    beside = measured(tmp_path / "data", PAGES, *POINTS, point("/a", data), point("/b", data[::-1]))
    [gone] = [finding for finding in beside.findings if finding.code == "integrity.gone"]
    assert gone.cause.startswith("They are encoded data instead of words")
    assert gone.remedy.startswith("Correct the extraction first, so that it leaves encoded data out")
    # A script without spaces has words as long.
    kanji = "".join(chr(0x4E00 + 7 * number % 3000) for number in range(200))
    [gone] = [
        finding
        for finding in measured(tmp_path / "kanji", PAGES, *POINTS, point("/a", kanji)).findings
        if finding.code == "integrity.gone"
    ]
    assert "encoded data" not in gone.cause


def test_texts_whose_letters_are_in_reverse_order_were_read_from_a_pdf_as_they_look(tmp_path: Path):
    hebrew = "הזרוע נעצרת כאשר זרם המנוע עובר שני אמפר ואז הלסתות מחזיקות את החלק בלי ללחוץ עוד על הקצה הרך שלו"
    pages = {**PAGES, "/d": html(paragraphs(hebrew)), "/e": html(paragraphs(hebrew[::2]))}
    stored = [point("/d", f"{hebrew[45:][::-1]}\n{hebrew[:44][::-1]}"), point("/e", hebrew[::2][::-1])]
    found = measured(tmp_path, pages, *POINTS, *stored)
    [gone] = [finding for finding in found.findings if finding.code == "integrity.gone"]
    assert gone.cause.startswith("Their letters are in reverse order")
    assert "re-ingest" in gone.remedy


def test_a_page_without_a_file_is_unfit_and_unreadable_and_its_chunks_do_not_count(tmp_path: Path):
    found = measured(tmp_path, {**PAGES, "/b": None}, *changed(to={2: "Anything."}))
    assert subjects(found, "source.page_unfit") == ["https://docs.example.com/b"]
    assert subjects(found, "integrity.page_unreadable") == ["https://docs.example.com/b"]
    assert codes(found) == {"source.page_unfit", "integrity.page_unreadable"}
    assert value(found, "content_integrity") == 1.0
    assert found.sections["integrity"]["page_unreadable"] == 1


WALL = "Before you continue please let us know which cookies this browser may keep, and for how long"


@pytest.mark.parametrize(("request_id", "compared"), [("", 256), (" (request {}81)", 256), (" (request {}81)", 4)])
def test_pages_that_show_what_others_show_and_none_of_their_chunks_judge_nothing(
    tmp_path: Path, request_id: str, compared: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ragval_pipeline.validation.chunks.walls.MOST_COMPARED", compared)
    pages = {**PAGES, **{f"/{name}": html(paragraphs(WALL + request_id.format(name))) for name in "defghi"}}
    own = [
        point(f"/{name}", f"The machine of hall {name} turns slowly, and nobody has seen it stop.") for name in "defghi"
    ]
    found = measured(tmp_path, pages, *POINTS, *own)
    assert codes(found) == {"integrity.page_unreadable"}
    assert len(subjects(found, "integrity.page_unreadable")) == 6
    assert found.value("content_integrity").value == 1.0
    assert found.sections["integrity"]["pages_read"] == 3


def test_pages_of_one_template_were_read_as_long_as_chunks_hold_the_template_elsewhere(tmp_path: Path):
    """Half of these chunks hold another text: their pages show what the other pages show, but for one word."""
    text = "The {0} of a robot wears out where it moves most, and a worn {0} is heard before it is seen to fail."
    parts = ("elbow", "wrist", "knee", "ankle", "shoulder", "finger", "hip", "neck")
    pages = {f"/{part}": html(f"<h1>All about the {part}</h1>{paragraphs(text.format(part))}") for part in parts}
    stored = [
        point(f"/{part}", VISITORS if at < 4 else f"All about the {part}\n{text.format(part)}")
        for at, part in enumerate(parts)
    ]
    found = measured(tmp_path, pages, *stored)
    assert subjects(found, "integrity.gone") == ["0", "1", "2", "3"]
    assert subjects(found, "integrity.page_unreadable") == []
    assert 0.5 < found.value("content_integrity").value < 0.6


def test_a_page_under_several_addresses_judges_its_chunks(tmp_path: Path):
    shared = html(paragraphs(BATTERY, BATTERY.replace("battery", "lamp"), BATTERY.replace("battery", "radio")))
    pages = {**PAGES, **dict.fromkeys(("/b", "/d", "/e", "/f"), shared)}
    stored = [point("/d", BATTERY), point("/e", GRIPPER), point("/f", BATTERY)]
    found = measured(tmp_path, pages, *POINTS, *stored)
    assert codes(found) == {"integrity.gone"}


@pytest.mark.parametrize("shell", ['<div id="root"></div>', '<div id="root">Loading…</div>', "   "])
def test_a_page_that_is_rendered_in_the_browser_is_unreadable(tmp_path: Path, shell: str):
    found = measured(tmp_path, {**PAGES, "/b": f"<html><body>{shell}<script>1</script></body></html>"}, *POINTS)
    assert codes(found) == {"integrity.page_unreadable"}
    assert detail(found, "integrity.page_unreadable")["points"] == 1


NOTICE = "You need to enable JavaScript to run this app."
LOADING = "Loading the documentation, please wait"


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        (f'<noscript>{NOTICE}</noscript><div id="main">{LOADING}</div>', f"{NOTICE}\n{LOADING}"),
        (f'<div id="app">{LOADING}</div>', LOADING),
        (f'<noscript>{NOTICE}</noscript><div id="root"></div>', NOTICE),
    ],
    ids=["both", "no notice", "nothing else"],
)
def test_chunks_with_what_pages_show_before_a_browser_builds_them_are_the_one_thing_told(
    tmp_path: Path, body: str, stored: str
):
    page = f"<html><head><title>Arms</title></head><body>{body}<script src='/main.js'></script></body></html>"
    shells = dict.fromkeys(("/x", "/y", "/z"), page)
    found = measured(tmp_path, {**PAGES, **shells}, *POINTS, *(point(path, stored) for path in shells))
    [finding] = found.findings
    assert (finding.code, finding.severity) == ("integrity.page_unreadable", "error")
    assert [subject.name for subject in finding.subjects] == [absolute(path) for path in shells]
    assert "needs JavaScript" in finding.cause
    assert "render the pages in a browser" in finding.remedy
    assert value(found, "content_integrity") == 1.0


def test_pages_that_the_crawler_rendered_and_the_run_could_not_judge_nothing(tmp_path: Path):
    page = f"<html><body><noscript>{NOTICE}</noscript><div id='root'>{LOADING}</div><script src='/m.js'></script>"
    own = {f"/{name}": f"The machine of hall {name} turns slowly, and nobody has seen it stop." for name in "xyz"}
    found = measured(tmp_path, {**PAGES, **dict.fromkeys(own, page)}, *POINTS, *(point(*each) for each in own.items()))
    [finding] = found.findings
    assert (finding.code, finding.severity) == ("integrity.page_unreadable", "warning")
    assert "in the browser" in detail(found, "integrity.page_unreadable")["reason"]


def test_a_short_page_is_no_unreadable_page(tmp_path: Path):
    found = measured(tmp_path, {**PAGES, "/b": html("<p>See the arm.</p>")}, *changed(to={2: "See the arm."}))
    assert found.findings == ()


def test_a_page_that_asks_not_to_be_indexed_is_unfit_and_still_compared(tmp_path: Path):
    hidden = html(paragraphs(BATTERY), head='<meta name="robots" content="noindex">')
    found = measured(tmp_path, {**PAGES, "/b": hidden}, *changed(to={2: VISITORS}))
    assert codes(found) == {"source.page_unfit", "integrity.gone", "integrity.not_captured"}


NOT_FOUND = "<h1>Page not found</h1><p>The page that you are looking for does not exist or has been moved.</p>"


TOLD = "Page not found\nThe page that you are looking for does not exist or has been moved."


def test_pages_that_show_the_same_error_as_if_it_were_found_are_unfit_although_the_index_holds_what_they_show(
    tmp_path: Path,
):
    lost = {f"/{name}": html(NOT_FOUND) for name in ("x", "y", "z")}
    stored = [point(page, TOLD) for page in lost]
    found = measured(tmp_path, {**PAGES, **lost}, *POINTS, *stored)
    assert subjects(found, "source.page_unfit") == [f"https://docs.example.com{page}" for page in lost]
    assert "served with status 200" in detail(found, "source.page_unfit")["reason"]


@pytest.mark.parametrize(
    "pages",
    [
        {"/x": NOT_FOUND, "/y": NOT_FOUND},
        {"/x": NOT_FOUND, "/en/x": NOT_FOUND, "/old/en/x": NOT_FOUND},
        {f"/{name}": f"<p>{'A page that several functions share. ' * 9}</p>" for name in ("x", "y", "z")},
        {f"/{name}": f"{NOT_FOUND}<p>{name}</p>" for name in ("seventeen", "eighteen", "nineteen")},
    ],
    ids=["two", "versions of one page", "a long page under several names", "each with a word of its own"],
)
def test_pages_that_are_alike_are_fit_where_they_may_be_meant_so(pages: dict[str, str], tmp_path: Path):
    shown = {page: html(content) for page, content in pages.items()}
    assert "source.page_unfit" not in codes(measured(tmp_path, {**PAGES, **shown}, *POINTS))


def test_a_page_that_sends_visitors_on_is_unfit_and_its_chunks_belong_elsewhere(tmp_path: Path):
    signpost = '<html><head><meta http-equiv="refresh" content="0; url={}"></head><body>Moved.</body></html>'
    # Of a page that the site lists is known on its own what is stored for it.
    for target, named in (("/c", ()), ("/new/", ("https://docs.example.com/new",))):
        found = measured(tmp_path / target.strip("/"), {**PAGES, "/b": signpost.format(target)}, *POINTS)
        assert codes(found) == {"source.page_unfit"}
        assert "redirects to" in detail(found, "source.page_unfit")["reason"]
        [finding] = [entry for entry in found.findings if entry.code == "source.page_unfit"]
        assert finding.subjects[0].pages == named


def test_a_site_most_of_whose_pages_lead_to_one_page_cannot_be_read(tmp_path: Path):
    def walled(folder: str, pages: Sequence[str], *others: str) -> Finding:
        shown = dict.fromkeys(("/d", *others), html(paragraphs(GRIPPER)))
        shown = {**PAGES, **shown, **{page: signpost.format(page) for page in pages}}
        found = measured(tmp_path / folder, shown, *POINTS)
        return next(entry for entry in found.findings if entry.code == "source.page_unfit")

    signpost = (
        '<html><head><meta http-equiv="refresh" content="0; url=/login?next={}"></head><body>Moved.</body></html>'
    )
    most, some = walled("most", ["/b", "/c", "/d"]), walled("some", ["/b", "/c"])
    assert (most.severity, most.count) == ("error", 3)
    assert most.message == "3 of 4 pages of the site redirect to the same page."
    assert most.cause.endswith("the pages redirect to https://docs.example.com/login.")
    assert (some.severity, some.count) == ("warning", 2)
    few = walled("few", ["/b", "/c", "/d"], "/e", "/f", "/g")
    assert few.severity == "warning"
    assert few.cause.startswith("3 of these pages redirect to https://docs.example.com/login: visitors are asked to")
    assert few.remedy.startswith("If they ask to sign in, let the crawler sign in")


def redirected(content: str, *chunks: str) -> Seen:
    answer = record(content, final_url="https://docs.example.com/elsewhere", redirected=True)
    return Seen(*facts_of_page(answer, texts(*chunks)))


def test_chunks_are_not_held_against_the_other_page_that_a_redirect_leads_to():
    # A short chunk may well stand on two pages.
    found = redirected(paragraphs(VISITORS, CAMERA, "See also the arm."), BATTERY, GRIPPER, "See also the arm.")
    assert found.page.unfit == "redirects to https://docs.example.com/elsewhere"
    assert (found.page.state, [chunk.compared for chunk in found.chunks]) == ("elsewhere", [False] * 3)


def test_a_page_that_moved_is_compared_where_a_redirect_leads_to():
    found = redirected(paragraphs(BATTERY, CAMERA, VISITORS), BATTERY, CAMERA, GRIPPER)
    assert found.page.state == "read"
    assert len(found.differing) == 1


def test_a_page_host_that_is_down_is_raised_as_it_was(tmp_path: Path):
    failure = HostFailure(problem="refused", code="source.unreachable", system="page host", subject="https://x")
    down = PageCopiesManifest(run_id="run", failure=failure)
    with pytest.raises(SystemFailure, match="refused"):
        measure_integrity(made(tmp_path, snapshot_of(tmp_path, PAGES, *POINTS), PageCopies(down)))


def test_a_worker_that_was_killed_while_pages_were_read_is_no_defect(tmp_path: Path):
    ended = PageCopiesManifest(run_id="run", crash="WorkerError", problem="a worker was killed. Give it more memory.")
    with pytest.raises(UnreadPagesError, match="a worker was killed"):
        measure_integrity(made(tmp_path, snapshot_of(tmp_path, PAGES, *POINTS), PageCopies(ended)))


def test_a_crash_while_reading_is_told_by_its_type(tmp_path: Path):
    crashed = PageCopiesManifest(run_id="run", crash="KeyError")
    with pytest.raises(RuntimeError, match="KeyError"):
        measure_integrity(made(tmp_path, snapshot_of(tmp_path, PAGES, *POINTS), PageCopies(crashed)))
