"""Chunk indices that are missing between others: ``chunk.index_gap``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.order import PageOrder
from ragval_pipeline.validation.detectors import detector

#: Missing indices of a page that a subject's details list.
SHOWN = 100  # shown


@detector("chunk.index_gap", needs=ChunkEvidence)
def find_gaps(evidence: ChunkEvidence) -> Iterator[Subject]:
    """Pages whose indices do not go from 0 up, each there."""
    pages = evidence.orders
    first = _first_index(pages)
    for key, page in pages.items():
        present = sorted(index for index in page.points if index >= first)
        missing = present[-1] - first + 1 - len(present) if present else 0
        if missing:
            shown = list(islice(_between(first, present), SHOWN))
            details = {"missing": shown, "missing_count": missing, "highest": present[-1]}
            extent = missing / (missing + len(present))
            yield Subject(name=page.url, page=key, details=details, indices=tuple(shown), extent=extent)


def _between(first: int, present: Sequence[int]) -> Iterator[int]:
    """The indices from ``first`` that are not there; never all at once, for one wrong index can leave billions."""
    for index in present:
        yield from range(first, index)
        first = index + 1


def _first_index(pages: Mapping[str, PageOrder]) -> int:
    """0, or 1 where no page has a chunk 0 and most of several pages start at 1: then the index counts from 1.

    Of the others the first chunk is missing, or does not say its page or index.
    """
    starts = [min(page.points) for page in pages.values()]
    return 1 if 0 not in starts and len(starts) > 1 and 2 * starts.count(1) > len(starts) else 0
