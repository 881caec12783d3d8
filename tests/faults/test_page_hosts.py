"""A site that keeps pages back: what is left of it is a sample that nobody chose, and judges no index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from upath import UPath

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.http.fetch import HttpFetcher
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.site.page_copies.writer import take_copies
from ragval_pipeline.sources.site.page_reader import PageReader
from ragval_pipeline.suite.sections import RetrySettings
from ragval_pipeline.validation.chunks.integrity import measure_integrity
from ragval_pipeline.validation.measurement import Measurement
from tests.validation.chunks.world import html, made, paragraphs, point, snapshot_of
from tests.validation.factory import site

TEXT = "Page {} tells how the gripper closes until the motor draws more than two amperes, and what part {} is for."
SHELL = '<html><body><div id="root"></div><script src="/app.js"></script></body></html>'


@dataclass(frozen=True)
class Fault:
    """What becomes of a site of 40 pages after the first ``well`` ones, and what a run says of it.

    ``status`` 0 breaks the connection, 200 is a page without text, 302 leads to a sign-in page. ``measured``: the
    criteria have values.
    ``severity``: of the pages that are told, if they are; None: nothing is told.
    """

    well: int
    status: int
    failed: bool = False
    measured: bool = False
    severity: str | None = None
    pages: int = 40


ROWS = {
    "503 for 36 of 40": Fault(4, 503, failed=True),
    "503 for all of 4": Fault(0, 503, failed=True, pages=4),
    "503 for 1 of 4": Fault(3, 503, severity="warning", pages=4),
    "503 for 2 of 4": Fault(2, 503, failed=True, pages=4),
    "503 for 1 of 1": Fault(0, 503, failed=True, pages=1),
    "401 for 5 of 40": Fault(35, 401, failed=True),
    "429 for 20 of 40": Fault(20, 429, failed=True),
    "no answer for 36 of 40": Fault(4, 0, failed=True),
    "500 for 4 of 40": Fault(36, 500, measured=True, severity="warning"),
    "404 for all of 40": Fault(0, 404, severity="error"),
    "410 for 5 of 40": Fault(35, 410, severity="error"),
    "404 for 4 of 40": Fault(36, 404, measured=True, severity="warning"),
    "no text on 36 of 40": Fault(4, 200, severity="warning"),
    "a sign-in page for 36 of 40": Fault(4, 302, severity="error"),
    "all well": Fault(40, 200, measured=True),
}


@pytest.mark.parametrize("fault", ROWS.values(), ids=ROWS)
def test_pages_that_cannot_be_read_are_a_share_with_a_limit(tmp_path: Path, fault: Fault) -> None:
    if fault.failed:
        with pytest.raises(SystemFailure) as failure:
            judged(tmp_path, fault)
        assert failure.value.code == "source.unreachable"
        return
    found = judged(tmp_path, fault)
    for name in ("content_integrity", "source_captured"):
        value = found.value(name)
        assert value is not None
        assert (value.value == 1.0, value.reason_code) == ((True, None) if fault.measured else (False, "too_few"))
        assert fault.measured or "source.min_readable is 0.9" in value.reason
    told = {finding.severity for finding in found.findings}
    assert told == ({fault.severity} if fault.severity else set())


def test_a_host_that_fails_is_not_asked_for_the_rest(tmp_path: Path) -> None:
    asked: list[str] = []
    with pytest.raises(SystemFailure, match=r"failed for 5 of 40 pages"):
        judged(tmp_path, Fault(4, 503), asked=asked)
    assert len(set(asked)) < 30


def judged(folder: Path, fault: Fault, *, asked: list[str] | None = None) -> Measurement:
    """The integrity of an index that holds every page of the site as it is."""
    texts = {f"/page-{number:02}": TEXT.format(number, number * 7) for number in range(fault.pages)}

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if asked is not None:
            asked.append(path)
        if path == "/login":
            return httpx.Response(200, html=html(paragraphs("Sign in to read on. " * 9)))
        if int(path[-2:]) < fault.well:
            return httpx.Response(200, html=html(paragraphs(texts[path])))
        if not fault.status:
            raise httpx.ReadError("the connection was closed")
        return httpx.Response(fault.status, html=SHELL, headers={"Location": "/login"} if fault.status == 302 else {})

    inventory = site(*texts)
    with HttpFetcher(policy=RetrySettings(max=0), transport=httpx.MockTransport(answer)) as fetcher:
        manifest = take_copies(
            inventory,
            PageReader(site_root=None, base_path=None, fetcher=fetcher, folder=inventory.folder()),
            max_pages=100,
            min_readable=0.9,
            folder=UPath(folder / "pages"),
            kept_uri=str(folder / "kept"),
            run_id="run",
        )
    snapshot = snapshot_of(folder, dict(texts), *(point(path, text) for path, text in texts.items()))
    return measure_integrity(made(folder, snapshot, PageCopies(manifest)))
