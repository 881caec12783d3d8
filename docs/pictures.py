"""The pictures of the docs, taken anew: ``python -m docs.pictures``, with ``report`` or ``ui`` for one kind alone.

Those of ``docs/reading-the-report.md`` are of the demo with a planted defect, after a clean run. Those of
``docs/ui.md`` are taken by the browser tests of Dagster's UI, which also say what must be on them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.browser import chromium, picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"


def main(kinds: set[str]) -> None:
    """Take every picture of some kinds."""
    if "report" in kinds:
        with tempfile.TemporaryDirectory(prefix="ragval-pictures-") as folder:
            take_reports(Path(folder))
    if "ui" in kinds:
        tests = [sys.executable, "-m", "pytest", "tests/orchestration/test_ui.py", "-q", "-n", "0"]
        subprocess.run(tests, cwd=ROOT, env={**os.environ, "RAGVAL_PICTURES": str(IMAGES)}, check=True)  # noqa: S603


def take_reports(folder: Path) -> None:
    """Take every picture of a report."""
    failed, drifted = (demo(folder / code, code) for code in ("coverage.missing_page", "integrity.drifted"))
    with chromium() as browser:
        take(browser, failed, "report-top.png", width=1280, height=1000)
        take(browser, failed, "report-narrow.png", width=400, height=1240, scheme="dark")
        take(browser, failed, "report-queries.png", at="#query-18", width=1280, height=900, before=-180)
        take(browser, drifted, "report-texts.png", at="#texts", width=1280, height=520)
        take(browser, failed, "report-plots.png", at="#distributions", width=1280, height=900, scheme="dark")


def demo(folder: Path, code: str) -> Path:
    """The run folder of the demo with a planted defect, after a clean run."""
    folder.mkdir()
    ragval = str(Path(sys.executable).with_name("ragval"))
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("RAGVAL_", "DAGSTER_"))}
    for options in ([], ["--break", code]):
        done = subprocess.run([ragval, "demo", *options], cwd=folder, env=environ, check=False)  # noqa: S603
        assert done.returncode in {0, 1}, "the demo did not run to its end"
    return max(folder.glob(".ragval/demo/reports/*/2*"))


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
    main(set(sys.argv[1:]) or {"report", "ui"})
