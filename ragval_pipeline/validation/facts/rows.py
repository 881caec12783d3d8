"""The typed rows of a bucket, one per chunk and one per page, with documented columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, NamedTuple

PageState = Literal["read", "unreadable", "elsewhere"]


@dataclass(frozen=True, slots=True)
class Replaced:
    """Words of a chunk where its page has others between the same words.

    Attributes:
        words: What the chunk has, as written.
        page: What the page has.
    """

    words: str
    page: str


@dataclass(frozen=True, slots=True)
class Edge:
    """The beginning or end of a chunk that is not on its page, before the first or after the last long run that is.

    Attributes:
        word: The outermost word, without digits: ingestions add the same words often.
        missing: Letters that are not on the page.
        replaced: Number of places where the page has other words.
        strange: The outermost word that is not on the page, without digits: it may follow a title or an address, which
            differ from page to page.
    """

    word: str
    missing: int
    replaced: int = 0
    strange: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words that identify it."""
        return tuple(dict.fromkeys(word for word in (self.word, self.strange) if word)) or (self.word,)


#: Maximum further positions of a run: texts stored, or shown, more often are assumed to have one each.
AGAIN = 64  # work


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """One point that has text.

    Attributes:
        point_id: Point id as text.
        page_key: Canonical form of its page; None when it names none.
        compared: Whether its page is in scope and was read; if not, nothing of the chunk was found.
        chunk_index: Position stored in the payload; None without one.
        embedded_at: Time of embedding as stored.
        model: Embedding model as stored.
        letters: Letters and digits of the text, without markup that no page shows.
        found: Letters that are found on the page.
        words: Words, split at whitespace.
        changed: Words with at least one letter that is not found on the page.
        replaced: Text between two passages that are close together on the page, with other words between them there;
            words that are only left out of a line are not listed.
        inserted: Text between two passages that follow each other directly on the page, as written.
        surely: Letters found, without words that are alone on their line.
        longest: Letters of the longest run that the chunk shares with its page, or with the source of that page.
        repeated: Whether the page has that run more than once, so that the chunk's position is not known.
        again: Other positions on the page where that run begins, at most ``AGAIN`` places.
        depth: Number of stored parent chunks, counted up through the hierarchy.
        starts: First letter in the chunk of each span that is on the page in one piece.
        places: First letter on the page of each span; -1 if it was found in the chunk's own title or headings, or in
            parts of the page outside its visible text: its title, descriptions of pictures.
        lengths: Letters of each span.
        outside: Letters in runs that are on the page outside its content: in menus and footers.
        openings: Text at the beginning of the chunk that is not on its page, line by line.
        closings: Text at the end of the chunk that is not on its page, line by line.
        joins: Words that are joined where the page has a break, as written in the chunk, and words that are divided at
            the end of a line or beside a ligature where it has none, with a blank.
        probes: Hashes of some of its runs of letters, to look for it on other pages; empty if it is on its own page.
    """

    point_id: str
    page_key: str | None
    compared: bool = False
    chunk_index: int | None = None
    embedded_at: str | None = None
    model: str | None = None
    letters: int = 0
    found: int = 0
    words: int = 0
    changed: int = 0
    surely: int = 0
    longest: int = 0
    starts: tuple[int, ...] = ()
    places: tuple[int, ...] = ()
    lengths: tuple[int, ...] = ()
    openings: tuple[Edge, ...] = ()
    closings: tuple[Edge, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    inserted: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()
    probes: tuple[int, ...] = ()
    repeated: bool = False
    again: tuple[int, ...] = ()
    depth: int = 0
    outside: int = 0

    @property
    def share(self) -> float:
        """Fraction of letters found on the page; 1 for a text without letters."""
        return self.found / self.letters if self.letters else 1.0

    @property
    def tail(self) -> int:
        """Letters after the last one missing on the page."""
        begin = self.letters
        for start, length in zip(reversed(self.starts), reversed(self.lengths), strict=True):
            if start + length < begin:
                break
            begin = start
        return self.letters - begin

    @property
    def head(self) -> int:
        """Letters before the first one missing on the page."""
        end = 0
        for start, length in zip(self.starts, self.lengths, strict=True):
            if start > end:
                break
            end = start + length
        return end

    @property
    def parts(self) -> list[tuple[int, int, int]]:
        """Its spans on the page: first letter in the chunk and on the page, and letters."""
        spans = zip(self.starts, self.places, self.lengths, strict=True)
        return [span for span in spans if span[1] >= 0]

    @property
    def spans(self) -> Iterator[tuple[int, int]]:
        """Its parts of the page as (start, end) letters, end exclusive."""
        return ((place, place + length) for _, place, length in self.parts)

    @property
    def longest_part(self) -> tuple[int, int, int] | None:
        """The longest of its parts, the first of several."""
        return max(self.parts, key=itemgetter(2), default=None)

    @property
    def stretch(self) -> tuple[int, int] | None:
        """From where to where it is on its page: the spans within its length of the longest one; words may be apart."""
        if self.longest_part is None:
            return None
        _, place, length = self.longest_part
        beside = [
            (first, end)
            for first, end in self.spans
            if first >= place - self.letters and end <= place + length + self.letters
        ]
        return min(first for first, _ in beside), max(end for _, end in beside)


class BlockFacts(NamedTuple):
    """A block of a page's content: a paragraph, heading, item, table row or code.

    Attributes:
        kind: What it is.
        letters: Its letters and digits.
        held: Those that are found in chunks of the page.
        start: Its first letter on the page.
        digest: Hash of its letters: blocks that most pages have do not count as content.
        text: Its text if chunks lack some of it, cut to ``PASSAGE`` characters; otherwise empty. Of a block of which
            chunks have most, the text behind the end of a chunk, if that is what they lack.
        cut: Letters that no chunk has, behind the end of a chunk that ends in the block, up to the next chunk; 2.5 for
            each in scripts without spaces.
        weight: Letters that one of its letters counts as, on average: 2.5 in scripts without spaces, otherwise 1.
    """

    kind: str
    letters: int
    held: int
    start: int
    digest: int
    text: str = ""
    cut: int = 0
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class PageFacts:
    """One in-scope page.

    Attributes:
        page_key: Canonical form of its URL.
        url: URL as written in the sitemap.
        state: ``read``; ``unreadable``: there is no page or no text; ``elsewhere``: it only redirects its visitors.
        problem: Why it could not be read; empty otherwise.
        unfit: Why it should not be in the sitemap; None if it should.
        target: Canonical form of the page that it redirects to; None if it does not.
        scripted: Whether it may be built in the browser: it has a script, and a root for it or a request to enable it.
        chunks: Number of its points with text.
        textless: Number of its points without text.
        blocks: The blocks of its content, in order; empty unless it was read.
        beside: Digests of the lines outside its content; those of menus and footers are the same on most pages.
        anchors: Hashes of some of its runs of letters, by which chunks of other pages are found on it.
        damaged: Wrongly decoded words that the page itself shows, for example because it is about such text.
    """

    page_key: str
    url: str
    state: PageState = "read"
    problem: str = ""
    unfit: str | None = None
    target: str | None = None
    scripted: bool = False
    chunks: int = 0
    textless: int = 0
    blocks: tuple[BlockFacts, ...] = ()
    beside: Sequence[int] = ()
    anchors: Sequence[int] = ()
    damaged: tuple[str, ...] = ()

    @property
    def has_chunks(self) -> bool:
        """Whether any point is stored for it: a page without one is missing as a whole."""
        return self.chunks + self.textless > 0
