"""Where content of the pages was lost: at their ends, by an edit, in the extraction, or between the chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.rules.details import read
from ragval_pipeline.rules.integrity.not_captured import RULE as NOT_CAPTURED
from ragval_pipeline.rules.integrity.not_captured import Details
from ragval_pipeline.validation.chunks.compared import Compared
from ragval_pipeline.validation.chunks.content import is_lost, lost_passages
from ragval_pipeline.validation.chunks.drift import Cause
from ragval_pipeline.validation.facts.rows import BlockFacts, ChunkFacts, PageFacts
from ragval_pipeline.validation.thresholds import FEW, FEWEST, MOST

#: What lacks the ends of its pages, where that is all that it lacks.
_ENDS_EARLY = (
    "The chunks end before {pages}: the ingestion stopped early, only the beginning was read, the extraction drops "
    "what comes last, such as footnotes, or the page has grown since."
)
_READ_ON = (
    "Re-ingest these URLs. If the same ends are missing again, correct what cuts them: the crawler, the extraction or "
    "the chunker."
)
_DROPS = (
    "The extraction drops {kinds}: most of them are in no chunk, and hardly anything else of these pages is missing."
)
_KEEP = (
    "Correct the extraction so that it keeps {kinds}, then re-ingest these URLs. If they are left out on purpose, "
    "change the severity of integrity.not_captured."
)
_BETWEEN = (
    "Nothing is missing within a chunk, only between chunks and beside the outermost ones: the chunker skips text or "
    "cuts its chunks off, points were deleted, overwritten by others with the same id or never written, or the "
    "extraction drops what is at the end of sections."
)
_WRITE_ALL = (
    "Re-ingest these URLs. If passages are missing again, see what the chunker does at the ends of chunks and with "
    "short ones, and whether all points have ids of their own."
)
_KINDS = {"code": "code blocks", "row": "table rows", "item": "list items", "heading": "headings"}


def cause_of_losses(compared: Compared, subjects: Sequence[Subject]) -> Cause:
    """Why the pages of some subjects lack content, if that shows."""
    early = sum(read(Details, subject.details).ends_early for subject in subjects)
    if early == len(subjects):
        return Cause(_ENDS_EARLY.format(pages="their page does" if early == 1 else "their pages do"), _READ_ON)
    pages = [compared.pages[subject.page or ""] for subject in subjects]
    # What is lost where another text is stored instead says nothing about the other pages.
    own_texts = [page for page in pages if not _holds_another_text(compared, page)]

    def told(cause: str) -> str:
        some = f"On {len(own_texts):,} of these pages, {cause[0].lower()}{cause[1:]}"
        return cause if len(own_texts) == len(pages) else some

    if len(own_texts) >= FEWEST and (kinds := _dropped(own_texts)):
        named = " and ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
        return Cause(told(_DROPS.format(kinds=named)), _KEEP.format(kinds=named))
    if edited := sum(_is_reworded(compared, page.page_key) for page in pages):
        return Cause(_edited(edited, len(subjects)))
    within = (_has_lost_within(compared.by_page.get(page.page_key, ()), page) for page in own_texts)
    return Cause() if len(own_texts) < FEWEST or any(within) else Cause(told(_BETWEEN), _WRITE_ALL)


def _holds_another_text(compared: Compared, page: PageFacts) -> bool:
    return any(compared.classes[chunk.point_id] == "gone" for chunk in compared.differing_of.get(page.page_key, ()))


def ends_early(chunks: Iterable[ChunkFacts], passages: Sequence[BlockFacts]) -> bool:
    """Whether all that is lost is behind the last letter that a chunk holds."""
    last = max((behind for chunk in chunks for _, behind in chunk.spans), default=0)
    return last > 0 and all(block.start + block.letters > last for block in passages)


def _dropped(pages: Iterable[PageFacts]) -> list[str]:
    """The kinds of blocks of which most are lost, if these are nearly all that is: an edit spares no kind."""
    letters, lost = Counter[str](), Counter[str]()
    for page in pages:
        for block in page.blocks:
            letters[block.kind] += block.letters
            lost[block.kind] += block.letters - block.held if is_lost(block) else 0
    kinds = [kind for kind in _KINDS if lost[kind] > MOST * letters[kind]]
    return [_KINDS[kind] for kind in kinds] if sum(lost[kind] for kind in kinds) >= (1 - FEW) * lost.total() else []


def _has_lost_within(chunks: Iterable[ChunkFacts], page: PageFacts) -> bool:
    """Whether a passage is lost between two parts of one chunk, as by an edit or in the extraction."""
    stretches = list(_stretches(chunks))
    return any(
        start < block.start and block.start + block.letters < end
        for block in lost_passages(page.blocks)
        for start, end in stretches
    )


def _stretches(chunks: Iterable[ChunkFacts]) -> Iterator[tuple[int, int]]:
    return (chunk.stretch for chunk in chunks if chunk.stretch is not None)


def _is_reworded(compared: Compared, page: str) -> bool:
    """Whether a page has other words in the place of some of a chunk: extractions drop text, but replace none."""
    return any(
        each.words
        for chunk in compared.differing_of.get(page, ())
        if compared.classes[chunk.point_id] == "drifted"
        for each in chunk.replaced
    )


def _edited(pages: int, of: int) -> str:
    """The cause of lost passages if so many of the pages were also reworded."""
    if of == 1:
        return "The page was probably edited after ingestion: it also has other words in the place of some of a chunk."
    named = "The pages were" if pages == of else f"{pages:,} of these pages {'was' if pages == 1 else 'were'}"
    have, whose = ("it also has", "its") if pages == 1 else ("they also have", "their")
    told = f"{named} probably edited after ingestion: {have} other words in the place of some in {whose} chunks."
    return told if pages == of else f"{told} Others: {NOT_CAPTURED.cause}"
