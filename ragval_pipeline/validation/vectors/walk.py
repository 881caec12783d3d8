"""The one pass over all vectors: look at each, and re-embed the texts of the sampled ones beside it.

What lives here: keeping the reads of vectors and texts in step. What does not: judging what is seen (``stored``,
``compared``), and opening connections (``orchestration``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragval_pipeline.blanks import is_blank
from ragval_pipeline.errors import NotMeasurableError, SystemFailure
from ragval_pipeline.sources.snapshot.embedded import embedded_text
from ragval_pipeline.sources.snapshot.lookup import RowsInStep
from ragval_pipeline.validation.vectors.compared import REFERENCES, Compared
from ragval_pipeline.validation.vectors.stored import StoredVectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.qdrant.vectors import VectorBatch

    Floats = NDArray[np.float32]

#: Snapshot columns that the pass reads.
COLUMNS = ("point_id", "text", "embedded_text", "text_hash", "text_sha256")
#: Vectors of some texts, as the collection's ingestion embeds them.
Embed = Callable[[Sequence[str]], "Floats"]


@dataclass
class Walked:
    """What one pass found.

    Args:
        stored: Of all points.
        compared: Of the sampled points.
        failure: Why re-embedding ended early, if it did; ``stored`` is whole all the same.
    """

    stored: StoredVectors = field(default_factory=StoredVectors)
    compared: Compared = field(default_factory=Compared)
    failure: SystemFailure | NotMeasurableError | None = None


def walk(
    batches: Iterable[VectorBatch],
    rows: Iterable[Mapping[str, Any]],
    *,
    embed: Embed | None,
    sample: Collection[str] | None,
    points: int,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> Walked:
    """Look at every vector once.

    Args:
        batches: All vectors in id order.
        rows: The snapshot's rows in id order, with ``COLUMNS``.
        embed: Embeds texts as documents; null: nothing is re-embedded.
        sample: Points to re-embed; null: all with a text.
        points: Points expected, for progress.
        on_progress: Called with points seen and expected.

    Raises:
        SystemFailure: Qdrant fails. A failing embedder is kept as ``failure`` instead.
    """
    walked = Walked()
    stride = max(1, (points if sample is None else len(sample)) // REFERENCES)
    again = _Again(RowsInStep(rows), embed, sample, stride) if embed is not None else None
    for batch in batches:
        ids, unit = walked.stored.add(batch)
        if again is not None and walked.failure is None:
            try:
                again.compare(walked.compared, batch, ids, unit)
            except (SystemFailure, NotMeasurableError) as failure:
                walked.failure = failure
        if on_progress:
            on_progress(walked.stored.points, max(points, walked.stored.points))
    return walked


@dataclass(frozen=True)
class _Again:
    """Re-embeds the sampled texts of a batch."""

    in_step: RowsInStep
    embed: Embed
    sample: Collection[str] | None
    stride: int

    def compare(self, compared: Compared, batch: VectorBatch, ids: Sequence[str], unit: Floats) -> None:
        import numpy as np

        found = self.in_step.take([*batch.ids, *batch.missing])
        chosen = [name for name in (*batch.ids, *batch.missing) if _is_sampled(name, found, self.sample)]
        if not chosen:
            return
        again = self.embed([embedded_text(found[name]) for name in chosen])
        place = {name: number for number, name in enumerate(ids)}
        held = np.array([place.get(name, -1) for name in chosen])
        stored = np.zeros_like(again)
        if (held >= 0).any():
            stored[held >= 0] = unit[held[held >= 0]]
        compared.add(chosen, stored, again, [found[name] for name in chosen], stride=self.stride)


def _is_sampled(name: str, found: Mapping[str, Mapping[str, Any]], sample: Collection[str] | None) -> bool:
    row = found.get(name)
    if row is None or (sample is not None and name not in sample):
        return False
    return row["text"] is not None and not is_blank(row["text"])
