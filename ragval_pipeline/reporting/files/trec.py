"""``run.trec`` and ``qrels.trec``: rankings and judgements in the format that every retrieval tool reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragval_pipeline.text.trec_ids import encode_id

TAG = "ragval"


def run_trec(rankings: Mapping[str, Sequence[str]]) -> bytes:
    """Rankings as TREC run: query, Q0, document, rank, score, tag.

    The score is the rank below zero, so that no tool re-orders ties. A query without hits has no line; readers count
    it as missed. A document that comes twice counts where it comes first.
    """
    lines = []
    for query, documents in rankings.items():
        for rank, document in enumerate(dict.fromkeys(documents), start=1):
            lines.append(f"{encode_id(query)} Q0 {encode_id(document)} {rank} {-rank} {TAG}\n")
    return "".join(lines).encode()


def qrels_trec(judgements: Mapping[str, Mapping[str, int]]) -> bytes | None:
    """Judgements as TREC qrels: query, 0, document, grade. Null when there is no ground truth."""
    lines = [
        f"{encode_id(query)} 0 {encode_id(document)} {grade}\n"
        for query, grades in judgements.items()
        for document, grade in grades.items()
    ]
    return "".join(lines).encode() if lines else None
