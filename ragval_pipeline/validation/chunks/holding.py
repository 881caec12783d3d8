"""Which pages have a text, by sampled n-grams of their letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np, pc
from ragval_pipeline.sources.arrow import array_from, numbers_of
from ragval_pipeline.validation.thresholds import MOST

if TYPE_CHECKING:
    import pyarrow as pa

#: Sampled n-grams of a text.
Runs = tuple[int, ...]


def pages_holding(
    texts: Mapping[str, Runs], pages: Iterable[pa.RecordBatch], among: Callable[[str], bool] | None = None
) -> dict[str, list[str]]:
    """Keys of the pages with most of each text, in order; texts that are nowhere are left out.

    A page that shares a passage with a text is not its origin if another has more of it.

    Args:
        texts: Sampled n-grams (``ChunkFacts.probes``) by name, of which half may have changed.
        pages: Rows with the key and the anchors of each page; not read if there are no n-grams.
        among: Whether a page counts; None: all do.
    """
    owners: dict[int, list[str]] = {}
    for name, runs in texts.items():
        for run in runs:
            owners.setdefault(run, []).append(name)
    pages_of: dict[str, list[str]] = {}
    most: Counter[str] = Counter()
    wanted = array_from(np.fromiter(owners, np.uint64, len(owners)))
    for batch in pages if owners else ():
        for key, own in _held_by_page(batch, wanted):
            if among is not None and not among(key):
                continue
            hits = Counter(name for run in own for name in owners[run])
            for name, count in hits.items():
                if count >= max(1.0, MOST * len(texts[name]), most[name]):
                    if count > most[name]:
                        most[name], pages_of[name] = count, []
                    pages_of[name].append(key)
    return pages_of


def _held_by_page(pages: pa.RecordBatch, wanted: pa.Array) -> Iterator[tuple[str, list[int]]]:
    """The pages with some of the wanted anchors, and these."""
    anchors = pages.column("anchors")
    every = anchors.flatten()
    held = np.flatnonzero(numbers_of(pc.is_in(every, wanted)))
    if not len(held):
        return
    ends = np.cumsum(numbers_of(pc.list_value_length(anchors)))
    runs = numbers_of(every.take(array_from(held))).tolist()
    keys, of = pages.column("page_key").to_pylist(), np.searchsorted(ends, held, side="right").tolist()
    for number, own in groupby(zip(of, runs, strict=True), itemgetter(0)):
        yield keys[number], [run for _, run in own]
