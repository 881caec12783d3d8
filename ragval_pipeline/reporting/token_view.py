"""What the report says about tokens: their distribution, and how much of a chunk the model reads.

What lives here: finding the limit, and the sentence. What does not: drawing (``plots/tokens``) and counting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.suite.printing import plural

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragval_pipeline.validation.chunks.limits import Limit


def model_limit(bundle: ReportBundle) -> Limit | None:
    """Tokens that the embedding model reads, the smallest where points name several; null when nobody knows."""
    from ragval_pipeline.suite.profiles import get_profile
    from ragval_pipeline.validation.chunks.limits import Limit, LimitRules

    found = (finding for finding in bundle.findings if finding.code == "chunk.over_model_limit")
    measured = [limit for finding in found for limit in finding.details.get("limits", {}).values()]
    if measured:
        return Limit(int(min(measured)), "chunk.over_model_limit")
    profile = get_profile(bundle.report.profile)
    return LimitRules(
        max_input_tokens=bundle.setting("embedding", "max_input_tokens"),
        collection=bundle.manifest.facts.metadata if bundle.manifest else None,
        profile=profile.max_input_tokens if profile else None,
        model=bundle.report.environment.get("embedding_model"),
    ).of(None)


def token_picture(counts: Sequence[int], limit: Limit | None) -> Markup | None:
    """The plot of token counts; null without any."""
    from ragval_pipeline.reporting.plots.tokens import token_plot

    if not counts:
        return None
    tokens = limit.tokens if limit else None
    return token_plot(
        counts, tokens, title=f"Tokens of {plural(len(counts), 'chunk')}. {token_sentence(counts, limit)}"
    )


def token_sentence(counts: Sequence[int], limit: Limit | None) -> str:
    """How many chunks the model does not read to their end."""
    if limit is None:
        return "Nobody says how many tokens the embedding model reads."
    if limit.tokens is None:
        return "The embedding model reads texts of any length."
    over = sum(count > limit.tokens for count in counts)
    return f"The model reads {limit.tokens:,} tokens: {plural(over, 'chunk')} of {len(counts):,} claim more."
