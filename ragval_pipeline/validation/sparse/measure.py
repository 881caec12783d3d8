"""The measurement of ``sparse_vectors``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ragval_pipeline.sources.arrow import table_of
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.sparse.vectors import SparseVectors
from ragval_pipeline.validation.views.tables import kept_columns, raw_schemas

if TYPE_CHECKING:
    import pyarrow as pa

ASSET = "sparse_vectors"
#: Snapshot columns of points that are named.
COLUMNS = ("point_id", "page_key", "source_url", "text", "embedded_text")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Sparse:
    """The sparse vectors of a collection.

    Attributes:
        vectors: By name.
        rows: ``COLUMNS`` of the points that are named.
        collection: Name of the collection.
    """

    group: ClassVar[str] = "vectors"
    views: ClassVar[frozenset[str]] = frozenset({"sparse_vectors", "judged_sparse"})
    vectors: Sequence[SparseVectors]
    rows: Mapping[str, Row]
    collection: str

    def table(self, name: str) -> pa.Table:
        """The table of a name under the views."""
        return self.tables[name.removeprefix("_")]

    @cached_property
    def tables(self) -> Mapping[str, pa.Table]:
        """The tables under the views, by name of the view."""
        schemas = raw_schemas()
        vectors = [
            {
                "vector": each.facts.name,
                "collection": self.collection,
                "weights": each.weights,
                "model": each.model,
                "has_idf": each.facts.idf,
                "is_searched": each.judged,
                "place": place,
                "points": each.points,
                "compared": each.compared.points if each.compared else None,
            }
            for place, each in enumerate(self.vectors)
        ]
        return {
            "sparse_vectors": table_of(vectors, schemas["_sparse_vectors"]),
            "judged_sparse": table_of([*self._judged()], schemas["_judged_sparse"]),
        }

    def _judged(self) -> Iterator[dict[str, Any]]:
        for each in self.vectors:
            lacking = {**dict.fromkeys(each.empty, "empty"), **dict.fromkeys(each.missing, "missing")}
            wrong = ((name, problem, cosine) for name, (problem, cosine) in each.wrong.items())
            for name, problem, cosine in (*((name, problem, None) for name, problem in lacking.items()), *wrong):
                row = self.rows.get(name, {})
                yield {
                    "vector": each.facts.name,
                    "point_id": name,
                    "page_key": row.get("page_key"),
                    "page_url": row.get("source_url") or None,
                    "problem": problem,
                    "has_words": self.has_words(name),
                    "cosine": None if cosine is None else round(cosine, 4),
                }

    def has_words(self, name: str) -> bool:
        """Whether there is anything in a point's text that a sparse vector could hold."""
        row = self.rows.get(name, {})
        return any(map(str.isalnum, row.get("embedded_text") or row.get("text") or ""))


def measure_sparse(
    vectors: Sequence[SparseVectors],
    *,
    collection: str,
    rows_of: Callable[[Collection[str]], Mapping[str, Row]],
) -> Measurement:
    """What is wrong with the sparse vectors of a collection, and their entry in the report.

    ``rows_of`` reads ``COLUMNS`` of some points.
    """
    named = {name for each in vectors for name in (*each.missing, *each.empty, *each.wrong)}
    evidence = Sparse(vectors, rows_of(named), collection)
    kept = kept_columns(**evidence.tables)
    sections = {"sparse": [each.section() for each in vectors], **kept} if vectors else {}
    return Measurement(asset=ASSET, findings=tuple(find_all(evidence)), sections=sections)
