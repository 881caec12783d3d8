"""Boilerplate embedded with the content: navigation, edit links, footers, banners: ``text.boilerplate``.

There are three kinds of evidence. A known phrase of themes, in its usual form, is boilerplate in any documentation; it
counts from three pages and 5 % of all pages, since fewer may be pages about the theme, or on any page if a chunk begins
or ends with it and most words around it are not in the page's content. Any other wording counts if chunks of 20 % of
the pages begin or end with it and the content of hardly any of these pages has it: wordings in the content are repeated
by the author, e.g. "By the end of this chapter you will be able to". If most of a chunk is on its page but outside its
content, three pages are enough: the extraction took whole pages. Headings, and context added by the ingestion, are
never boilerplate, nor is text at the edges of most chunks that no page shows and that differs between chunks:
summaries, or questions that a chunk answers. If the pages of chunks were not read, only a wording in several chunks of
each page counts, since authors repeat themselves once per page, unless the content of the site's other pages has it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from ragval_pipeline.findings.factory import NAMED, make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.lazy import np, pa, pc
from ragval_pipeline.rules.text.boilerplate import RULE as TEXT_BOILERPLATE
from ragval_pipeline.rules.text.boilerplate import Details
from ragval_pipeline.sources.arrow import array_from, constant, numbers_of, without_nulls
from ragval_pipeline.text.folding import as_written, fold, words_of
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.habits import ANY
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.facts.furniture import MOST_WORDS, Words
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.facts.store import Chosen, filled
from ragval_pipeline.validation.facts.texts import TextFacts
from ragval_pipeline.validation.thresholds import FEW, FEWEST, HABIT, MOST, WHOLE

_COLUMNS = (
    "compared", "letters", "found", "outside", "begins", "ends", "begins_held", "ends_held", "phrases",
)  # fmt: skip

_Edge = Literal["begins", "ends"]
_EDGES: tuple[_Edge, ...] = ("begins", "ends")


@dataclass(frozen=True)
class Shared:
    """A wording shared by chunks of several pages."""

    words: Words
    edge: _Edge
    texts: tuple[TextFacts, ...]

    def in_content(self, text: TextFacts) -> bool:
        """Whether the content of a chunk's page has most of the wording, e.g. without a button in between."""
        held = text.begins_held if self.edge == "begins" else text.ends_held
        return held >= WHOLE * len(self.words)

    def is_of_its_page(self, text: TextFacts) -> bool:
        """Whether the text next to the wording is from the chunk's page."""
        beside = text.letters - sum(map(len, self.words))
        return not text.compared or text.found >= MOST * beside


@dataclass(frozen=True)
class Boilerplate:
    """One phrase and its chunks."""

    phrase: str
    texts: tuple[TextFacts, ...]

    @property
    def pages(self) -> int:
        """Pages of its chunks."""
        return len(_pages(self.texts))


@detector(TEXT_BOILERPLATE, needs=ChunkEvidence)
def find_boilerplate(evidence: ChunkEvidence) -> Iterator[Finding]:
    """The points with boilerplate; the details list the phrases."""
    chunks, pages = len(evidence.texts), len(evidence.texts.codes("page_key")[0]) - 1
    min_pages = _at_least(HABIT, pages)
    texts = _of_captured_pages(evidence, list(evidence.facts.texts(*_COLUMNS, where=_telling(evidence, min_pages))))
    phrases = _phrases_of_themes(texts, pages)
    known = [f" {entry.phrase} " for entry in phrases]
    additions = _Additions(evidence)
    for shared in shared_wordings(texts, min_pages=min_pages):
        if not any(phrase in f" {as_written(shared.words)} " for phrase in known):
            judged = (entry for entry in _judge(shared, chunks, pages) if not additions.contain(shared))
            phrases += (entry for entry in judged if not _is_in_contents(shared, evidence))
    phrases = _as_written_once([*phrases, *_of_frames(evidence, additions)])
    if not phrases:
        return
    phrases.sort(key=lambda entry: (-entry.pages, entry.phrase))
    by_chunk: dict[str, list[str]] = {}
    for entry in phrases:
        for text in entry.texts:
            by_chunk.setdefault(text.point_id, []).append(entry.phrase)
    by_id = {text.point_id: text for entry in phrases for text in entry.texts}
    subjects = [
        replace(
            by_id[name].ref.subject(Details(sorted(set(named)), _outside(by_id[name]))),
            words=_most_words(by_id[name], named),
            extent=_around(by_id[name], named),
        )
        for name, named in by_chunk.items()
    ]
    listed = [{"phrase": entry.phrase, "points": len(entry.texts), "pages": entry.pages} for entry in phrases]
    shown = ", ".join(f"“{entry.phrase}” on {plural(entry.pages, 'page')}" for entry in phrases[:NAMED])
    contain = "contains" if len(subjects) == 1 else "contain"
    message = f"{plural(len(subjects), 'point')} {contain} text from around the page's content: {shown}."
    yield make_finding(TEXT_BOILERPLATE.code, subjects, details={"phrases": listed, "pages": pages}, message=message)


