"""On which pages texts stand that are not on their own: by runs of letters that both have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ragval_pipeline.validation.facts.rows import PageFacts
from ragval_pipeline.validation.thresholds import MOST


def pages_holding(texts: Mapping[str, tuple[int, ...]], pages: Iterable[PageFacts]) -> dict[str, list[str]]:
    """Keys of the pages that each text stands on, in their order; texts that stand nowhere are left out.

    Args:
        texts: Sampled runs of each text (``ChunkFacts.probes``), of which half may have changed.
        pages: All pages.
    """
    owners: dict[int, list[str]] = {}
    for name, runs in texts.items():
        for run in runs:
            owners.setdefault(run, []).append(name)
    found: dict[str, list[str]] = {}
    for page in pages:
        hits = Counter(name for run in page.anchors if run in owners for name in owners[run])
        for name, count in hits.items():
            if count >= max(1.0, MOST * len(texts[name])):
                found.setdefault(name, []).append(page.page_key)
    return found
