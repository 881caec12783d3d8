"""What a run over this collection will take, before it is started."""

from __future__ import annotations

from ragval_pipeline.cli.checkup.check import Check, note, ok
from ragval_pipeline.cli.looking import Look
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.estimate import Size, estimate
from ragval_pipeline.sources.snapshot.embedded import embedded_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.printing import plural

#: Providers that run on this machine.
_FREE = frozenset({"static", "fastembed", "sentence-transformers"})
#: Seconds from which a person may want to know what to turn.
_LONG_S = 1800


def check_estimate(suite: Suite, look: Look, *, pages: int) -> Check:
    """Time, calls, tokens and storage of a whole validation.

    Args:
        suite: The resolved suite.
        look: The collection at first sight.
        pages: In scope; 0: not known.
    """
    path, flavour = suite.payload.fields.get("text"), suite.payload.flavour
    lengths = [len(embedded_of(point.payload, path, flavour)) for point in look.points]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    size = Size(look.facts.points_count, pages, _queries(suite), mean)
    free = suite.embedding.provider in _FREE
    found = estimate(suite, size, free=free, local=look.facts.local)
    asked = plural(found.requests, "request")
    told = f"about {_told(found.seconds)}, {asked} to Qdrant, {found.stored_bytes / 1e6:,.0f} MB a run"
    if found.seconds < _LONG_S:
        return ok("a whole run", told)
    return note(
        "a whole run", told, "See docs/how-to/scale-out.md for what to turn: scale.workers, qdrant.concurrency, --only."
    )


def _queries(suite: Suite) -> int:
    from ragval_pipeline.suite.queries.load import load_queries

    try:
        return len(load_queries(suite))
    except SuiteError:
        return 0  # named by the check of the queries


def _told(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