def _as_written_once(found: Iterable[Boilerplate]) -> list[Boilerplate]:
    """Wordings that are written alike as one: they may differ in a number, or in the edge that they are at."""
    texts: dict[str, dict[str, TextFacts]] = {}
    for entry in found:
        texts.setdefault(entry.phrase, {}).update((text.point_id, text) for text in entry.texts)
    return [Boilerplate(phrase, tuple(held.values())) for phrase, held in texts.items()]


def _of_frames(evidence: ChunkEvidence, additions: _Additions) -> Iterator[Boilerplate]:
    """The wordings shared by texts of ``FEWEST`` pages that are mostly outside their page's content.

    What the ingestion writes in front of such a text is not from around the content.
    """

    def chosen(batch: pa.RecordBatch) -> pa.BooleanArray:
        return pc.greater(batch.column("outside"), pc.multiply(constant(MOST), batch.column("letters")))

    outside = evidence.facts.texts(*_COLUMNS, where=chosen)
    framed = [text for text in outside if text.page_key not in evidence.compared.notices]
    for shared in shared_wordings(framed, min_pages=FEWEST):
        texts = tuple(text for text in shared.texts if not shared.in_content(text))
        if len(_pages(texts)) >= FEWEST and not additions.contain(shared):
            yield Boilerplate(as_written(shared.words), texts)


def _outside(text: TextFacts) -> float:
    """The share of a text that is on its page outside the content."""
    return round(text.outside / text.letters, 4) if text.letters else 0.0


def _around(text: TextFacts, phrases: Iterable[str]) -> float:
    """The share of a text that is boilerplate: its phrases, or all that is on its page outside the content."""
    letters = sum(len(word) for phrase in set(phrases) for word in words_of(phrase))
    return min(max(text.outside, letters) / max(text.letters, 1), 1.0)


def _of_captured_pages(evidence: ChunkEvidence, texts: Sequence[TextFacts]) -> list[TextFacts]:
    """Some texts without those of pages whose chunks are all gone: there a wall was read instead of the page."""
    strange = _pages(text for text in texts if text.compared and text.found < MOST * text.letters)
    compared = evidence.compared
    walls = compared.notices | {
        key for key in strange if key not in evidence.read or compared.is_all_gone(compared.pages[key])
    }
    return [text for text in texts if text.page_key not in walls]


def _telling(evidence: ChunkEvidence, min_pages: int) -> Chosen:
    """The texts with a phrase, or with ``FEWEST`` words at an edge shared by texts of enough pages.

    Most texts have neither, and no objects are created for them.
    """
    pages, page = evidence.texts.codes("page_key")
    shared: list[tuple[_Edge, pa.Array]] = []
    for edge in _EDGES:
        words = [_outermost(batch.column(edge), edge) for batch in evidence.facts.batches("chunks", (edge,))]
        wordings = pa.chunked_array(words, pa.string()).combine_chunks().dictionary_encode()
        wording = numbers_of(without_nulls(wordings.indices, -1)).astype(np.int64)
        counted = (wording >= 0) & (page < len(pages) - 1)
        distinct = np.unique(wording[counted] * len(pages) + page[counted]) // len(pages)
        often = np.flatnonzero(np.bincount(distinct, minlength=1) >= min_pages)
        if len(wordings.dictionary):
            shared.append((edge, wordings.dictionary.take(array_from(often))))

    def chosen(batch: pa.RecordBatch) -> pa.BooleanArray:
        mask = filled("phrases")(batch)
        for edge, wordings in shared:
            mask = pc.or_(mask, pc.is_in(_outermost(batch.column(edge), edge), wordings))
        return mask

    return chosen


