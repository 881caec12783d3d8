"""What a run will take of the embedder: calls, tokens, money and time, before anything is spent.

An estimate: how many questions a site's own titles and headings give, and which repairs are tried, only a run knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.cli.checkup.check import Check, note, ok
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.reporting.numbers import show_seconds, show_spent
from ragval_pipeline.sources.embedders.models import PRICES_OF, price_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.printing import plural

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders import CachingEmbedder

#: Headings of a page that are asked for beside its title, as on the documentation sites that were tried.
_HEADINGS = 4  # work
#: Tokens of a title with its heading.
_TITLE_TOKENS = 12  # work


@dataclass(frozen=True)
class Estimate:
    """What the parts of a run embed.

    Attributes:
        calls: To the provider.
        texts: In these calls.
        tokens: Of these texts.
    """

    calls: int = 0
    texts: int = 0
    tokens: float = 0.0

    def plus(self, texts: int, tokens_each: float, *, a_call: int) -> Estimate:
        """With further texts, so many in each call."""
        calls = -(-texts // max(a_call, 1))
        return Estimate(self.calls + calls, self.texts + texts, self.tokens + texts * tokens_each)


def check_cost(suite: Suite, embedder: CachingEmbedder, stored: Sequence[str], points: int) -> Check:
    """Estimate a whole run, after a call that was made with ``stored``.

    Args:
        suite: The resolved suite.
        embedder: Has embedded some stored texts; its cost tells how long a call takes.
        stored: These texts.
        points: Of the collection.
    """
    estimate = _estimate(suite, embedder, stored, points)
    spent = embedder.cost
    if embedder.free:
        seconds = estimate.texts * spent.elapsed_s / max(spent.inputs, 1)
        told = f"{plural(estimate.texts, 'text')} embedded on this machine, {_about(seconds)}"
        return ok("cost", f"a run has about {told}; nothing is paid")
    price = price_of(embedder.provider, embedder.model, suite.embedding.base_url)
    usd = None if price is None else estimate.tokens * price / 1_000_000
    seconds = estimate.calls * spent.elapsed_s / max(spent.calls, 1)
    told = show_spent(estimate.calls, estimate.tokens, usd, PRICES_OF if price else None)
    unknown = "" if price is not None else "; its price is not known"
    message = f"a run makes about {told}, {_about(seconds)}{unknown}"
    over = _over_budget(suite, estimate)
    if not over:
        return ok("cost", message)
    remedy = "The run will stop there and end with 4: raise it, or lower identity_sample and self_sample."
    return note("cost", f"{message}: more than {over}", remedy)


def _about(seconds: float) -> str:
    return f"about {show_seconds(seconds)}" if seconds >= 1 else "under a second"


def _over_budget(suite: Suite, estimate: Estimate) -> str:
    limits = {
        "budget.calls": (suite.budget.calls, estimate.calls),
        "budget.tokens": (suite.budget.tokens, estimate.tokens),
    }
    return " and ".join(
        f"{key} {limit:,}" for key, (limit, wanted) in limits.items() if limit is not None and wanted > limit
    )


def _estimate(suite: Suite, embedder: CachingEmbedder, stored: Sequence[str], points: int) -> Estimate:
    from ragval_pipeline.orchestration.assets.index_health import QUERIES_PROBED
    from ragval_pipeline.sources.embedders.tokens import count_tokens
    from ragval_pipeline.sources.timing import BATCH, TIMINGS
    from ragval_pipeline.validation.vectors.sample import wanted_points

    batch = embedder.batch_size or max(points, 1)
    texts = list(dict.fromkeys(_query_texts(suite)))
    each = sum(count_tokens(texts)) / len(texts) if texts else 0.0
    estimate = Estimate()
    own_search = suite.retrieval.retriever is not None
    if texts and not own_search:
        estimate = estimate.plus(len(texts), each, a_call=batch)  # asked
        estimate = estimate.plus(min(len(texts), QUERIES_PROBED), each, a_call=batch)  # asked exactly too
        timed = max(TIMINGS, len(texts)) + 1
        estimate = estimate.plus(timed, each, a_call=1).plus(min(len(texts), BATCH), each, a_call=batch)
    if suite.source is not None and points and not own_search:
        pages = min(points, suite.retrieval.self_sample)
        estimate = estimate.plus(pages * (1 + _HEADINGS), _TITLE_TOKENS, a_call=batch)
    wanted = wanted_points(suite.embedding.identity_sample, free=embedder.free)
    sampled = points if wanted is None else min(points, wanted)
    length = sum(count_tokens(stored)) / len(stored) if stored else 0.0
    return estimate.plus(sampled, length, a_call=batch)


def _query_texts(suite: Suite) -> list[str]:
    from ragval_pipeline.suite.queries.load import load_queries

    try:
        return [query.query_text for query in load_queries(suite)]
    except SuiteError:
        return []  # named by the check of the queries
