"""Choosing what to damage, so that two defects never touch the same page, and copying or rewriting points."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, TypeVar

from ragval_pipeline.demo.ingest import module_of, text_hash, token_counts
from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import Amount
from ragval_pipeline.testing.defects.store import StoredPoint
from ragval_pipeline.testing.services import vector_key

T = TypeVar("T")


def choose_pages(
    corpus: Corpus,
    amount: Amount,
    rng: random.Random,
    *,
    min_chunks: int = 1,
    leave_modules: bool = False,
    suits: Callable[[str], bool] = lambda _: True,
) -> list[str]:
    """Indexed in-scope pages.

    They are recorded as damaged. ``leave_modules``: at least one page of every module stays as it is.

    Returns:
        Pages as written in sitemap and index, sorted.
    """
    indexed = corpus.pages()
    pages = [url for url in corpus.scope_urls if len(indexed.get(url, ())) >= min_chunks and suits(url)]
    allowed = _spread(pages, rng) if leave_modules else pages
    chosen = _pick([url for url in allowed if url not in corpus.spoilt], amount.of(len(pages)), rng)
    corpus.spoilt.update(chosen)
    return sorted(chosen)


def choose_points(
    corpus: Corpus, amount: Amount, rng: random.Random, *, suits: Callable[[StoredPoint], bool] = lambda _: True
) -> list[StoredPoint]:
    """Points of in-scope pages; their pages are recorded as damaged."""
    scope = set(corpus.scope_urls)
    candidates = [point for point in corpus.points if corpus.get(point, "source_url") in scope and suits(point)]
    free = [point for point in candidates if corpus.get(point, "source_url") not in corpus.spoilt]
    chosen = _pick(free, amount.of(len(candidates)), rng)
    corpus.spoilt.update(str(corpus.get(point, "source_url")) for point in chosen)
    return chosen


def ids_of(points: Iterable[StoredPoint]) -> frozenset[str]:
    """Ids of these points as in a run."""
    return frozenset(str(point.id) for point in points)


def choose_queries(
    corpus: Corpus, amount: Amount, rng: random.Random, *, suits: Callable[[dict[str, Any]], bool]
) -> list[dict[str, Any]]:
    """Suitable queries with an id whose pages are undamaged; queries and pages are recorded as damaged."""
    candidates = [query for query in counted_queries(corpus) if "id" in query and suits(query)]
    free = [query for query in candidates if not corpus.spoilt & {query["id"], *named_pages(query)}]
    chosen = _pick(free, amount.of(len(candidates)), rng)
    for query in chosen:
        corpus.spoilt.update((query["id"], *named_pages(query)))
    return chosen


def query_keys(corpus: Corpus, queries: Iterable[dict[str, Any]]) -> frozenset[tuple[float, ...]]:
    """The ``vector_key`` of each query, by which a server recognises it."""
    vectors = corpus.embed([query["query_text"] for query in queries], input_type="search_query")
    return frozenset(map(vector_key, vectors))


def top_k_of(corpus: Corpus, query: dict[str, Any] | None = None) -> int:
    """Number of hits of a query, else the suite's."""
    return int((query or {}).get("top_k") or corpus.settings.get("retrieval", {}).get("top_k", 5))


def counted_queries(corpus: Corpus) -> list[dict[str, Any]]:
    """Queries that criteria and findings count: not drafts."""
    return [query for query in corpus.queries if query.get("status") != "draft"]


def required_fields(corpus: Corpus) -> list[str]:
    """Required fields of the points, except text and address."""
    return [name for name in corpus.required if name not in {"text", "source_url"} and corpus.holds(name)]


def named_pages(query: dict[str, Any]) -> list[str]:
    """Pages that a query expects."""
    return [*query.get("relevant_urls", ()), *query.get("acceptable_urls", ())]


def _spread(pages: Sequence[str], rng: random.Random) -> list[str]:
    """All pages but one of each module."""
    left: dict[str, str] = {}
    for url in rng.sample(pages, len(pages)):
        left.setdefault(module_of(url.partition("/docs/")[2]), url)
    return [url for url in pages if url not in left.values()]


def _pick(free: Sequence[T], wanted: int, rng: random.Random) -> list[T]:
    if not free:
        raise NothingToSpoilError("the corpus has nothing left in which this defect can be planted")
    return rng.sample(free, min(wanted, len(free)))


def add_copies(corpus: Corpus, points: Iterable[StoredPoint], *, salt: str, **changes: Any) -> list[StoredPoint]:
    """Add a copy of each point with a new id.

    The same ``salt`` gives the same ids. Changes are by canonical name; fields that no point has are left out.
    """
    copies = []
    present = {name: value for name, value in changes.items() if corpus.holds(name)}
    for point in points:
        new_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{salt} {point.id}"))
        copy = StoredPoint(new_id, deepcopy(point.payload), point.vector)
        for name, value in present.items():
            corpus.put(copy, name, value)
        copies.append(copy)
    corpus.points.extend(copies)
    return copies


def rewrite(corpus: Corpus, changes: Sequence[tuple[StoredPoint, str]]) -> None:
    """Give points new texts; their token counts change as their tokens do, whatever the ingestion counts."""
    present = [name for name in ("text_hash", "token_count") if corpus.holds(name)]
    before = token_counts([corpus.text(point) for point, _ in changes])
    after = token_counts([text for _, text in changes])
    for (point, text), old, new in zip(changes, before, after, strict=True):
        corpus.put(point, "text", text)
        for name in present:
            stored = corpus.get(point, name)
            if name == "text_hash" and stored is not None:
                corpus.put(point, name, text_hash(text))
            elif isinstance(stored, int):
                corpus.put(point, name, round(stored * new / old) if old else new)
    vectors = corpus.embed([corpus.embedded(point) for point, _ in changes])
    for (point, _), vector in zip(changes, vectors, strict=True):
        point.vector = vector