def _outermost(lists: pa.ListArray, edge: _Edge) -> pa.StringArray:
    """The outermost ``FEWEST`` words of each text as one; None for fewer words."""
    offsets = numbers_of(lists.offsets)
    at = offsets[:-1] if edge == "begins" else offsets[1:] - FEWEST
    enough = np.diff(offsets) >= FEWEST
    places = (array_from(at + number, missing=~enough) for number in range(FEWEST))
    return pc.binary_join_element_wise(*map(lists.values.take, places), constant("\n"))


def shared_wordings(texts: Sequence[TextFacts], *, min_pages: int) -> Iterator[Shared]:
    """The longest wordings at the edges shared by chunks of at least ``min_pages`` pages; one per edge of a chunk."""
    yield from _grow([(text, text.begins) for text in texts], "begins", FEWEST, min_pages)
    yield from _grow([(text, text.ends[::-1]) for text in texts], "ends", FEWEST, min_pages)


def _grow(chunks: Sequence[tuple[TextFacts, Words]], edge: _Edge, size: int, min_pages: int) -> Iterator[Shared]:
    groups: dict[Words, list[tuple[TextFacts, Words]]] = {}
    for text, words in chunks:
        if len(words) >= size:
            groups.setdefault(tuple(words[:size]), []).append((text, words))
    for words, members in groups.items():
        if len(_pages(text for text, _ in members)) < min_pages:
            continue
        longer = list(_grow(members, edge, size + 1, min_pages)) if size < MOST_WORDS else []
        yield from longer
        taken = {text.point_id for shared in longer for text in shared.texts}
        rest = tuple(text for text, _ in members if text.point_id not in taken)
        if rest:
            # Texts that continue differently share the shorter wording with the others.
            yield Shared(words if edge == "begins" else words[::-1], edge, rest)


def _phrases_of_themes(texts: Iterable[TextFacts], pages: int) -> list[Boilerplate]:
    sure: dict[str, list[TextFacts]] = {}
    unsure: dict[str, list[TextFacts]] = {}
    for text in texts:
        for phrase in text.phrases:
            (sure if phrase.sure else unsure).setdefault(phrase.words, []).append(text)
    wanted = _at_least(FEW, pages)
    often = {phrase for phrase, found in sure.items() if len(_pages(found)) >= wanted}
    found = {
        phrase: (*texts, *unsure.get(phrase, ()))
        if phrase in often
        else tuple(text for text in texts if _is_around(text, phrase))
        for phrase, texts in sorted(sure.items())
    }
    return [Boilerplate(phrase, texts) for phrase, texts in found.items() if texts]


def _is_around(text: TextFacts, phrase: str) -> bool:
    """Whether a text of its page begins or ends with a phrase and other words that the page's content does not have."""
    edges = ((text.begins, text.begins_held), (text.ends, text.ends_held))
    return text.compared and any(
        f" {phrase} " in f" {as_written(words)} "
        and held <= (1 - MOST) * len(words)
        and text.found >= MOST * (text.letters - sum(map(len, words)))
        for words, held in edges
    )


