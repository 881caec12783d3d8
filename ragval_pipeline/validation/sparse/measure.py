"""The measurement of ``sparse_vectors``, and its detectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.index.no_idf import RULE as NO_IDF
from ragval_pipeline.rules.sparse.missing import RULE as SPARSE_MISSING
from ragval_pipeline.rules.sparse.text_mismatch import RULE as SPARSE_TEXT_MISMATCH
from ragval_pipeline.validation.detectors import detector, find_all
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.sparse.vectors import SparseVectors

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

    vectors: Sequence[SparseVectors]
    rows: Mapping[str, Row]
    collection: str

    def subject(self, name: str, **details: Any) -> Subject:
        """The subject of one point."""
        row = self.rows.get(name, {})
        url = row.get("source_url")
        return Subject(name=name, page=row.get("page_key"), details={**({"page_url": url} if url else {}), **details})

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
    sections = {"sparse": [each.section() for each in vectors]} if vectors else {}
    return Measurement(asset=ASSET, findings=tuple(find_all(evidence)), sections=sections)


@detector(SPARSE_MISSING, needs=Sparse)
def find_missing(sparse: Sparse) -> Iterator[Finding]:
    """Points that keyword search cannot find: without a vector that searches use, or with none of several."""
    judged = [each for each in sparse.vectors if each.judged]
    if not judged:
        return
    lacking = [frozenset(each.missing) | frozenset(each.empty) for each in judged]
    named = [name for name in sorted(frozenset.intersection(*lacking)) if sparse.has_words(name)]
    if not named:
        return
    missing = frozenset().union(*(each.missing for each in judged))
    points = judged[0].points
    scope = ", ".join(each.facts.name for each in judged)
    yield make_finding(
        SPARSE_MISSING.code,
        [sparse.subject(name, **({} if name in missing else {"vector": "empty"})) for name in named],
        scope=scope,
        details={"share": round(len(named) / max(points, 1), 4), "points": points},
        message=f"None of {points:,} points has a sparse vector: hybrid searches of this collection are dense only."
        if len(named) == points and points > 1
        else None,
        cause="The collection was created with a sparse vector, and the ingestion writes none."
        if len(named) == points
        else None,
    )


@detector(SPARSE_TEXT_MISMATCH, needs=Sparse)
def find_text_mismatches(sparse: Sparse) -> Iterator[Finding]:
    """Sparse vectors that are not those of the stored texts."""
    for each in sparse.vectors:
        if each.compared is None or not each.wrong:
            continue
        looks = [look for look, _ in each.wrong.values()]
        weights = looks.count("weights")
        yield make_finding(
            SPARSE_TEXT_MISMATCH.code,
            [
                sparse.subject(name, cosine=round(cosine, 4), looks_like=_LOOKS[look])
                for name, (look, cosine) in each.wrong.items()
            ],
            scope=each.facts.name,
            details={"share": round(len(looks) / max(each.points, 1), 4), "other_weights": weights},
            cause="The words are right, and their weights are not: they were computed with other settings."
            if weights == len(looks)
            else None,
            looked_at=each.compared.points if each.compared.points < each.points else None,
        )


_LOOKS: Mapping[str, str] = {"text": "another text", "weights": "other weights"}


@detector(NO_IDF, needs=Sparse)
def find_no_idf(sparse: Sparse) -> Iterator[Finding]:
    """Sparse vectors of BM25 whose words all count alike, however common they are."""
    for each in sparse.vectors:
        if not each.facts.idf and (each.model == "bm25" or each.weights == "bm25"):
            yield make_finding(NO_IDF.code, [each.facts.name], details={"collection": sparse.collection})
