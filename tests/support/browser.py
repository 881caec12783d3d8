"""A headless Chromium for tests marked ``browser``, driven by Playwright."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.tools import chromium_path

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium that is installed; Playwright's own download is not needed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--disable-dev-shm-usage"])
        try:
            yield browser
        finally:
            browser.close()


def picture(page: Page, file: Path, *, colors: int = 256) -> None:
    """A screenshot as a PNG of few colours: the docs' pictures stay below 200 kB."""
    import io

    from PIL import Image

    file.parent.mkdir(parents=True, exist_ok=True)
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(colors).save(file, optimize=True)
