"""Whether the search of your own that the suite names answers, and with points of the collection."""

from __future__ import annotations

from ragval_pipeline.cli.checkup.check import Check, failed, ok, problem
from ragval_pipeline.cli.looking import Look
from ragval_pipeline.errors import RagvalError
from ragval_pipeline.sources.snapshot.values import lookup
from ragval_pipeline.sources.stores.qdrant.reader import Hit
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.printing import plural

_TEXT = "Which questions does this collection answer?"


def check_search(suite: Suite, look: Look | None) -> list[Check]:
    """Ask ``retrieval.retriever`` one text; nothing when the suite names none."""
    if suite.retrieval.retriever is None:
        return []
    from ragval_pipeline.sources.search.production import production_searcher

    try:
        hits = production_searcher(suite).search(_text(suite), limit=suite.retrieval.top_k, fields=())
    except RagvalError as error:
        return [failed("search", error)]
    return [_judged(suite, hits, empty=look is not None and not look.facts.points_count)]


def _text(suite: Suite) -> str:
    from ragval_pipeline.suite.queries.load import load_queries

    try:
        queries = load_queries(suite)
    except RagvalError:
        # Named by the check of the queries.
        return _TEXT
    return queries[0].query_text if queries else _TEXT


def _judged(suite: Suite, hits: list[Hit], *, empty: bool) -> Check:
    name, path = suite.retrieval.retriever, suite.payload.fields["source_url"]
    if not hits and not empty:
        remedy = "Check that it asks the same collection with the same filter as the suite."
        return problem("search", f"{name} returns nothing", remedy, exit_code=4)
    if hits and not any(lookup(hit.payload, path)[0] for hit in hits):
        remedy = f"Let its hits carry the whole payload, or correct payload.fields.source_url ({path})."
        return problem("search", f"{name} returns {plural(len(hits), 'hit')} without {path}", remedy, exit_code=4)
    return ok("search", f"{name} returns {plural(len(hits), 'hit')}")
