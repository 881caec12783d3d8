"""Whether the collection was embedded with the suite's embedder, and whether its own search works."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ragval_pipeline.cli.checkup.check import Check, failed, note, ok, problem, skipped
from ragval_pipeline.cli.looking import PATIENCE
from ragval_pipeline.errors import RagvalError
from ragval_pipeline.sources.embedders.models import dimension_remedy, facts_of, retirement_of, same_model
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.snapshot.embedded import embedded_of, template_of
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.payload import PayloadSettings
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.text.printing import plural, printable
from ragval_pipeline.validation.first_look.points import Look
from ragval_pipeline.validation.payload.aliases import is_named_like
from ragval_pipeline.validation.thresholds import MATCH

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.base import Embedder
    from ragval_pipeline.sources.embedders.cache import CachingEmbedder
    from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
    from ragval_pipeline.sources.stores.qdrant.protocol import Point, Reader
    from ragval_pipeline.suite.queries.model import TestQuery
    from ragval_pipeline.suite.sections import EmbeddingSettings


#: Stored texts re-embedded, in one call.
_TEXTS = 3
#: Embedded or searched without a stored text or a test query.
_TEXT = "Which questions does this collection answer?"
#: Names of models that are listed.
_NAMED = 5
_ALIKE = 0.90


def check_embedder(
    suite: Suite, queries: Sequence[TestQuery], look: Look | None, reader: Reader | None
) -> tuple[list[Check], CachingEmbedder | None]:
    """Embed a few stored texts in one call; compare dimensions, then the vectors.

    Returns:
        The checks, and the closed embedder with the call's ``cost``; None if it does not answer.
    """
    from ragval_pipeline.sources.embedders.opening import open_suite_embedder

    vector = look.facts.vector(suite.qdrant.vector_name) if look else None
    foretold = _retired(suite.embedding) or _foretold_size(suite.embedding, vector)
    if foretold is not None:
        return [foretold], None
    points = _with_text(look, suite.payload) if look else []
    texts = [text for _, text in points] or [_TEXT]
    try:
        with closing(open_suite_embedder(suite, policy=PATIENCE)) as embedder:
            long = _long_queries(suite, queries, embedder)
            vectors = embedder.embed(texts, input_type="search_document").vectors.tolist()
    except RagvalError as error:
        return [failed("embedder", error)], None
    size = _size(embedder, len(vectors[0]), vector)
    if look is None or vector is None or size.state == "problem":
        return [size, *long], embedder
    cosine = _cosine(reader, vector, [point for point, _ in points], vectors)
    model = _model(embedder.model, stored_models(look, suite.payload.fields.get("model")), cosine)
    return [size, *long, model], embedder


def _long_queries(suite: Suite, queries: Sequence[TestQuery], embedder: Embedder) -> list[Check]:
    """The test queries that the embedder certainly refuses for their length, or truncates."""
    from ragval_pipeline.sources.embedders.reembedding import cut_short, too_long

    texts = [query.query_text for query in queries]
    refused, cut = too_long(embedder, texts, suite.embedding.query_input_type), cut_short(embedder, texts)
    bad = refused | cut
    told = [f"{query.id}: {bad[query.query_text]}" for query in queries if query.query_text in bad]
    remedy = "Shorten them. A run counts them as failed and judges the others."
    if not refused:
        remedy = "Put the question first, or shorten them."
    return [note("query lengths", "; ".join(told), remedy)] if told else []


def stored_models(look: Look, field: str | None) -> list[str]:
    """Distinct names of embedding models in payload and collection."""
    paths = [path for path in look.observed if path == field or is_named_like("model", path)]
    told = [value for path in paths for value in look.values(path)]
    told += [value for name, value in look.facts.metadata.items() if is_named_like("model", name)]
    return list(dict.fromkeys(value.strip() for value in told if isinstance(value, str)))


def _with_text(look: Look, payload: PayloadSettings) -> list[tuple[Point, str]]:
    """A few points spread over the sample, each with its embedded text."""
    path, template = payload.fields.get("text"), template_of(payload)
    held = [(point, embedded_of(point.payload, path, payload.flavour, template)) for point in look.points]
    usable = [(point, text) for point, text in held if not is_blank(text)]
    step = max(len(usable) // _TEXTS, 1)
    return usable[::step][:_TEXTS]


def _size(embedder: Embedder, size: int, vector: VectorFacts | None) -> Check:
    if vector is None or vector.size == size:
        return ok("embedder", f"{embedder.model} returns {size} dimensions")
    message = f"{embedder.model} has {size} dimensions, the collection {vector.size}"
    return problem("embedder", message, dimension_remedy(embedder.model, vector.size), exit_code=4)


def _retired(embedding: EmbeddingSettings) -> Check | None:
    """The problem of a model that its provider serves no more; None if there is none."""
    told = retirement_of(embedding.provider, embedding.model or "", embedding.base_url)
    return None if told is None else problem("embedder", f"{embedding.model} is not served any more", told)


def _foretold_size(embedding: EmbeddingSettings, vector: VectorFacts | None) -> Check | None:
    """The problem of a model known not to have the collection's dimension; None if there is none."""
    known = facts_of(embedding.model) if embedding.model and embedding.base_url is None else None
    if known is None or embedding.model is None or vector is None or known.gives(vector.size):
        return None
    message = f"{embedding.model} has {known.dimensions[0]} dimensions, the collection {vector.size}"
    return problem("embedder", message, dimension_remedy(embedding.model, vector.size), exit_code=4)


