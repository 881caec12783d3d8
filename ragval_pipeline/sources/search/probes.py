"""Asking for the same vector twice: as production does, and exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragval_pipeline.sources.stores.qdrant.points import Hit, Reader
from ragval_pipeline.sources.stores.qdrant.searching import Search


@dataclass(frozen=True)
class Probe:
    """One vector and both answers.

    Args:
        kind: ``query`` for a test query's vector, ``point`` for a stored one.
        name: Query id or point id.
        default: Hits of the default search.
        exact: Hits of the exact search.
    """

    kind: Literal["query", "point"]
    name: str
    default: tuple[Hit, ...]
    exact: tuple[Hit, ...]


def probe_all(
    vectors: Mapping[Literal["query", "point"], Mapping[str, Sequence[float]]],
    *,
    reader: Reader,
    limit: int,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Probe]:
    """Search for every vector both ways, ids and scores only.

    Args:
        vectors: By kind and name.
        reader: The collection.
        limit: Hits a search.
        on_progress: Called with probes done and probes to do.

    Raises:
        SystemFailure: Qdrant fails.
    """
    asked = [(kind, name, vector) for kind, named in vectors.items() for name, vector in named.items()]
    searches = [Search(vector, limit) for _, _, vector in asked]
    default, exact = (reader.search_all(searches, fields=(), exact=exactly) for exactly in (False, True))
    probes = []
    for number, ((kind, name, _), one, other) in enumerate(zip(asked, default, exact, strict=True), 1):
        probes.append(Probe(kind, name, tuple(one.hits), tuple(other.hits)))
        if on_progress:
            on_progress(number, len(asked))
    return probes
