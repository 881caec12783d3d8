"""Heading context that never goes below the first level.

The context is flat when every chunk of a page carries the page's one heading although the page goes deeper. Deeper
headings show on the page where it was read, else in chunks that keep Markdown. A chunk that carries only the heading
nearest to it is not flat: those differ within a page. And a page that is one chunk has nothing to go deeper with.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.payload.evidence import MIN_PAGES, PayloadEvidence
from ragval_pipeline.validation.thresholds import FEW

_DEEPER = re.compile(r"^ {0,3}#{2,6}\s+\S", re.MULTILINE)


@dataclass
class _Headings:
    """What the chunks of one page carry: how many do, the longest list, and the distinct lists, two at most."""

    chunks: int = 0
    deepest: int = 0
    contexts: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def flat(self) -> bool:
        """Whether all chunks carry the same heading, and no more than one."""
        return self.deepest <= 1 and len(self.contexts) == 1


@detector("payload.flat_headings", needs=PayloadEvidence)
def find_flat_headings(evidence: PayloadEvidence) -> Iterator[Finding]:
    """The field of the headings, where nearly every page that goes deeper is flat."""
    if "headings" not in evidence.rules.fields:
        return
    pages = {key: page for key, page in _by_page(evidence).items() if page.chunks > 1}
    if sum(page.flat for page in pages.values()) < MIN_PAGES:
        return
    judged = [pages[key] for key in _deeper_pages(evidence, pages)]
    flat = sum(page.flat for page in judged)
    if flat < MIN_PAGES or flat < (1 - FEW) * len(judged):
        return
    details = {"pages": len(judged), "flat": flat, "share": round(flat / len(judged), 4)}
    subject = Subject(name=evidence.rules.fields["headings"], details=details)
    yield make_finding("payload.flat_headings", [subject], details=details)


def _by_page(evidence: PayloadEvidence) -> dict[str, _Headings]:
    pages: dict[str, _Headings] = {}
    for key, headings in zip(*(evidence.table.column(name) for name in ("page_key", "headings")), strict=True):
        if key.is_valid and headings.is_valid and (context := tuple(headings.as_py())):
            page = pages.setdefault(key.as_py(), _Headings())
            page.chunks += 1
            page.deepest = max(page.deepest, len(context))
            if len(page.contexts) < 2:
                page.contexts.add(context)
    return pages


def _deeper_pages(evidence: PayloadEvidence, pages: Collection[str]) -> set[str]:
    """Those of the pages that have headings below the first level, as read or in chunks that keep Markdown."""
    read = {row["page_key"] for row in evidence.pages() if any(entry["level"] > 1 for entry in row["headings"])}
    written = {row["page_key"] for row in evidence.texts() if row["headings"] and _DEEPER.search(row["text"] or "")}
    return {key for key in pages if key in read or key in written}
