"""What pages and chunks have in common, and its detectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Aspect, Finding, Subject
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.rows import BlockFacts, ChunkFacts, PageFacts
from ragval_pipeline.validation.integrity.content import (
    ChunkClass,
    cut_chunks,
    is_replaced,
    lost_headings,
    lost_passages,
    next_to_lost,
    pages_holding,
    stands_among,
)
from ragval_pipeline.validation.thresholds import FEWEST, WHOLE

#: Passages, headings and joins that the details of one subject hold.
DETAILED = 10  # shown


_MADE = (
    "Most pages have such a point in addition to chunks that contain the whole page: a generated summary or "
    "questions, or a leftover of an older version."
)
_SORT = (
    "If they were generated from the pages, give all points a payload field that distinguishes them from chunks, "
    "and exclude them with qdrant.filter. If they are left from an older version, delete them."
)


@dataclass(frozen=True)
class Compared:
    """The pages of an index against their chunks.

    Attributes:
        pages: Every in-scope page by key; the blocks of those only of which some block is lost, without blocks that
            stand on most pages.
        differing: Chunks that differ from their page or join words, by point id.
        classes: The class of each of them.
        short: The other chunks that are short, by page.
        strays: Sampled runs of points whose page was not read, by point id, and their pages.
        found: Letters of chunks that stand on their page.
        letters: Letters of chunks whose page was read.
        held: Letters of page content that stand in chunks.
        content: Letters of page content.
        added: Letters that the ingestion puts around its chunks.
    """

    pages: Mapping[str, PageFacts]
    differing: Mapping[str, ChunkFacts]
    classes: Mapping[str, ChunkClass]
    by_page: Mapping[str, Sequence[ChunkFacts]]
    strays: Sequence[ChunkFacts]
    found: int
    letters: int
    held: int
    content: int
    added: int

    @cached_property
    def stands_on(self) -> dict[str, str]:
        """The key of another page that a gone chunk stands on, by point id."""
        gone = {name: chunk.probes for name, chunk in self.differing.items() if self.classes[name] == "gone"}
        return {
            name: others[0]
            for name, keys in pages_holding(gone, self.pages.values()).items()
            if (others := [key for key in keys if key != self.differing[name].page_key])
        }

    @cached_property
    def made(self) -> frozenset[str]:
        """Gone chunks that were probably made from their pages, as summaries are: most pages have one.

        They stand beside chunks that hold the whole page, and take the place of none.
        """
        own = [name for name, kind in self.classes.items() if kind == "gone" and name not in self.stands_on]
        beside = {self.differing[name].page_key or "" for name in own}
        whole = [key for key in beside if not lost_passages(self.pages[key].blocks)]
        stored = sum(_has_chunks(page) for page in self.read)
        return frozenset(own) if len(whole) >= max(FEWEST, WHOLE * stored) else frozenset()

    @cached_property
    def differing_of(self) -> dict[str, list[ChunkFacts]]:
        """The chunks of each page that differ from it."""
        found: dict[str, list[ChunkFacts]] = {}
        for chunk in self.differing.values():
            found.setdefault(chunk.page_key or "", []).append(chunk)
        return found

    def is_all_gone(self, page: PageFacts) -> bool:
        """Whether no chunk holds what its page says: a question about the page has nothing to find."""
        own = self.differing_of.get(page.page_key, ())
        return 0 < page.chunks == sum(self.classes[chunk.point_id] == "gone" for chunk in own)

    @property
    def read(self) -> list[PageFacts]:
        """Pages whose text could be read."""
        return [page for page in self.pages.values() if page.state == "read"]


@detector("source.page_unfit", needs=Compared)
def _unfit(compared: Compared) -> Iterator[Subject]:
    for page in compared.pages.values():
        if page.unfit:
            yield Subject(name=page.url, page=page.page_key, details={"reason": page.unfit})


@detector("integrity.page_unreadable", needs=Compared)
def _unreadable(compared: Compared) -> Iterator[Subject]:
    for page in compared.pages.values():
        if page.state == "unreadable":
            details = {"reason": page.problem, "points": page.chunks + page.textless}
            yield Subject(name=page.url, page=page.page_key, details=details)


@detector("integrity.drifted", needs=Compared)
def _drifted(compared: Compared) -> Iterator[Subject]:
    return _of_class(compared, "drifted")


@detector("integrity.gone", needs=Compared)
def _gone(compared: Compared) -> Iterator[Finding]:
    subjects = list(_of_class(compared, "gone"))
    if subjects:
        cause, remedy = _stand_in(compared, [subject.name for subject in subjects]), None
        if cause is None and compared.made:
            cause, remedy = _MADE, _SORT
        yield make_finding("integrity.gone", subjects, cause=cause, remedy=remedy)


def _stand_in(compared: Compared, gone: Sequence[str]) -> str | None:
    """The cause where several pages have the same text in their place: what the crawler was answered."""
    alike: dict[tuple[int, ...], list[ChunkFacts]] = {}
    for name in gone:
        chunk = compared.differing[name]
        if chunk.probes and name not in compared.stands_on:
            alike.setdefault(chunk.probes, []).append(chunk)
    pages, points = 0, 0
    for chunks in alike.values():
        held = {chunk.page_key for chunk in chunks}
        if len(held) >= FEWEST:
            pages, points = max(pages, len(held)), points + len(chunks)
    if not pages:
        return None
    told = (
        f"The same text is stored for {pages:,} pages, and it is on none of them: the crawler was served something "
        "other than what readers see, such as a notice to enable JavaScript, to accept cookies or to sign in."
    )
    return told if points == len(gone) else f"{told} Others: {CATALOGUE['integrity.gone'].cause}"


def _of_class(compared: Compared, wanted: ChunkClass) -> Iterator[Subject]:
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
        if wanted == "drifted":
            details["replaced"] = [{"words": each.words, "page": each.page} for each in chunk.replaced[:DETAILED]]
            details["inserted"] = list(chunk.inserted[:DETAILED])
        without = frozenset({Aspect.COPIES}) if lost_passages(page.blocks) else frozenset()
        if wanted == "gone":
            if not compared.is_all_gone(page):
                without |= {Aspect.TARGET}  # what is expected is there, in the page's other chunks
            if name in compared.stands_on:
                details["stands_on"] = compared.pages[compared.stands_on[name]].url
                without |= {Aspect.VERSION}  # no version of its page held the text of another
            if name in compared.made:
                without |= {Aspect.TEXT, Aspect.PLACE}  # nothing is lost because of it
            # A copy that was put beside the page's own chunks takes nothing from it.
            details["page_is_whole"] = not lost_passages(page.blocks)
        yield Subject(
            name=name,
            page=chunk.page_key,
            details=details,
            # Of a chunk that has nothing of its page no words are compared.
            words=chunk.changed if chunk.words else None,
            extent=1 - chunk.share,
            without=without,
        )


@detector("integrity.not_captured", needs=Compared)
def _not_captured(compared: Compared) -> Iterator[Subject]:
    for page in compared.read:
        passages = lost_passages(page.blocks) if _has_chunks(page) else []
        if passages:
            letters = sum(block.letters for block in page.blocks)
            captured = sum(block.held for block in page.blocks) / letters
            cut = _cut(compared, page)
            details = {
                "captured": round(captured, 4),
                "lost": len(passages),
                "lost_letters": sum(block.letters - block.held for block in passages),
                "passages": [{"kind": block.kind, "text": block.text} for block in passages[:DETAILED]],
                **cut,
            }
            only_headings = all(block.kind == "heading" for block in passages)
            without = _uncut(cut) | _kept_apart(compared, page, passages, behind=True)
            without |= frozenset() if only_headings else {Aspect.HEADINGS}
            beside = next_to_lost(compared.by_page.get(page.page_key, ()), passages)
            yield Subject(
                name=page.url,
                page=page.page_key,
                details=details,
                points=tuple(beside),
                beside=tuple(beside.values()),
                without=without,
                extent=1 - captured,
            )


@detector("integrity.heading_loss", needs=Compared)
def _heading_loss(compared: Compared) -> Iterator[Subject]:
    for page in compared.read:
        chunks = compared.by_page.get(page.page_key, ())
        headings = lost_headings(page.blocks, chunks) if _has_chunks(page) else []
        if headings:
            shown = [block.text for block in headings[:DETAILED]]
            cut = _cut(compared, page)
            details = {"lost": len(headings), "headings": shown, **cut}
            # An altered heading opens its chunk.
            without = _uncut(cut) | _kept_apart(compared, page, headings, behind=False)
            yield Subject(name=page.url, page=page.page_key, details=details, without=without)


def _kept_apart(compared: Compared, page: PageFacts, lost: Sequence[BlockFacts], *, behind: bool) -> frozenset[Aspect]:
    """What a loss does not follow from: chunks that hold other words somewhere else on the page.

    A chunk that is gone from the page may stand for what was lost between the chunks before and after it.
    """
    chunks = compared.differing_of.get(page.page_key, [])
    gone = [chunk for chunk in chunks if compared.classes[chunk.point_id] == "gone"]
    names = {chunk.point_id for chunk in gone}
    others = [chunk for chunk in compared.by_page.get(page.page_key, ()) if chunk.point_id not in names]
    if any(stands_among(chunk, others, lost) for chunk in gone) or is_replaced(chunks, lost, behind=behind):
        return frozenset()
    # A point of which no letter is left may have held it.
    return frozenset({Aspect.TEXT} if page.textless else {Aspect.TEXT, Aspect.LETTERS})


def _uncut(cut: Mapping[str, Any]) -> frozenset[Aspect]:
    """A section may be short: content is lost by a short chunk only where one was cut."""
    return frozenset() if cut else frozenset({Aspect.CUT})


def _has_chunks(page: PageFacts) -> bool:
    """A page without chunks is missing as a whole."""
    return page.chunks + page.textless > 0


def _cut(compared: Compared, page: PageFacts) -> dict[str, Any]:
    cut = cut_chunks(compared.by_page.get(page.page_key, ()), page.blocks)
    return {"cut_chunks": cut} if cut else {}


@detector("text.glued_words", needs=Compared)
def _glued(compared: Compared) -> Iterator[Subject]:
    for name, chunk in compared.differing.items():
        # The breaks of a page say nothing about another text.
        if chunk.joins and compared.classes[name] != "gone":
            page = compared.pages[chunk.page_key or ""]
            details = {"page_url": page.url, "joins": len(chunk.joins), "words": list(chunk.joins[:DETAILED])}
            yield Subject(name=name, page=chunk.page_key, details=details)
