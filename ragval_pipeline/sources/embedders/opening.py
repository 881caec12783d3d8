"""From settings to an embedder that is ready to be asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragval_pipeline.sources.embedders.base import Embedder
from ragval_pipeline.sources.embedders.cache import CachingEmbedder
from ragval_pipeline.sources.embedders.cohere_v2 import CohereEmbedder
from ragval_pipeline.sources.embedders.configuration import PROVIDERS, check_configuration, check_provider
from ragval_pipeline.sources.embedders.custom import CustomEmbedder
from ragval_pipeline.sources.embedders.local_models import FastembedEmbedder, SentenceTransformerEmbedder
from ragval_pipeline.sources.embedders.models import DEFAULT_MODELS
from ragval_pipeline.sources.embedders.openai_api import OpenAIEmbedder
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.sources.embedders.store import store_at
from ragval_pipeline.sources.embedders.voyage import VoyageEmbedder
from ragval_pipeline.sources.retry import RetryPolicy

if TYPE_CHECKING:
    from upath import UPath


def open_embedder(
    *,
    provider: str,
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    dimension: int | None = None,
    timeout_s: float = 30.0,
    policy: RetryPolicy | None = None,
    search_path: Path | None = None,
    kept: UPath | None = None,
) -> CachingEmbedder:
    """The embedder that the settings name, behind a cache; nothing is sent yet. Close it after use.

    Args:
        provider: One of ``PROVIDERS``, or ``module:attr``.
        model: None: the provider's default. ``static`` has only one.
        base_url: Only for providers behind an API.
        api_key: Only for providers behind an API.
        dimension: Length of the vectors to ask for or to insist on; None: the model's own.
        timeout_s: Seconds for one try.
        policy: When to try again; only for providers behind an API.
        search_path: Folder of the suite file, for ``module:attr`` and models in folders.
        kept: ``<report_uri>/<suite>``, where vectors of a paid provider are kept for later runs; None: nowhere. What a
            ``module:attr`` gives may change with its code, so it is not kept.

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
            model=name, api_key=api_key, base_url=base_url, dimension=dimension, timeout_s=timeout_s, policy=policy
        )
    elif provider in local:
        inner = local[provider](model=name, dimension=dimension, search_path=search_path)
    else:
        inner = StaticEmbedder()
    if kept is None or inner.free:
        return CachingEmbedder(inner)
    return CachingEmbedder(inner, store=store_at(kept, provider=provider, base_url=base_url))
