from __future__ import annotations

import pytest
from qdrant_client import models

from ragval_pipeline.sources.search.searchers import probe_all
from tests.support.collections import open_qdrant


@pytest.mark.parametrize("kind", ["local", "edge"])
def test_every_vector_is_searched_for_both_ways(kind: str) -> None:
    points = [models.PointStruct(id=number, vector=[float(number), 1.0], payload={"a": 1}) for number in range(1, 30)]
    done: list[tuple[int, int]] = []
    with open_qdrant(kind) as qdrant:
        qdrant.create(points)
        vectors = {"query": {"q1": [1.0, 0.0]}, "point": {"5": [5.0, 1.0]}}
        probes = probe_all(
            vectors,  # type: ignore[arg-type]
            reader=qdrant.reader(),
            limit=3,
            on_progress=lambda *progress: done.append(progress),
        )
    assert [(probe.kind, probe.name) for probe in probes] == [("query", "q1"), ("point", "5")]
    assert [hit.id for hit in probes[0].exact] == ["29", "28", "27"]
    assert probes[1].exact[0].id == "5"
    assert all(probe.default == probe.exact for probe in probes)
    assert all(hit.payload == {} for probe in probes for hit in probe.exact)
    assert done == [(1, 2), (2, 2)]
