"""Pages behind a wall (consent, login, rate limit, outage): they all show the same, and none of their chunks.

The run sees the wall, but the index may be right: such a page cannot judge its chunks. A wall may contain a request id,
so words are compared, not whole passages. Text in any chunk is content, which may be shown under several addresses.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np, pc
from ragval_pipeline.sources.arrow import constant, numbers_of, one_of
from ragval_pipeline.text.folding import words_of
from ragval_pipeline.validation.facts.rows import PageFacts
from ragval_pipeline.validation.facts.store import Facts
from ragval_pipeline.validation.thresholds import FEWEST, MOST, WHOLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Pages whose words are compared for common text.
MOST_COMPARED = 256  # work
_OF_BLOCK = ("digest", "letters", "held")


def walls_of(facts: Facts) -> frozenset[str]:
    """Pages without text of their own or of their chunks."""
    silent = _silent(facts)
    if not silent:
        return frozenset()
    content = _held_digests(facts)
    compared = silent[:: -(-len(silent) // MOST_COMPARED)]
    some = facts.pages(one_of("page_key", compared))
    repeated = Counter(triple for page in some for triple in _triples(page, content))

    def is_common(page: PageFacts) -> bool:
        triples = _triples(page, content)
        return sum(repeated[triple] >= FEWEST for triple in triples) > WHOLE * len(triples)

    return frozenset(
        page.page_key for page in facts.pages(one_of("page_key", silent)) if page.chunks and is_common(page)
    )


def _silent(facts: Facts) -> list[str]:
    """Pages with chunks, none of which is on them."""
    standing = one_of("page_key", _with_standing_chunks(facts))
    silent: list[str] = []
    chunks = 0
    for batch in facts.batches("pages", ("page_key", "state", "chunks")):
        found = batch.filter(pc.and_not(pc.equal(batch.column("state"), constant("read")), standing(batch)))
        silent += found.column("page_key").to_pylist()
        chunks += pc.sum(found.column("chunks")).as_py() or 0
    return silent if chunks else []


def _held_digests(facts: Facts) -> NDArray[np.uint64]:
    """The sorted digests of blocks that are in chunks of some page."""
    found = [np.empty(0, dtype=np.uint64)]
    for batch in facts.batches("pages", ("blocks",)):
        digest, letters, held = (pc.struct_field(batch.column("blocks").flatten(), name) for name in _OF_BLOCK)
        is_held = pc.greater_equal(held, pc.multiply(constant(MOST), letters))
        found.append(np.unique(numbers_of(digest.filter(is_held))))
    return np.unique(np.concatenate(found))


def _with_standing_chunks(facts: Facts) -> frozenset[str]:
    """Pages with a chunk that is mostly on them."""
    found: set[str] = set()
    for batch in facts.batches("chunks", ("page_key", "compared", "found", "letters")):
        stands = pc.greater_equal(batch.column("found"), pc.multiply(constant(MOST), batch.column("letters")))
        found.update(batch.filter(pc.and_(batch.column("compared"), stands)).column("page_key").unique().to_pylist())
    return frozenset(found)


def _triples(page: PageFacts, content: NDArray[np.uint64]) -> set[int]:
    """Hashes of the word trigrams of a page's text; those in its ``content`` are its own."""
    own = np.isin(np.array([block.digest for block in page.blocks], dtype=np.uint64), content).tolist()
    words = [
        f"{page.page_key} {word}" if is_own else word
        for is_own, block in zip(own, page.blocks, strict=True)
        for word in words_of(block.text)
    ]
    return set(map(hash, zip(words, words[1:], words[2:], strict=False)))
