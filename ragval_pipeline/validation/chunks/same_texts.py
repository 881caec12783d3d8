"""Texts that stand under several points: stored more often than the site has them, or as often as its pages do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragval_pipeline.validation.chunks.columns import Columns
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.points import PointRef
from ragval_pipeline.validation.thresholds import VERIFIED_FROM

#: Places of a text of which the page has some run more than once.
_TWICE = 2  # definition


@dataclass(frozen=True)
class SameTexts:
    """Texts that stand under several points.

    Attributes:
        stored: By hash, the points of those that were stored more often than pages have them.
        on_site: Hashes of those that pages have as often themselves: each point stands at a place of its own.
    """

    stored: Mapping[int, Sequence[PointRef]]
    on_site: frozenset[int]

    @classmethod
    def of(
        cls,
        texts: Columns,
        read: Collection[str],
        on_pages: Callable[[Collection[str]], Iterator[tuple[str, Sequence[ChunkFacts]]]],
    ) -> SameTexts:
        """Those of a run.

        Args:
            texts: All texts.
            read: Keys of the pages that were read.
            on_pages: The chunks of some of these pages.
        """
        groups = _groups(texts)
        unread = {digest for digest, refs in groups.items() for ref in refs if ref.page_key not in read}
        digests = {ref.point_id: digest for digest, refs in groups.items() if digest not in unread for ref in refs}
        stored = set(unread)
        keys = {ref.page_key for refs in groups.values() for ref in refs if ref.point_id in digests and ref.page_key}
        for _, own in on_pages(keys):
            by_text: dict[int, list[ChunkFacts]] = {}
            for chunk in own:
                if chunk.point_id in digests:
                    by_text.setdefault(digests[chunk.point_id], []).append(chunk)
            stored.update(digest for digest, chunks in by_text.items() if not _have_their_places(chunks, own))
        site = frozenset(groups) - stored
        return cls({digest: refs for digest, refs in groups.items() if digest not in site}, site)


def _groups(texts: Columns) -> dict[int, list[PointRef]]:
    """The points of each text that stands under several."""
    import numpy as np
    import pyarrow.compute as pc

    digests = texts.table.column("digest").combine_chunks()
    counted = pc.value_counts(digests.drop_null())
    several = counted.field("values").filter(pc.greater(counted.field("counts"), 1))
    found: dict[int, list[PointRef]] = {}
    for row in np.flatnonzero(pc.is_in(digests, several).to_numpy(zero_copy_only=False)).tolist():
        found.setdefault(digests[row].as_py(), []).append(texts.ref(row))
    return {digest: sorted(refs) for digest, refs in found.items()}


def _have_their_places(same: Sequence[ChunkFacts], own: Sequence[ChunkFacts]) -> bool:
    """Whether chunks with one text each hold a place of their page that none of its other chunks holds.

    Args:
        same: Chunks of one page with one text.
        own: All chunks of the page.
    """
    held = [
        (min(first for first, _ in spans), max(end for _, end in spans))
        for chunk in same
        if (spans := list(chunk.spans))
    ]
    if len(held) < len(same) or any(chunk.share < VERIFIED_FROM for chunk in same):
        return False
    # Of a text that is not letter for letter on the page only one place is known.
    places = max(len(set(held)), _TWICE if all(chunk.repeated for chunk in same) else 1)
    names = {chunk.point_id for chunk in same}
    others = [span for chunk in own if chunk.point_id not in names for span in chunk.spans]
    within = any(first <= begin and end <= last for begin, end in held for first, last in others)
    return places >= len(same) and (len(same) == 1 or not within)
