"""What changed texts that differ from their pages, if most of them differ in the same way."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ragval_pipeline.text.folding import LIGATURE, fold, words_of
from ragval_pipeline.validation.chunks.compared import Compared
from ragval_pipeline.validation.facts.rows import ChunkFacts, Replaced
from ragval_pipeline.validation.thresholds import FEWEST, MOST, PASSAGE_LETTERS


class Cause(NamedTuple):
    """What is wrong with some texts or pages, and what to do; None for what the catalogue says."""

    cause: str | None = None
    remedy: str | None = None


_CARRIED = (
    "{count} have text of another page beside that of their own, such as one of {page} with some of {other}: the "
    "chunker carries text over from one page to the next, or pages were read as one."
)
_START_ANEW = (
    "Correct the chunker first, so that each page starts with nothing left of the one before it. Then re-ingest these "
    "pages."
)
_REDUCED = (
    "“{words}” should read “{page}”: letters outside ASCII are lost or stored without their marks, as by a conversion "
    "to ASCII before chunking."
)
_KEEP_LETTERS = "Keep the letters of the pages as they are, and re-ingest. A reader, and a query, writes them."
_UNDRAWN = (
    "“{words}” should read “{page}”: letters that a font draws as one (fi, fl, ff) are lost, as in text from a PDF."
)
_DRAWN = (
    "Ingest the published pages instead of the PDF, or use an extractor that keeps ligatures, then re-ingest: "
    "re-ingesting alone stores the same text again."
)
_LOSES_WORDS = (
    "Most of these chunks lack words within lines of their pages: the extraction or the splitter takes links, code or "
    "emphasis out of sentences, or the pages were edited after ingestion."
)
_KEEP_WORDS = (
    "If a page has not changed, correct the extraction first: links, code and emphasis belong in their sentence. "
    "Then re-ingest."
)

_LOSES_FREQUENT = (
    "The same few words are missing in most of these chunks, such as {words}: a step before the embedding removes "
    "frequent words (stop words)."
)
_KEEP_FREQUENT = (
    "Store and embed the texts as they are, without a step that removes words, and re-ingest: embedding models read "
    "whole sentences, and so do those who get the texts as an answer."
)
#: Words that are most of the running text of a language together, and how many of them show that all are removed.
_FREQUENT, _ENOUGH = 12, 5  # definition


def cause_of_drift(compared: Compared, names: Sequence[str]) -> Cause:
    """Why most of some texts differ from their pages, if that shows."""
    chunks = [compared.differing[name] for name in names]
    if (carried := _carried(compared, chunks)) and len(carried) > MOST * len(chunks):
        name, other = next(iter(carried.items()))
        page = compared.pages[compared.differing[name].page_key or ""].url
        count = "These chunks" if len(carried) == len(chunks) else f"{len(carried):,} of these chunks"
        return Cause(_CARRIED.format(count=count, page=page, other=compared.pages[other].url), _START_ANEW)
    reduced = [chunk for chunk in chunks if chunk.replaced and all(map(_is_reduced, chunk.replaced))]
    if _are_most(reduced, chunks):
        example = reduced[0].replaced[0]
        return Cause(_REDUCED.format(words=example.words, page=example.page), _KEEP_LETTERS)
    undrawn = [chunk for chunk in chunks if chunk.replaced and all(map(_lacks_ligatures, chunk.replaced))]
    if _are_most(undrawn, chunks):
        example = undrawn[0].replaced[0]
        return Cause(_UNDRAWN.format(words=example.words, page=example.page), _DRAWN)
    lacking = list(filter(_only_lacks_words, chunks))
    if not _are_most(lacking, chunks):
        return Cause()
    if words := _frequent_words(lacking):
        return Cause(_LOSES_FREQUENT.format(words=", ".join(f"“{word}”" for word in words[:FEWEST])), _KEEP_FREQUENT)
    return Cause(_LOSES_WORDS, _KEEP_WORDS)


def _frequent_words(chunks: Sequence[ChunkFacts]) -> list[str]:
    """The words that make up most of what chunks of most pages lack, the most frequent first; none if they differ."""
    counts: Counter[str] = Counter()
    pages: dict[str, set[str | None]] = {}
    for chunk in chunks:
        for word in words_of(" ".join(each.page for each in chunk.replaced)):
            counts[word] += 1
            pages.setdefault(word, set()).add(chunk.page_key)
    of = len({chunk.page_key for chunk in chunks})
    found = counts.most_common(_FREQUENT)
    common = [word for word, _ in found if len(pages[word]) >= FEWEST and len(pages[word]) > MOST * of]
    are_most = sum(count for _, count in found) > MOST * counts.total()
    return common if are_most and len(common) >= _ENOUGH else []


def _are_most(some: Collection[ChunkFacts], chunks: Collection[ChunkFacts]) -> bool:
    """Whether these are most of the chunks, and of several pages."""
    return len({chunk.page_key for chunk in some}) >= FEWEST and len(some) > MOST * len(chunks)


def _carried(compared: Compared, chunks: Sequence[ChunkFacts]) -> dict[str, str]:
    """The page that has what is strange in chunks, by id; none if chunks of few pages have any of another."""
    differing = [chunk for chunk in chunks if chunk.letters - chunk.found >= PASSAGE_LETTERS]
    anchors = compared.anchors_of({chunk.page_key or "" for chunk in differing})
    strange = {
        chunk.point_id: tuple(set(chunk.probes).difference(anchors.get(chunk.page_key or "", ())))
        for chunk in differing
    }
    held = compared.holding({name: runs for name, runs in strange.items() if runs})
    pages = {compared.differing[name].page_key for name in held}
    return {name: keys[0] for name, keys in held.items()} if len(pages) >= FEWEST else {}


def _is_reduced(entry: Replaced) -> bool:
    """Whether words are those of the page as far as these are in ASCII, or without their marks."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", entry.page) if not unicodedata.combining(char))
    return entry.words != entry.page and entry.words in {bare, "".join(filter(str.isascii, entry.page))}


def _lacks_ligatures(entry: Replaced) -> bool:
    """Whether words are those of the page without letters that a font may draw as one."""
    words, page = fold(entry.words), fold(entry.page)
    return words != page and words == LIGATURE.sub("", page)


def _only_lacks_words(chunk: ChunkFacts) -> bool:
    """Whether words of the page are left out of a chunk that has no others in their place."""
    return bool(chunk.replaced) and not chunk.inserted and not any(each.words for each in chunk.replaced)
