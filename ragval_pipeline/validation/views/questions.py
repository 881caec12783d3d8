"""The test queries of a run and their hits as the tables under the views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragval_pipeline.lazy import pa
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.views.tables import raw_schemas

_TEXTS = ("query_text", "query", "text")


def question_tables(results: Iterable[QueryReport]) -> dict[str, pa.Table]:
    """``_queries`` and ``_hits``: a row for each query, and one for each of its hits."""
    queries, hits = [], []
    for result in results:
        queries.append(_query(result))
        hits += [
            {
                "query_id": result.query_id,
                "rank": hit.rank,
                "point_id": hit.chunk_id,
                "score": hit.similarity_score,
                "source_url": hit.source_url,
                "title": hit.title,
                "module": hit.module_name,
                "chapter": hit.chapter_id,
                "chunk_index": hit.chunk_index,
                "text": hit.chunk_text,
            }
            for hit in result.top_results
        ]
    schemas = raw_schemas()
    return {
        "_queries": pa.Table.from_pylist(queries, schema=schemas["_queries"]),
        "_hits": pa.Table.from_pylist(hits, schema=schemas["_hits"]),
    }


def _query(result: QueryReport) -> dict[str, Any]:
    given: Mapping[str, Any] = result.query
    return {
        "query_id": result.query_id,
        "text": next((str(given[name]) for name in _TEXTS if given.get(name)), None),
        "status": result.status,
        "passed": result.passed,
        "negative": bool(given.get("negative")),
        "critical": bool(given.get("critical")),
        "pass_reason": result.pass_reason,
        "fail_reason": result.fail_reason,
        "failed_conditions": result.failed_conditions,
        "relevant_urls": [str(url) for url in given.get("relevant_urls") or ()],
        "best_similarity": result.best_similarity,
        "embedding_ms": result.embedding_ms,
        "search_time_ms": result.search_time_ms,
    }