def _cosine(
    reader: Reader | None, vector: VectorFacts, points: Sequence[Point], vectors: Sequence[Sequence[float]]
) -> float | None:
    """Median similarity of stored and new vectors, measured by searching, without reading vectors; None: unknown."""
    if reader is None or vector.distance != "Cosine" or vector.coded or not points:
        return None
    exact = reader.facts().strict_mode.exact
    scores = []
    for point, made in zip(points, vectors, strict=True):
        hits = reader.search(made, limit=5, fields=(), exact=exact)
        own = [hit.score for hit in hits if hit.id == point.id]
        # Not among the nearest: at most as similar as the last of them.
        scores.append(own[0] if own else min((hit.score for hit in hits), default=0.0))
    return statistics.median(scores)


def _model(model: str, stored: Iterable[str], cosine: float | None) -> Check:
    others = [name for name in stored if not same_model(name, model)]
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    message = f"the collection names {', '.join(map(printable, others[:_NAMED]))}{more}" if others else ""
    shown = "" if cosine is None else f"stored texts embedded again: cosine {cosine:.3f} to their stored vectors"
    if cosine is not None and cosine >= MATCH:
        return note("model", f"{shown}, although {message}") if others else ok("model", shown)
    if others:
        detail: Any = f" ({shown})" if shown else ""
        facts = facts_of(others[0])
        retired = retirement_of(facts.maker, others[0]) if facts else None
        remedy = retired or "Set embedding.model to the model that the collection was embedded with."
        return problem("model", f"{message}, the suite embeds with {model}{detail}", remedy)
    if cosine is None:
        return skipped("model", "neither model names nor cosine similarity show whether it is the collection's model")
    remedy = (
        "The collection was made with another model, input type or preprocessing: set embedding, or "
        "payload.embedded_text, to the same."
    )
    return note("model", shown, remedy) if cosine >= _ALIKE else problem("model", shown, remedy)


def check_search(suite: Suite, queries: Sequence[TestQuery], look: Look | None) -> list[Check]:
    """Send one text to ``retrieval.retriever``; nothing if the suite has none."""
    if suite.retrieval.retriever is None:
        return []
    from ragval_pipeline.sources.search.production import production_searcher

    try:
        text = queries[0].query_text if queries else _TEXT
        hits = production_searcher(suite).search(text, limit=suite.retrieval.top_k)
    except RagvalError as error:
        return [failed("search", error)]
    return [_judged(suite, hits, empty=look is not None and not look.facts.points_count)]


def _judged(suite: Suite, hits: list[Hit], *, empty: bool) -> Check:
    name, path = suite.retrieval.retriever, suite.payload.fields["source_url"]
    if not hits and not empty:
        remedy = "Check that it searches the same collection with the same filter as the suite."
        return problem("search", f"{name} returns nothing", remedy, exit_code=4)
    if hits and not any(lookup(hit.payload, path)[0] for hit in hits):
        remedy = f"Make its hits include the whole payload, or correct payload.fields.source_url ({path})."
        return problem("search", f"{name} returns {plural(len(hits), 'hit')} without {path}", remedy, exit_code=4)
    return ok("search", f"{name} returns {plural(len(hits), 'hit')}")
