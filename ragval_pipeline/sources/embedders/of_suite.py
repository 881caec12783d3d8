"""The embedder that a suite names: its settings held against what is known beforehand, and opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragval_pipeline.sources.embedders.cache import CachingEmbedder
from ragval_pipeline.sources.embedders.configuration import check_configuration
from ragval_pipeline.sources.embedders.opening import open_embedder
from ragval_pipeline.sources.retry import RetryPolicy, policy_of

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.suite.sections import EmbeddingSettings


def check_suite_embedder(suite: Suite) -> None:
    """Say what is wrong with the ``embedding`` of a resolved suite before any network call.

    Raises:
        SuiteError: As ``check_configuration``.
    """
    settings = suite.embedding
    check_configuration(
        provider=settings.provider,
        model=settings.model,
        base_url=settings.base_url,
        api_key=_key(settings),
        dimension=settings.dimension,
        search_path=suite.folder,
    )


def open_suite_embedder(
    suite: Suite,
    *,
    policy: RetryPolicy | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    keep: bool = False,
) -> CachingEmbedder:
    """The embedder of a resolved suite, behind a cache; nothing is sent yet. Close it after use.

    Args:
        suite: The resolved suite.
        policy: When to try again; None: the suite's ``retry``.
        base_url: In place of the suite's, when given.
        api_key: In place of the suite's, when given.
        keep: Whether vectors of earlier runs serve, and this one's are kept for later ones, on ``report_uri``.

    Raises:
        SuiteError: As ``check_configuration``.
        SystemFailure: Building the user's own embedder raised.
    """
    settings = suite.embedding
    return open_embedder(
        provider=settings.provider,
        model=settings.model,
        base_url=base_url or settings.base_url,
        api_key=api_key or _key(settings),
        dimension=settings.dimension,
        timeout_s=suite.qdrant.timeout_s,
        policy=policy or policy_of(suite),
        search_path=suite.folder,
        kept=_base(suite) if keep else None,
    )


def _base(suite: Suite) -> UPath:
    from upath import UPath

    return UPath(suite.report_uri) / suite.suite


def _key(settings: EmbeddingSettings) -> str | None:
    return settings.api_key.get_secret_value() if settings.api_key else None
