"""The pictures of ``docs/reading-the-report.md``: ``python -m docs.pictures FAILED DRIFTED``.

Both arguments are run folders: of ``ragval demo --break coverage.missing_page`` and ``--break integrity.drifted``, each
after a clean ``ragval demo`` in the same directory.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.browser import chromium, picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = Path(__file__).parent / "images"


def main(failed: Path, drifted: Path) -> None:
    """Take every picture."""
    with chromium() as browser:
        take(browser, failed, "report-top.png", width=1280, height=1240)
        take(browser, failed, "report-narrow.png", width=400, height=1240, scheme="dark")
        take(browser, failed, "report-queries.png", at="#query-17", width=1280, height=820, before=-330)
        take(browser, drifted, "report-texts.png", at="#texts", width=1280, height=420)
        take(browser, failed, "report-plots.png", at="#distributions", width=1280, height=900, scheme="dark")


def take(
    browser: Browser,
    run: Path,
    name: str,
    *,
    width: int,
    height: int,
    at: str | None = None,
    before: int = -16,
    scheme: str = "light",
) -> None:
    """One picture of a report, from its top or from the element ``at``, which is opened."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto((run / "report.html").resolve().as_uri() + (at or ""))
    if at is not None:
        page.evaluate(f"scrollBy(0, {before})")
    picture(page, IMAGES / name, colors=200)
    context.close()


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:3]))
