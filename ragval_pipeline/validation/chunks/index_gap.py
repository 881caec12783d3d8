"""Chunk indices that are missing between others: ``chunk.index_gap``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.order import Orders
from ragval_pipeline.validation.detectors import detector

#: Missing indices of a page that a subject's details list.
SHOWN = 100  # shown


@detector("chunk.index_gap", needs=ChunkEvidence)
def find_gaps(evidence: ChunkEvidence) -> Iterator[Subject]:
    """Pages whose indices do not go from 0 up, each there."""
    orders = evidence.orders
    first = _first_index(orders)
    gaps = orders.chosen(orders.last - first - orders.indices + 1 > 0)
    for key, page in orders.in_full(gaps).items():
        present = sorted(page.points)
        missing = present[-1] - first + 1 - len(present)
        shown = list(islice(_between(first, present), SHOWN))
        details = {"missing": shown, "missing_count": missing, "highest": present[-1]}
        extent = missing / (missing + len(present))
        yield Subject(name=page.url, page=key, details=details, indices=tuple(shown), extent=extent)


def _between(first: int, present: Sequence[int]) -> Iterator[int]:
    """The indices from ``first`` that are not there; never all at once, for one wrong index can leave billions."""
    for index in present:
        yield from range(first, index)
        first = index + 1


def _first_index(orders: Orders) -> int:
    """0, or 1 where no page has a chunk 0 and most of several pages start at 1: then the index counts from 1.

    Of the others the first chunk is missing, or does not say its page or index.
    """
    pages = len(orders.keys)
    from_one = int((orders.first == 1).sum())
    return 1 if pages > 1 and bool(orders.first.all()) and 2 * from_one > pages else 0
