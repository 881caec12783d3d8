"""Points that share a page and a chunk index: ``chunk.duplicate_index``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.suite.printing import plural
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.generations import Basis, Stored, newest_of
from ragval_pipeline.validation.detectors import detector

#: Points that share one index that a subject's details list.
SHOWN = 100  # shown
_TOLD = {"date": "times of embedding", "model": "models", "id": "ids"}
_OLDER = "Delete the older points of each group, which their {} tell: delete_point_ids of remediation.json lists them."
_IDS = "Derive ids from URL and index, so that an ingestion writes over what it wrote before."


@detector("chunk.duplicate_index", needs=ChunkEvidence)
def find_duplicates(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Points that share page and index; which of them is the newest, where anything tells it."""
    subjects, groups = [], 0
    told: set[Basis | None] = set()
    orders = evidence.orders
    for key, page in orders.in_full(orders.chosen(orders.points > orders.indices)).items():
        for index, points in page.points.items():
            if len(points) < 2:
                continue
            groups += 1
            ids = sorted(point_id for point_id, _ in points)
            stored = {name: Stored(embedded_at, page.models.get(name)) for name, embedded_at in points}
            newest, basis = newest_of(stored, model=evidence.limits.model) or (None, None)
            told.add(basis)
            for point_id, embedded_at in points:
                others = list(islice((entry for entry in ids if entry != point_id), SHOWN))
                details = {"page_url": page.url, "chunk_index": index, "others": others, "embedded_at": embedded_at}
                if newest is not None:
                    details |= {"older": point_id != newest, "told_by": basis}
                subjects.append(Subject(name=point_id, page=key, details=details))
    if not subjects:
        return
    message = f"{len(subjects)} points share page and chunk index, in {plural(groups, 'group')}."
    remedy = (
        None
        if None in told
        else f"{_OLDER.format(' and '.join(_TOLD[basis] for basis in sorted(filter(None, told))))} {_IDS}"
    )
    yield make_finding("chunk.duplicate_index", subjects, details={"groups": groups}, message=message, remedy=remedy)
