"""Opening the embedder of a suite's settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragval_pipeline.sources.embedders.base import Embedder
from ragval_pipeline.sources.embedders.cache import CachingEmbedder
from ragval_pipeline.sources.embedders.configuration import PROVIDERS, check_configuration, check_provider
from ragval_pipeline.sources.embedders.custom import CustomEmbedder
from ragval_pipeline.sources.embedders.hosted import CohereEmbedder, OpenAIEmbedder, VoyageEmbedder
from ragval_pipeline.sources.embedders.local_models import FastembedEmbedder, SentenceTransformerEmbedder
from ragval_pipeline.sources.embedders.models import DEFAULT_MODELS
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.sources.embedders.store import store_at
from ragval_pipeline.suite.sections import RetrySettings

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.suite.sections import EmbeddingSettings


def open_embedder(
    *,
    provider: str,
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    dimension: int | None = None,
    timeout_s: float = 30.0,
    policy: RetrySettings | None = None,
    search_path: Path | None = None,
    kept: UPath | None = None,
    cut_queries: bool = False,
) -> CachingEmbedder:
    """The embedder of the settings, with a cache; nothing is sent yet. Close it after use.

    Args:
        provider: One of ``PROVIDERS``, or ``module:attr``.
        model: None: the provider's default. ``static`` has only one.
        base_url: Only for providers behind an API.
        api_key: Only for providers behind an API.
        dimension: Vector length to request or to check; None: the model's own.
        timeout_s: Seconds for one try.
        policy: Retries; only for providers behind an API.
        search_path: Folder of the suite file, for ``module:attr`` and models in folders.
        kept: ``<report_uri>/<suite>``, where vectors of a paid provider are kept for later runs; None: nowhere. Vectors
            of a ``module:attr`` may change with its code and are not kept.
        cut_queries: Let ``cohere`` and ``voyage`` truncate queries that exceed the model's limit.

    Raises:
        SuiteError: As ``check_configuration``.
        SystemFailure: Building the user's own embedder raised.
    """
    check_provider(provider)
    if provider not in PROVIDERS:
        return CachingEmbedder(CustomEmbedder(provider, model=model, dimension=dimension, search_path=search_path))
    check_configuration(provider=provider, model=model, base_url=base_url, api_key=api_key, dimension=dimension)
    name = model or DEFAULT_MODELS[provider]
    remote = {"cohere": CohereEmbedder, "openai": OpenAIEmbedder, "voyage": VoyageEmbedder}
    local = {"sentence-transformers": SentenceTransformerEmbedder, "fastembed": FastembedEmbedder}
    inner: Embedder
    if provider in remote:
        inner = remote[provider](
            model=name,
            api_key=api_key,
            base_url=base_url,
            dimension=dimension,
            timeout_s=timeout_s,
            policy=policy,
            cut_queries=cut_queries,
        )
    elif provider in local:
        inner = local[provider](model=name, dimension=dimension, search_path=search_path)
    else:
        inner = StaticEmbedder()
    if kept is None or inner.free:
        return CachingEmbedder(inner)
    return CachingEmbedder(inner, store=store_at(kept, provider=provider, base_url=base_url))


def check_suite_embedder(suite: Suite) -> None:
    """Check the ``embedding`` of a resolved suite before any network call.

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
    policy: RetrySettings | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    keep: bool = False,
) -> CachingEmbedder:
    """The embedder of a resolved suite, with a cache; nothing is sent yet. Close it after use.

    Args:
        suite: The resolved suite.
        policy: Retries; None: the suite's ``retry``.
        base_url: Replaces the suite's.
        api_key: Replaces the suite's.
        keep: Whether to use vectors of earlier runs and keep new ones, on ``report_uri``.

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
        policy=policy or suite.retry,
        search_path=suite.folder,
        kept=_base(suite) if keep else None,
        cut_queries=settings.long_queries == "cut",
    )


def _base(suite: Suite) -> UPath:
    from upath import UPath

    return UPath(suite.report_uri) / suite.suite


def _key(settings: EmbeddingSettings) -> str | None:
    return settings.api_key.get_secret_value() if settings.api_key else None
