"""What was measured on one page and its chunks: small, so that thousands of them can be held and merged.

What lives here: the shapes. What does not: measuring (``compare``) and judging (``classes``, ``findings``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

#: ``same`` stands in both, ``index`` only in the chunk, ``page`` only on the page, ``skipped`` is left out.
SegmentKind = Literal["same", "index", "page", "skipped"]
Segments = tuple[tuple[SegmentKind, str], ...]

PageState = Literal["read", "unreadable", "elsewhere"]


@dataclass(frozen=True)
class Edge:
    """The beginning or end of a chunk that its page does not have, before or after the first long run that it has.

    Args:
        word: The outermost word, without digits: what ingestions put there themselves, they put there often.
        missing: Letters that do not stand on the page.
        changed: Words of which some letter does not stand on the page.
        strange: The outermost word that the page does not have, without digits: before it may stand a title or an
            address, which differ from page to page.
        lacking: Words of which some letter does not stand on the page, those too that were only added.
    """

    word: str
    missing: int
    changed: int
    strange: str = ""
    lacking: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """The words by which it is told from others."""
        return tuple(dict.fromkeys(word for word in (self.word, self.strange) if word)) or (self.word,)


@dataclass(frozen=True)
class ChunkResult:
    """A chunk that differs from its page, or joins words.

    Args:
        point_id: Its point.
        letters: Letters and digits of the chunk.
        found: Those that stand on the page.
        words: Words, as blanks part them.
        changed: Those of which some letter does not stand on the page.
        surely: Letters found without words that stand alone in their line; null: all that were found.
        longest: Letters of the longest run that it shares with the page.
        openings: Its beginning, when the page does not have it, line by line.
        closings: Its end, when the page does not have it, line by line.
        glued: Words that are joined where the page has a break.
        segments: The differences, to be read; empty when there are too many chunks to show.
        probes: Pieces of a chunk that is hardly on its page, to look for them on other pages.
    """

    point_id: str
    letters: int
    found: int
    words: int = 0
    changed: int = 0
    surely: int | None = None
    longest: int = 0
    openings: tuple[Edge, ...] = ()
    closings: tuple[Edge, ...] = ()
    glued: tuple[str, ...] = ()
    segments: Segments = ()
    probes: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Fraction of letters that stand on the page."""
        return self.found / self.letters if self.letters else 1.0


@dataclass(frozen=True)
class Passage:
    """A piece of page content that stands in no chunk."""

    kind: str
    text: str
    letters: int


@dataclass(frozen=True)
class PageResult:
    """One in-scope page and its chunks.

    Args:
        key: Canonical form of its address.
        url: As the sitemap spells it.
        state: ``read``; ``unreadable``: there is no page or no text; ``elsewhere``: it only sends its visitors on.
        problem: Why it could not be read.
        unfit: Why it should not be in the sitemap, or null.
        chunks: Its chunks that have text.
        textless: Its chunks that have none.
        letters: Letters and digits of its chunks; 0 unless it was read.
        found: Those that stand on the page.
        content: Letters and digits of its content; 0 unless it was read.
        captured: Those that stand in its chunks.
        differing: Chunks that differ or join words.
        passages: Content that stands in no chunk.
        headings: Headings that stand in no chunk although their text does.
        cut: Ids of short chunks in whose section such content is.
    """

    key: str
    url: str
    state: PageState = "read"
    problem: str = ""
    unfit: str | None = None
    chunks: int = 0
    textless: int = 0
    letters: int = 0
    found: int = 0
    content: int = 0
    captured: int = 0
    differing: tuple[ChunkResult, ...] = ()
    passages: tuple[Passage, ...] = ()
    headings: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


@dataclass
class IntegrityResult:
    """The pages of a slice of the site; slices with different pages merge."""

    pages: dict[str, PageResult] = field(default_factory=dict)

    def read(self) -> list[PageResult]:
        """Pages whose text could be read."""
        return [page for page in self.pages.values() if page.state == "read"]


def merge_integrity(slices: Iterable[IntegrityResult]) -> IntegrityResult:
    """The result of the whole site from those of its slices."""
    merged: dict[str, PageResult] = {}
    for part in slices:
        merged.update(part.pages)
    return IntegrityResult(merged)
