"""What the subjects of a finding have in common: a folder, a kind of content, a place among the hits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.corpus import Corpus
from ragval_pipeline.sources.http.addresses import split_url
from ragval_pipeline.suite.printing import plural, times
from ragval_pipeline.validation.thresholds import MOST

#: Names of passages by kind; most content is paragraphs, which says nothing about a loss.
_KINDS = {"code": "code", "row": "tables", "item": "list items", "heading": "headings"}


@dataclass(frozen=True)
class Patterns:
    """Finds what subjects of one run have in common.

    Attributes:
        corpus: What the run read.
        located: Ranks of the right pages of failed queries, by query id.
        chunks: Chunks of the index; None if not counted.
    """

    corpus: Corpus
    located: Mapping[str, Mapping[str, Any]]
    chunks: int | None

    def of(self, finding: ReportedFinding, names: Sequence[str]) -> str:
        """What all subjects of a finding have in common, as a sentence without full stop; may be empty."""
        if finding.subject_kind == "page":
            told = [self._which_pages(names), self._what_is_lost(finding, names), self._how_often(finding, names)]
        elif finding.subject_kind == "point":
            told = [self._which_points(finding, names)]
        else:
            told = [self._where_pages_are(names)] if finding.code == "query.failed" else []
        return "; ".join(part for part in told if part)

    def _which_pages(self, names: Sequence[str]) -> str:
        site = self.corpus.site
        if len(site) > 1 and len(names) == len(site) and all(self.corpus.page(name) for name in names):
            return f"all {len(site):,} pages of the site"
        if len(names) < 3:
            return ""
        shared = _shared_folder(names)
        whole = [page for page in site if split_url(page.url).path.startswith(shared)]
        if not shared.strip("/") or len(whole) == len(site):
            return ""
        return f"all {len(names):,} under {shared}" + (
            "" if len(whole) > len(names) else ", and no other page is under it"
        )

    def _what_is_lost(self, finding: ReportedFinding, names: Sequence[str]) -> str:
        if finding.code != "integrity.not_captured":
            return ""
        pages = [page for name in names if (page := self.corpus.page(name))]
        parts = {page.lost for page in pages}
        if None not in parts and len(parts) == 1 and len(pages) == len(names):
            return f"it loses {parts.pop()}" if len(names) == 1 else f"each loses {parts.pop()}"
        letters: Counter[str] = Counter()
        for page in pages:
            letters.update(page.lost_letters)
        [(kind, most)] = letters.most_common(1) or [("", 0)]
        named = _KINDS.get(kind)
        return f"most of the lost text is {named}" if named and most > MOST * letters.total() else ""

    def _how_often(self, finding: ReportedFinding, names: Sequence[str]) -> str:
        if finding.code != "chunk.ingested_twice":
            return ""
        counts = {round(page.stored) for name in names if (page := self.corpus.page(name)) and page.stored}
        return f"{'it' if len(names) == 1 else 'each'} is stored {times(counts.pop())}" if len(counts) == 1 else ""

    def _where_pages_are(self, names: Sequence[str]) -> str:
        """Ranks of the right pages of failed questions."""
        places = [self.located[name].get("rank") for name in names if name in self.located]
        found = sorted(place for place in places if place is not None)
        if not found or len(names) < 2:
            return ""
        span = f"place {found[0]}" if found[0] == found[-1] else f"places {found[0]} to {found[-1]}"
        whose = "their pages" if len(found) == len(names) else f"{len(found):,} of their {len(names):,} pages"
        return f"{whose} {'comes' if len(found) == 1 else 'come'} further down, at {span}"

    def _which_points(self, finding: ReportedFinding, names: Sequence[str]) -> str:
        points = [self.corpus.points[name] for name in names if name in self.corpus.points]
        chunks = self.chunks
        told = [f"all {chunks:,} chunks of the index"] if chunks and chunks == len(names) > 1 else []
        pages = {point.page_key for point in points if point.page_key}
        if len(points) == len(names) > 1 and pages and not told:
            [first] = pages if len(pages) == 1 else [None]
            page = self.corpus.page(first)
            where = f"all on “{page.name}”" if page else f"on {plural(len(pages), 'page')}"
            told += [where] if where not in finding.message else []
        if len(points) == len(names) > 2 and {point.number for point in points} == {0}:
            told.append("each is the first chunk of its page")
        return "; ".join(told)


def _shared_folder(urls: Sequence[str]) -> str:
    paths = [split_url(url).path.rstrip("/").split("/")[:-1] for url in urls]
    shared = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "/".join(shared) + "/"
