"""Heading context that never goes below the first level.

What lives here: ``payload.flat_headings``. What does not: headings that are missing from the text
(``validation/integrity``).

The context is flat when every chunk of a page carries the page's one heading although the page goes deeper. Deeper
headings show on the page where it was read, else in chunks that keep Markdown. A chunk that carries only the heading
nearest to it is not flat: those differ within a page. And a page that is one chunk has nothing to go deeper with.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject

#: Snapshot columns that ``collect_headings`` needs.
COLUMNS = ("page_key", "text", "headings")

#: Pages with several chunks and deeper headings that must be there, and the share of them that is flat.
MIN_PAGES = 2
MIN_SHARE = 0.95
_DEEPER = re.compile(r"^ {0,3}#{2,6}\s+\S", re.MULTILINE)


@dataclass
class PageHeadings:
    """What the chunks of one page carry.

    Args:
        chunks: Chunks with headings.
        deepest: Headings in the longest list.
        contexts: Distinct lists, two at most.
        deeper: Whether a chunk's text holds a Markdown heading below the first level.
    """

    chunks: int = 0
    deepest: int = 0
    contexts: set[tuple[str, ...]] = field(default_factory=set)
    deeper: bool = False

    def add(self, headings: tuple[str, ...], *, deeper: bool) -> None:
        """Take one chunk in."""
        self.chunks += 1
        self.deepest = max(self.deepest, len(headings))
        self.deeper = self.deeper or deeper
        if len(self.contexts) < 2:
            self.contexts.add(headings)

    def merge(self, other: PageHeadings) -> PageHeadings:
        """What the chunks of both slices carry."""
        contexts = set(sorted(self.contexts | other.contexts)[:2])
        deepest = max(self.deepest, other.deepest)
        return PageHeadings(self.chunks + other.chunks, deepest, contexts, self.deeper or other.deeper)

    @property
    def flat(self) -> bool:
        """Whether all chunks carry the same heading, and no more than one."""
        return self.deepest <= 1 and len(self.contexts) == 1


def collect_headings(rows: Iterable[Mapping[str, Any]]) -> dict[str, PageHeadings]:
    """Headings by page."""
    pages: dict[str, PageHeadings] = {}
    for row in rows:
        if row["page_key"] is not None and row["headings"]:
            deeper = _DEEPER.search(row["text"] or "") is not None
            pages.setdefault(row["page_key"], PageHeadings()).add(tuple(row["headings"]), deeper=deeper)
    return pages


def merge_headings(slices: Iterable[Mapping[str, PageHeadings]]) -> dict[str, PageHeadings]:
    """Headings by page over all slices."""
    merged: dict[str, PageHeadings] = {}
    for pages in slices:
        for key, page in pages.items():
            merged[key] = merged[key].merge(page) if key in merged else page
    return merged


def may_be_flat(pages: Mapping[str, PageHeadings]) -> bool:
    """Whether it depends on the pages: enough of them have several chunks and one heading."""
    return sum(page.chunks > 1 and page.flat for page in pages.values()) >= MIN_PAGES


def flat_heading_findings(
    pages: Mapping[str, PageHeadings], *, field_name: str, deeper_pages: Collection[str] = ()
) -> list[Finding]:
    """``payload.flat_headings``.

    Args:
        pages: Over the whole collection.
        field_name: Payload name of the headings.
        deeper_pages: Keys of pages that were read and have headings below the first level.
    """
    judged = [page for key, page in pages.items() if page.chunks > 1 and (page.deeper or key in deeper_pages)]
    flat = sum(page.flat for page in judged)
    if flat < MIN_PAGES or flat < MIN_SHARE * len(judged):
        return []
    details = {"pages": len(judged), "flat": flat, "share": round(flat / len(judged), 4)}
    subject = Subject(name=field_name, details=details)
    return [make_finding("payload.flat_headings", [subject], details=details)]
