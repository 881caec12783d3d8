"""Query results of two runs to compare. Not a test."""

from __future__ import annotations

from typing import Any

from ragval_pipeline.validation.query_report import HeldTo, QueryReport


def query(
    name: str, passed: bool | None = True, text: str | None = None, held_to: HeldTo | None = None, **given: Any
) -> QueryReport:
    """A query; ``passed`` null: it could not be asked."""
    return QueryReport(
        query_id=name,
        query={"id": name, "query_text": text or f"What is {name}?", **given},
        status="error" if passed is None else "success",
        passed=passed,
        pass_reason=None,
        fail_reason=None if passed else "best score 0.1 is below 0.5",
        failed_conditions=[] if passed else ["score"],
        best_similarity=0.7 if passed else 0.1,
        module_match=None,
        chapter_match=None,
        returned_k=0,
        embedding_ms=None,
        search_time_ms=None,
        top_results=[],
        held_to=held_to,
    )


def queries(passed: int, failed: int, **given: Any) -> list[QueryReport]:
    """``q0``, ``q1``, ...: first those that pass."""
    return [query(f"q{number}", passed=number < passed, **given) for number in range(passed + failed)]


def held_to(min_similarity: float | None = 0.7, **more: Any) -> HeldTo:
    """What decides on a query: its score, unless told otherwise."""
    fields = {"top_k": 5, "conditions": ["score"], "module_match": None, **more}
    return HeldTo(min_similarity=min_similarity, **fields)


def row(page: str | None, text: str, point: str = "", index: int | None = 0) -> dict[str, Any]:
    """A row of a snapshot."""
    return {"page_key": page, "text_sha256": text, "point_id": point or f"{page}/{text}", "chunk_index": index}
