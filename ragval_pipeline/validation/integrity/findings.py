"""From what was measured on pages and chunks to findings.

What lives here: one function a code. What does not: measuring (``compare``) and the criteria (``measure``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragval_pipeline.findings.aspects import Aspect
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.integrity.classes import ChunkClass, class_of
from ragval_pipeline.validation.integrity.habits import Habits
from ragval_pipeline.validation.integrity.results import ChunkResult, IntegrityResult, PageResult

#: Passages, headings and joins that the details of one subject hold.
DETAILED = 10

Classified = tuple[PageResult, ChunkResult, ChunkClass]


def classify(result: IntegrityResult, habits: Habits) -> list[Classified]:
    """Every chunk that differs from its page, with its class."""
    return [(page, chunk, class_of(chunk, habits)) for page in result.read() for chunk in page.differing]


def integrity_findings(
    result: IntegrityResult, classified: list[Classified], elsewhere: Mapping[str, str]
) -> list[Finding]:
    """All findings of the comparison.

    Args:
        result: The comparison.
        classified: Its chunks with their classes.
        elsewhere: Point id to the page that a gone chunk stands on.
    """
    found = [
        ("source.page_unfit", _unfit(result)),
        ("integrity.page_unreadable", _unreadable(result)),
        ("integrity.drifted", _of_class(classified, "drifted", {})),
        ("integrity.gone", _of_class(classified, "gone", elsewhere)),
        ("integrity.not_captured", _not_captured(result)),
        ("integrity.heading_loss", _heading_loss(result)),
        ("text.glued_words", _glued(classified)),
    ]
    findings = []
    for code, subjects in found:
        named = list(subjects)
        if named:
            findings.append(make_finding(code, named))
    return findings


def _unfit(result: IntegrityResult) -> Iterator[Subject]:
    for page in result.pages.values():
        if page.unfit:
            yield Subject(name=page.url, page=page.key, details={"reason": page.unfit})


def _unreadable(result: IntegrityResult) -> Iterator[Subject]:
    for page in result.pages.values():
        if page.state == "unreadable":
            details = {"reason": page.problem, "points": page.chunks + page.textless}
            yield Subject(name=page.url, page=page.key, details=details)


def _of_class(classified: list[Classified], wanted: ChunkClass, elsewhere: Mapping[str, str]) -> Iterator[Subject]:
    for page, chunk, chunk_class in classified:
        if chunk_class == wanted:
            details: dict[str, Any] = {
                "page_url": page.url,
                "coverage": round(chunk.share, 4),
                "words": chunk.words,
                "changed_words": chunk.changed,
            }
            if chunk.point_id in elsewhere:
                details["stands_on"] = elsewhere[chunk.point_id]
            if wanted == "gone":
                # A copy that was put beside the page's own chunks takes nothing from it.
                details["page_is_whole"] = not page.passages
            yield Subject(
                name=chunk.point_id,
                page=page.key,
                details=details,
                # Of a chunk that has nothing of its page no words are compared.
                words=chunk.changed if chunk.words else None,
                extent=1 - chunk.share,
                without=frozenset({Aspect.COPIES}) if page.passages else frozenset(),
            )


def _not_captured(result: IntegrityResult) -> Iterator[Subject]:
    for page in result.read():
        if page.passages:
            details = {
                "captured": round(page.captured / page.content, 4),
                "lost": len(page.passages),
                "lost_letters": sum(passage.letters for passage in page.passages),
                "passages": [{"kind": passage.kind, "text": passage.text} for passage in page.passages[:DETAILED]],
                **_cut(page),
            }
            only_headings = all(passage.kind == "heading" for passage in page.passages)
            without = _uncut(page) | (frozenset() if only_headings else {Aspect.HEADINGS})
            extent = 1 - page.captured / page.content
            yield Subject(name=page.url, page=page.key, details=details, without=without, extent=extent)


def _heading_loss(result: IntegrityResult) -> Iterator[Subject]:
    for page in result.read():
        if page.headings:
            details = {"lost": len(page.headings), "headings": list(page.headings[:DETAILED]), **_cut(page)}
            yield Subject(name=page.url, page=page.key, details=details, without=_uncut(page))


def _uncut(page: PageResult) -> frozenset[Aspect]:
    """A section may be short: content is lost by a short chunk only where one was cut."""
    return frozenset() if page.cut else frozenset({Aspect.CUT})


def _cut(page: PageResult) -> dict[str, Any]:
    return {"cut_chunks": list(page.cut)} if page.cut else {}


def _glued(classified: list[Classified]) -> Iterator[Subject]:
    for page, chunk, kind in classified:
        # The breaks of a page say nothing about another text.
        if chunk.glued and kind != "gone":
            details = {"page_url": page.url, "joins": len(chunk.glued), "words": list(chunk.glued[:DETAILED])}
            yield Subject(name=chunk.point_id, page=page.key, details=details)
