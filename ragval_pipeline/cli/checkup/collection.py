"""Whether Qdrant answers and holds the collection, and whether the vectors that the suite names are there.

What lives here: the checks of facts. What does not: the payload (``payload``) and the embedder (``embedder``).
"""

from __future__ import annotations

from ragval_pipeline.cli.checkup.check import Check, failed, note, ok, problem
from ragval_pipeline.cli.looking import Look, look_at
from ragval_pipeline.errors import RagvalError
from ragval_pipeline.sources.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.qdrant.reader import Reader
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.printing import plural


def check_collection(suite: Suite, reader: Reader) -> tuple[Look | None, list[Check]]:
    """Look at the collection; null when it cannot be read."""
    try:
        look = look_at(reader)
    except RagvalError as error:
        return None, [failed("collection", error)]
    return look, [_points(suite, look.facts), _vector(suite, look.facts), *_status(look.facts)]


def _points(suite: Suite, facts: CollectionFacts) -> Check:
    alias = f" (alias {facts.alias})" if facts.alias else ""
    if facts.points_count:
        return ok("collection", f"{facts.name}{alias}, {plural(facts.points_count, 'point')}")
    if suite.qdrant.filter:
        remedy = "Correct qdrant.filter, or take it out."
        return problem("collection", f"{facts.name}{alias} holds no point that the filter lets in", remedy, exit_code=4)
    return problem("collection", f"{facts.name}{alias} holds no points", "Run the ingestion first.", exit_code=4)


def _vector(suite: Suite, facts: CollectionFacts) -> Check:
    wanted = suite.qdrant.vector_name
    vector = facts.vector(wanted)
    if vector is None:
        names = ", ".join(entry.name or "the unnamed one" for entry in facts.vectors) or "none"
        message = f"there is no vector {wanted}" if wanted else "the collection's vectors have names"
        remedy = f"Set qdrant.vector_name to one of: {names}." if wanted or facts.vectors else "Ingest dense vectors."
        return problem("vectors", message, remedy, exit_code=4)
    named = f"{vector.name}, " if vector.name else ""
    text = f"{named}{vector.size} dimensions, {vector.distance}"
    if vector.distance == "Cosine":
        return ok("vectors", text)
    remedy = "Check that retrieval.min_similarity fits its scores."
    if not vector.higher_is_better:
        remedy = "Lower is better with it: min_similarity and relevance_similarity are the largest distance allowed."
    return note("vectors", text, remedy)


def _status(facts: CollectionFacts) -> list[Check]:
    if facts.status == "green" and facts.optimizer == "ok":
        return []
    told = f"status {facts.status}" + (f", optimiser: {facts.optimizer}" if facts.optimizer != "ok" else "")
    return [note("status", told, "Wait until Qdrant has optimised the collection, or look at its log.")]
