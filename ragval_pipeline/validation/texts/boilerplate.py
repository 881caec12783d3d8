"""Page furniture that was embedded with the content: navigation, edit links, footers, banners.

What lives here: ``text.boilerplate``, from partial results that merge. What does not: the phrases of themes
(``furniture``), wordings at the edges of chunks (``edges``).

Two kinds of evidence. A phrase that themes write, standing as themes write it, is furniture in any documentation; it
counts from three pages and a tenth of all pages on: fewer may be pages about the theme. Any other wording counts when
chunks of a fifth of the pages begin or end with it and no content has it, neither of their pages nor of others: what
the content has is repeated by the author, as "By the end of this chapter you will be able to" is. Headings, and what an
ingestion puts before a chunk to say where it is from, are never furniture. Where pages were not read, only a wording
that most chunks of many pages share is taken for furniture, since an author repeats himself once a page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.text.words import words_of
from ragval_pipeline.validation.points import REF_COLUMNS, PointRef, point_ref
from ragval_pipeline.validation.texts.edges import Edges, Shared, edges_of, shared_wordings
from ragval_pipeline.validation.texts.furniture import furniture_phrases

#: Snapshot columns that ``collect_phrases`` needs.
COLUMNS = (*REF_COLUMNS, "text", "headings", "title", "module", "chapter")

MIN_PAGES = 3
#: Letters of a piece of text that does not stand on a page by chance.
PROBE_LETTERS = 6
PHRASE_SHARE = 0.1
WORDING_SHARE = 0.2
#: Share of the pages with a wording, in their chunks or their content, whose content may have it.
IN_CONTENT = 0.1
#: Without pages: share of all chunks that must have a wording, and chunks for each page that has it.
UNREAD_SHARE, UNREAD_PER_PAGE = 0.3, 1.5

#: Whether the content of a page holds some words in this order; null when the page was not read.
InContent = Callable[[str, tuple[str, ...]], bool | None]
#: On how many pages of which no chunk begins or ends with some words the content holds them.
Elsewhere = Callable[[tuple[str, ...]], int]


@dataclass
class Phrases:
    """What was seen of a collection's chunks.

    Args:
        points: Points that hold each phrase of themes.
        unsure: Points that begin with such a phrase, which may be the beginning of a sentence.
        edges: First and last words of every chunk.
    """

    points: dict[str, list[PointRef]] = field(default_factory=dict)
    unsure: dict[str, list[PointRef]] = field(default_factory=dict)
    edges: list[Edges] = field(default_factory=list)

    def merge(self, other: Phrases) -> Phrases:
        """What both slices have seen."""
        merged = Phrases(edges=[*self.edges, *other.edges])
        for seen in (self, other):
            for phrase, refs in seen.points.items():
                merged.points.setdefault(phrase, []).extend(refs)
            for phrase, refs in seen.unsure.items():
                merged.unsure.setdefault(phrase, []).extend(refs)
        return merged

    @property
    def pages(self) -> int:
        """Pages that have chunks."""
        return len({entry.ref.page_key for entry in self.edges} - {None})


#: How often a phrase stands in a chunk, and words of the banner that it is a part of.
_REPEATED, _BANNER = 2, 12


@dataclass(frozen=True)
class Boilerplate:
    """One phrase and the points that hold it."""

    phrase: str
    points: tuple[PointRef, ...]

    @property
    def pages(self) -> int:
        """Pages of its points."""
        return len({ref.page_key for ref in self.points} - {None})


def collect_phrases(rows: Iterable[Mapping[str, Any]]) -> Phrases:
    """Look for phrases of themes, and keep the edges of each chunk."""
    phrases = Phrases()
    for row in rows:
        text = row["text"]
        if not text:
            continue
        ref = point_ref(row)
        headings = [*(row["headings"] or ()), row["title"] or ""]
        titles = {" ".join(words_of(heading)) for heading in headings}
        found = dict(sorted(furniture_phrases(text)))
        for phrase, sure in found.items():
            if phrase not in titles:
                (phrases.points if sure else phrases.unsure).setdefault(phrase, []).append(ref)
        labels = [*headings, *(row[name] or "" for name in ("source_url", "module", "chapter"))]
        phrases.edges.append(edges_of(ref, text, labels))
    return phrases


def suspected_wordings(phrases: Phrases) -> list[Shared]:
    """Wordings at the edges of chunks on enough pages, to be looked for in the content of those pages."""
    shared = shared_wordings(phrases.edges, min_pages=_at_least(WORDING_SHARE, phrases.pages))
    known = [f" {phrase} " for phrase in _frequent(phrases)]
    return [entry for entry in shared if not any(phrase in f" {' '.join(entry.words)} " for phrase in known)]


def probes_beside(phrases: Phrases, suspected: Iterable[Shared]) -> dict[PointRef, tuple[str, ...]]:
    """By point, pieces of its text of which some stand on its page; of short ones also what is not the wording."""
    wordings: dict[PointRef, list[Shared]] = {}
    for shared in suspected:
        for ref in shared.points:
            wordings.setdefault(ref, []).append(shared)
    beside = {entry.ref: [entry.beyond(shared) for shared in wordings.get(entry.ref, ())] for entry in phrases.edges}
    return {
        entry.ref: (*entry.probes, *[piece for piece in beside[entry.ref] if len(piece) >= PROBE_LETTERS])
        for entry in phrases.edges
    }


def boilerplate_findings(
    phrases: Phrases,
    in_content: InContent | None = None,
    elsewhere: Elsewhere = lambda _: 0,
    strangers: Collection[PointRef] = frozenset(),
) -> list[Finding]:
    """``text.boilerplate``: the points that hold furniture; the details name the phrases.

    Args:
        phrases: Over the whole collection.
        in_content: Looks into the content of pages; null when none was read.
        elsewhere: Looks into the content of the other pages: what stands there is text that was put on the wrong page.
        strangers: Points whose text is not of their page at all: what they share frames no page.
    """
    found = [Boilerplate(phrase, tuple(refs)) for phrase, refs in _frequent(phrases).items()]
    for suspected in suspected_wordings(phrases):
        shared = replace(suspected, points=tuple(ref for ref in suspected.points if ref not in strangers))
        entry = _judge(shared, phrases, in_content, elsewhere)
        if entry is not None:
            found.append(entry)
    if not found:
        return []
    found.sort(key=lambda entry: (-entry.pages, entry.phrase))
    held: dict[PointRef, list[str]] = {}
    for entry in found:
        for ref in entry.points:
            held.setdefault(ref, []).append(entry.phrase)
    subjects = [
        replace(ref.subject(phrases=sorted(set(named))), words=_most_words(named)) for ref, named in held.items()
    ]
    listed = [{"phrase": entry.phrase, "points": len(entry.points), "pages": entry.pages} for entry in found]
    shown = ", ".join(f"“{entry.phrase}” on {entry.pages} pages" for entry in found[:3])
    message = f"{len(subjects)} points hold text of the page's frame: {shown}."
    details = {"phrases": listed, "pages": phrases.pages}
    return [make_finding("text.boilerplate", subjects, details=details, message=message)]


def _most_words(phrases: Iterable[str]) -> int:
    """Words of a chunk that the frame accounts for: a phrase may stand twice, and be a part of more."""
    return _REPEATED * sum(len(phrase.split()) for phrase in set(phrases)) + _BANNER


def _frequent(phrases: Phrases) -> dict[str, list[PointRef]]:
    wanted = _at_least(PHRASE_SHARE, phrases.pages)
    return {
        phrase: [*refs, *phrases.unsure.get(phrase, ())]
        for phrase, refs in sorted(phrases.points.items())
        if len({ref.page_key for ref in refs} - {None}) >= wanted
    }


def _at_least(share: float, pages: int) -> int:
    return max(MIN_PAGES, -(-int(share * 1000) * pages // 1000))


def _judge(shared: Shared, phrases: Phrases, in_content: InContent | None, elsewhere: Elsewhere) -> Boilerplate | None:
    """The wording if it is furniture, without the points of pages whose content has it."""
    looked = {page: in_content(page, shared.words) if in_content else None for page in shared.pages}
    read = [found for found in looked.values() if found is not None]
    if not read:
        return _judge_unread(shared, phrases)
    confirmed, others = sum(not found for found in read), elsewhere(shared.words)
    having = sum(read) + others
    if confirmed < _at_least(WORDING_SHARE, phrases.pages) or having > IN_CONTENT * (len(read) + others):
        return None
    points = tuple(ref for ref in shared.points if ref.page_key is None or not looked[ref.page_key])
    return Boilerplate(" ".join(shared.words), points)


def _judge_unread(shared: Shared, phrases: Phrases) -> Boilerplate | None:
    chunks, pages = len(shared.points), len(shared.pages)
    if chunks < UNREAD_SHARE * len(phrases.edges) or chunks < UNREAD_PER_PAGE * pages:
        return None
    return Boilerplate(" ".join(shared.words), shared.points)
