"""The Markdown sources of the demo's book."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

import yaml

#: RFC 2606 reserves ``.example``: no such host can ever exist, so nothing is fetched by accident.
BASE_URL = "https://physical-ai-book.example"
PACKAGE = "ragval_pipeline.demo"
_FENCE = "---\n"


@dataclass(frozen=True)
class SourcePage:
    """One page of the book as its author wrote it.

    Args:
        path: Path below ``/docs/`` without suffix, e.g. ``module-1-ros2/ch1-ros2-basics``.
        title: Title; the page's H1 says the same.
        module: Module label, e.g. ``Module 1 Ros2``.
        lastmod: Day of the last change.
        position: Reading order, from 1.
        markdown: The text below the front matter, H1 included.
    """

    path: str
    title: str
    module: str
    lastmod: dt.date
    position: int
    markdown: str

    @property
    def url(self) -> str:
        """Address of the page on the (imaginary) public site."""
        return f"{BASE_URL}/docs/{self.path}"


def package_file(*parts: str) -> Traversable:
    """A file or folder of the demo's package data."""
    return files(PACKAGE).joinpath(*parts)


def load_pages() -> list[SourcePage]:
    """Every page of the book in reading order."""
    pages = [_parse(path, text) for path, text in _sources(package_file("content"))]
    return sorted(pages, key=lambda page: page.position)


def _sources(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".md"):
            yield f"{prefix}{entry.name.removesuffix('.md')}", entry.read_text(encoding="utf-8")


def _parse(path: str, text: str) -> SourcePage:
    _, front, markdown = text.split(_FENCE, 2)
    return SourcePage(path=path, markdown=markdown, **yaml.safe_load(front))
