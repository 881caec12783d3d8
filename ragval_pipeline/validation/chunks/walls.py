"""Pages that judge nothing: walls in front of a site, and shells that its visitors' browsers fill."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np, pa, pc
from ragval_pipeline.sources.arrow import constant, numbers_of, one_of
from ragval_pipeline.text.folding import words_of
from ragval_pipeline.validation.facts.hashes import shingles_of
from ragval_pipeline.validation.facts.rows import PageFacts
from ragval_pipeline.validation.facts.store import FactRows
from ragval_pipeline.validation.thresholds import FEWEST, MOST, SIGNPOST_LETTERS, WHOLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Pages compared with each other, for the text of a wall or around the content.
MOST_COMPARED = 256  # work


def walls_of(facts: FactRows) -> frozenset[str]:
    """Pages behind a wall (consent, login, rate limit, outage): they all show the same, and none of their chunks.

    The run sees the wall, but the index may be right: such a page cannot judge its chunks. A wall may contain a request
    id, so words are compared, not whole passages. Words in any chunk are content: it may be shown under several
    addresses, and pages made from one template differ by a few words only.
    """
    silent = _silent(facts)
    if not silent:
        return frozenset()
    common = _common(facts, silent[:: -(-len(silent) // MOST_COMPARED)])
    return frozenset(
        page.page_key
        for page in facts.pages(one_of("page_key", silent))
        if page.chunks and np.isin(triples := _triples(page), common).sum() > WHOLE * len(triples)
    )


def _common(facts: FactRows, compared: list[str]) -> NDArray[np.uint32]:
    """The trigrams that several of these pages show, and no chunk."""
    shown = [_triples(page) for page in facts.pages(one_of("page_key", compared))]
    triples, pages = np.unique(np.concatenate(shown), return_counts=True)
    common = triples[pages >= FEWEST]
    for batch in facts.batches("chunks", ("compared", "found", "letters", "shingles")) if len(common) else ():
        held = batch.filter(_stands(batch)).column("shingles")
        common = common[~np.isin(common, numbers_of(held.flatten()))]
    return common


def _silent(facts: FactRows) -> list[str]:
    """Pages with chunks, none of which is on them."""
    standing = one_of("page_key", _with_standing_chunks(facts))
    silent: list[str] = []
    chunks = 0
    for batch in facts.batches("pages", ("page_key", "state", "chunks")):
        found = batch.filter(pc.and_not(pc.equal(batch.column("state"), constant("read")), standing(batch)))
        silent += found.column("page_key").to_pylist()
        chunks += pc.sum(found.column("chunks")).as_py() or 0
    return silent if chunks else []


def _with_standing_chunks(facts: FactRows) -> frozenset[str]:
    """Pages with a chunk that is mostly on them."""
    found: set[str] = set()
    for batch in facts.batches("chunks", ("page_key", "compared", "found", "letters")):
        found.update(batch.filter(_stands(batch)).column("page_key").unique().to_pylist())
    return frozenset(found)


def _stands(chunks: pa.RecordBatch) -> pa.BooleanArray:
    """Which chunks are mostly on their page."""
    mostly = pc.greater_equal(chunks.column("found"), pc.multiply(constant(MOST), chunks.column("letters")))
    return pc.and_(chunks.column("compared"), mostly)


def _triples(page: PageFacts) -> NDArray[np.uint32]:
    """Hashes of the word trigrams of a page's text."""
    words = [word for block in page.blocks for word in words_of(block.text)]
    [found] = shingles_of([words], fewest=3)  # definition
    return found


def shells_of(facts: FactRows) -> frozenset[str]:
    """Pages that may be built in the browser and show the same few words, or none, under different names."""
    alike: dict[tuple[int, ...], list[str]] = {}
    for page in facts.pages(lambda batch: batch.column("scripted")):
        if page.state == "read" or (page.state == "unreadable" and not page.unfit):
            digests = tuple(block.digest for block in page.blocks)
            if sum(block.letters for block in page.blocks) < SIGNPOST_LETTERS:
                alike.setdefault(digests, []).append(page.page_key)
    groups = (keys for keys in alike.values() if len({name_of(key) for key in keys}) >= FEWEST)
    return frozenset(key for keys in groups for key in keys)


def notices_of(facts: FactRows, shells: Collection[str]) -> frozenset[str]:
    """The shells whose chunks hold what they show, or the same text as those of others."""
    if not shells:
        return frozenset()
    pages: dict[int, set[str]] = {}
    for text in facts.texts("digest", where=one_of("page_key", shells)):
        if text.digest is not None and text.page_key is not None:
            pages.setdefault(text.digest, set()).add(text.page_key)
    shared = (keys for keys in pages.values() if len(keys) >= FEWEST)
    return frozenset(shells) & _with_standing_chunks(facts).union(*shared)


def name_of(key: str) -> str:
    """The last part of a page's address, shared by its versions and translations."""
    return key.rstrip("/").rpartition("/")[2]
