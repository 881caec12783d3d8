"""The pictures of the docs, taken anew by ``python -m docs.pictures [report] [terminal] [ui]``.

Those of ``docs/how-to/reading-the-report.md`` are of the demo with a planted defect, after a clean run; its report is
also the sample in ``docs/examples``, and README's terminal is what that demo prints. Those of ``docs/how-to/ui.md`` are
taken by the browser tests of Dagster's UI, which also say what must be on them.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

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
    if "terminal" in kinds:
        with tempfile.TemporaryDirectory(prefix="ragval-pictures-") as folder:
            take_terminal(Path(folder))
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
    shutil.copyfile(failed / "report.html", ROOT / "docs" / "examples" / "report.html")


def demo(folder: Path, code: str) -> Path:
    """The run folder of the demo with a planted defect, after a clean run."""
    folder.mkdir()
    for options in ([], ["--break", code]):
        ragval(folder, "demo", *options)
    return max(folder.glob(".ragval/demo/reports/*/2*"))


def ragval(folder: Path, *arguments: str) -> str:
    """What a command writes on a terminal of 96 columns."""
    program = str(Path(sys.executable).with_name("ragval"))
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("RAGVAL_", "DAGSTER_", "NO_COLOR"))
    }
    done = subprocess.run(  # noqa: S603
        [program, *arguments],
        cwd=folder,
        env={**kept, "COLUMNS": "96", "FORCE_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, f"ragval {' '.join(arguments)} did not run to its end"
    return done.stdout


def take_terminal(folder: Path) -> None:
    """Record a real run as SVG; its fonts are the reader's, so that it asks no other host for them."""
    command = "ragval demo --break coverage.missing_page"
    console = Console(record=True, width=98, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "green"), (command, "bold")))
    console.print(Text.from_ansi(ragval(folder, *command.split()[1:])))
    svg = console.export_svg(title="ragval", theme=MONOKAI, unique_id="ragval")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    (IMAGES / "terminal.svg").write_text(svg, encoding="utf-8")


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
    main(set(sys.argv[1:]) or {"report", "terminal", "ui"})
