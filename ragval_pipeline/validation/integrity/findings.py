"""From what pages and chunks have in common to findings: one function a code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.aspects import Aspect
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.facts.rows import PageFacts
from ragval_pipeline.validation.integrity.classes import ChunkClass
from ragval_pipeline.validation.integrity.content import cut_chunks, lost_headings, lost_passages

if TYPE_CHECKING:
    from ragval_pipeline.validation.integrity.measure import Compared

#: Passages, headings and joins that the details of one subject hold, and the most that are counted of one page.
DETAILED, COUNTED = 10, 50  # shown


def integrity_findings(compared: Compared, stands_on: Mapping[str, str]) -> list[Finding]:
    """All findings of the comparison.

    Args:
        compared: The comparison.
        stands_on: Point id to the page that a gone chunk stands on.
    """
    found = [
        ("source.page_unfit", _unfit(compared)),
        ("integrity.page_unreadable", _unreadable(compared)),
        ("integrity.drifted", _of_class(compared, "drifted", {})),
        ("integrity.gone", _of_class(compared, "gone", stands_on)),
        ("integrity.not_captured", _not_captured(compared)),
        ("integrity.heading_loss", _heading_loss(compared)),
        ("text.glued_words", _glued(compared)),
    ]
    named = [(code, list(subjects)) for code, subjects in found]
    return [make_finding(code, subjects) for code, subjects in named if subjects]


def _unfit(compared: Compared) -> Iterator[Subject]:
    for page in compared.pages.values():
        if page.unfit:
            yield Subject(name=page.url, page=page.page_key, details={"reason": page.unfit})


def _unreadable(compared: Compared) -> Iterator[Subject]:
    for page in compared.pages.values():
        if page.state == "unreadable":
            details = {"reason": page.problem, "points": page.chunks + page.textless}
            yield Subject(name=page.url, page=page.page_key, details=details)


def _of_class(compared: Compared, wanted: ChunkClass, stands_on: Mapping[str, str]) -> Iterator[Subject]:
    for name, chunk in compared.differing.items():
        if compared.classes[name] != wanted:
            continue
        page = compared.pages[chunk.page_key or ""]
        details: dict[str, Any] = {
            "page_url": page.url,
            "coverage": round(chunk.share, 4),
            "words": chunk.words,
            "changed_words": chunk.changed,
        }
        if name in stands_on:
            details["stands_on"] = stands_on[name]
        if wanted == "gone":
            # A copy that was put beside the page's own chunks takes nothing from it.
            details["page_is_whole"] = not lost_passages(page.blocks)
        yield Subject(
            name=name,
            page=chunk.page_key,
            details=details,
            # Of a chunk that has nothing of its page no words are compared.
            words=chunk.changed if chunk.words else None,
            extent=1 - chunk.share,
            without=frozenset({Aspect.COPIES}) if lost_passages(page.blocks) else frozenset(),
        )


def _not_captured(compared: Compared) -> Iterator[Subject]:
    for page in compared.read:
        passages = lost_passages(page.blocks) if _has_chunks(page) else []
        if passages:
            letters = sum(block.letters for block in page.blocks)
            captured = sum(block.held for block in page.blocks) / letters
            cut = _cut(compared, page)
            details = {
                "captured": round(captured, 4),
                "lost": min(len(passages), COUNTED),
                "lost_letters": sum(block.letters for block in passages[:COUNTED]),
                "passages": [{"kind": block.kind, "text": block.text} for block in passages[:DETAILED]],
                **cut,
            }
            only_headings = all(block.kind == "heading" for block in passages)
            without = _uncut(cut) | (frozenset() if only_headings else {Aspect.HEADINGS})
            yield Subject(name=page.url, page=page.page_key, details=details, without=without, extent=1 - captured)


def _heading_loss(compared: Compared) -> Iterator[Subject]:
    for page in compared.read:
        headings = lost_headings(page.blocks) if _has_chunks(page) else []
        if headings:
            shown = [block.text for block in headings[:DETAILED]]
            cut = _cut(compared, page)
            details = {"lost": min(len(headings), COUNTED), "headings": shown, **cut}
            yield Subject(name=page.url, page=page.page_key, details=details, without=_uncut(cut))


def _uncut(cut: Mapping[str, Any]) -> frozenset[Aspect]:
    """A section may be short: content is lost by a short chunk only where one was cut."""
    return frozenset() if cut else frozenset({Aspect.CUT})


def _has_chunks(page: PageFacts) -> bool:
    """A page without chunks is missing as a whole."""
    return page.chunks + page.textless > 0


def _cut(compared: Compared, page: PageFacts) -> dict[str, Any]:
    cut = cut_chunks(compared.by_page.get(page.page_key, ()), page.blocks)
    return {"cut_chunks": cut} if cut else {}


def _glued(compared: Compared) -> Iterator[Subject]:
    for name, chunk in compared.differing.items():
        # The breaks of a page say nothing about another text.
        if chunk.joins and compared.classes[name] != "gone":
            page = compared.pages[chunk.page_key or ""]
            details = {"page_url": page.url, "joins": len(chunk.joins), "words": list(chunk.joins[:DETAILED])}
            yield Subject(name=name, page=chunk.page_key, details=details)