@dataclass(frozen=True)
class _Additions:
    """Text that the ingestion adds around its chunks and that no page has."""

    evidence: ChunkEvidence

    @cached_property
    def _usual(self) -> frozenset[str]:
        return self.evidence.compared.habits.usual

    @cached_property
    def _sizes(self) -> Mapping[_Edge, Counter[int]]:
        """Chunks with an addition at either edge, by its letters."""
        sizes: Mapping[_Edge, Counter[int]] = {edge: Counter() for edge in _EDGES}
        for _, chunks in self.evidence.on_pages(self.evidence.read):
            for chunk in chunks:
                for edge, counted in sizes.items():
                    size = _added_to(chunk, edge, self._usual)
                    counted.update([size] if size else [])
        return sizes

    def contain(self, shared: Shared) -> bool:
        """Whether a wording is part of a description of each chunk, which continues differently from chunk to chunk.

        Text that is the same around most chunks describes none of them: it is a menu or a banner missing from the
        site's HTML.
        """
        if not self._usual:
            return False
        names, letters = {text.point_id for text in shared.texts}, sum(map(len, shared.words))
        chunks = (chunk for _, found in self.evidence.on_pages(_pages(shared.texts)) for chunk in found)
        sizes = (_added_to(chunk, shared.edge, self._usual) for chunk in chunks if chunk.point_id in names)
        if sum(size >= MOST * letters for size in sizes) < MOST * len(names):
            return False
        every = self._sizes[shared.edge]
        size, alike = every.most_common(1)[0]
        goes_on = size > letters and len(shared.words) < MOST_WORDS
        return goes_on or alike <= MOST * every.total()


def _added_to(chunk: ChunkFacts, edge: _Edge, usual: frozenset[str]) -> int:
    """Letters at an edge of a chunk that no page has, if most chunks have such; short chunks may count for either edge.

    Imports and the like, which no page shows, may be the only text before an addition at the end.
    """
    sides = (chunk.openings, chunk.closings)
    for side in sides if edge == "begins" else sides[::-1]:
        if any(not usual.isdisjoint((*line.words, ANY)) for line in side):
            return sum(line.missing for line in side)
    return 0


def _judge(shared: Shared, chunks: int, pages: int) -> Iterator[Boilerplate]:
    """The wording if it is boilerplate, without the chunks of pages whose content has it."""
    phrase = as_written(shared.words)
    texts = [text for text in shared.texts if shared.is_of_its_page(text)]
    having: Mapping[str, bool] = {
        text.page_key: shared.in_content(text) for text in texts if text.compared and text.page_key is not None
    }
    if not having:
        on_pages = len(_pages(texts))
        if len(texts) >= HABIT * chunks and len(texts) >= (1 + MOST) * on_pages:
            yield Boilerplate(phrase, tuple(texts))
    elif list(having.values()).count(False) >= _at_least(HABIT, pages) and (sum(having.values()) <= FEW * len(having)):
        # Once it is known as such, a chunk whose own text is not on its page has it too.
        without = (text for text in shared.texts if not having.get(text.page_key or "", shared.in_content(text)))
        yield Boilerplate(phrase, tuple(without))


def _is_in_contents(shared: Shared, evidence: ChunkEvidence) -> bool:
    """Whether the content of pages without chunks has a wording: their texts are stored under other addresses."""
    if any(text.compared for text in shared.texts):
        return False
    letters = "".join(shared.words)
    contents = ["".join(fold(block.text) for block in page.blocks) for page in evidence.facts.pages() if page.blocks]
    return sum(letters in content for content in contents) > FEW * len(contents)


def _pages(texts: Iterable[TextFacts]) -> set[str]:
    return {text.page_key for text in texts if text.page_key is not None}


def _at_least(share: float, pages: int) -> int:
    return max(FEWEST, math.ceil(round(share * pages, 9)))


def _most_words(text: TextFacts, phrases: Iterable[str]) -> int:
    """Words that a text differs in from its page by its boilerplate: a phrase may occur twice, and be part of another.

    A phrase that the page shows around its content, such as its footer, is no difference: the text holds as much from
    there, or the phrase is longer than all that the page lacks.
    """
    missing = text.letters - text.found if text.compared else math.inf
    letters = {phrase: len("".join(words_of(phrase))) for phrase in phrases}
    if text.outside >= sum(letters.values()):
        return 0
    added = [words_of(phrase) for phrase, length in letters.items() if MOST * length <= missing]
    return 2 * sum(map(len, added)) + MOST_WORDS if added else 0
