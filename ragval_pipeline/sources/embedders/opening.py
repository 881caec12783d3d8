"""Checking the embedding settings of a suite without any call, and opening its embedder."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SuiteError, install_line
from ragval_pipeline.sources.embedders.base import Embedder
from ragval_pipeline.sources.embedders.cache import CachingEmbedder
from ragval_pipeline.sources.embedders.cohere import CohereEmbedder
from ragval_pipeline.sources.embedders.custom import CustomEmbedder, load_custom
from ragval_pipeline.sources.embedders.http_apis import HTTP_APIS, http_embedder
from ragval_pipeline.sources.embedders.local_models import FastembedEmbedder, SentenceTransformerEmbedder
from ragval_pipeline.sources.embedders.models import DEFAULT_MODELS, STATIC_MODEL, facts_of
from ragval_pipeline.sources.embedders.remote import usable_key
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.sources.embedders.static_files import static_files
from ragval_pipeline.sources.embedders.store import store_at
from ragval_pipeline.suite.providers import PROVIDERS
from ragval_pipeline.suite.section import is_http_address
from ragval_pipeline.suite.sections import RetrySettings
from ragval_pipeline.text.printing import did_you_mean

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.suite.model import Suite


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
    remote: dict[str, Callable[..., Embedder]] = {
        "cohere": CohereEmbedder,
        **{name: partial(http_embedder, name) for name in HTTP_APIS},
    }
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
    check_configuration(**_settings(suite))


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
    from ragval_pipeline.sources.history import history_folder

    settings = _settings(suite)
    settings |= {name: given for name, given in (("base_url", base_url), ("api_key", api_key)) if given}
    return open_embedder(
        **settings,
        timeout_s=suite.qdrant.timeout_s,
        policy=policy or suite.retry,
        kept=history_folder(suite.report_uri, suite.place) if keep else None,
        cut_queries=suite.embedding.long_queries == "cut",
    )


def _settings(suite: Suite) -> dict[str, Any]:
    """What ``check_configuration`` and ``open_embedder`` take of a suite."""
    names = ("provider", "model", "base_url", "dimension")
    key = suite.embedding.api_key
    return {
        **{name: getattr(suite.embedding, name) for name in names},
        "api_key": key.get_secret_value() if key else None,
        "search_path": suite.folder,
    }


def check_configuration(
    *,
    provider: str,
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    dimension: int | None = None,
    search_path: Path | None = None,
) -> None:
    """Say what is wrong with the embedding settings before any network call.

    A ``module:attr`` provider is imported, not built.

    Raises:
        SuiteError: Unknown provider, no key, no URL, a dimension that the model does not have, or a missing module.
    """
    check_provider(provider)
    if provider not in PROVIDERS:
        load_custom(provider, search_path=search_path)
        return
    check_installed(provider)
    if PROVIDERS[provider].variable is not None:
        check_base_url(base_url)
        if provider != "openai" or base_url is None:
            usable_key(provider, api_key)
    if provider == "static":
        static_files()
    _check_model(provider, model)
    check_dimension(STATIC_MODEL if provider == "static" else model or DEFAULT_MODELS[provider], dimension)


def check_installed(provider: str) -> None:
    """Raise SuiteError when the package that a provider needs is not installed."""
    needed = PROVIDERS[provider]
    if needed.extra is not None and importlib.util.find_spec(needed.package) is None:
        raise SuiteError(
            f"provider {provider} needs the package {needed.package}, which is not installed",
            key="embedding.provider",
            remedy=f"Install it with: {install_line(needed.extra)}",
        )


def _check_model(provider: str, model: str | None) -> None:
    """Refuse models that a provider's library would not run locally, or that another provider serves."""
    facts = facts_of(model) if model else None
    if provider == "voyage" and model and model.endswith("-nano"):
        remedy = f"Write provider: sentence-transformers, model: voyageai/{model}."
        raise SuiteError(f"{model} runs on this machine, not at Voyage", key="embedding.model", remedy=remedy)
    if facts is not None and facts.maker in PROVIDERS and provider in ("cohere", "voyage") and facts.maker != provider:
        remedy = f"Write provider: {facts.maker}, or name a model of {provider}."
        raise SuiteError(f"{model} is a model of {facts.maker}", key="embedding.model", remedy=remedy)


def check_provider(provider: str) -> None:
    """Raise SuiteError unless ``provider`` is one that exists or has the form ``module:attr``."""
    if provider in PROVIDERS or ":" in provider:
        return
    raise SuiteError(
        f"there is no embedding provider {provider!r}",
        key="embedding.provider",
        remedy=f"{did_you_mean(provider, PROVIDERS)} Specify your own as module:attr.",
    )


def check_base_url(base_url: str | None) -> None:
    """Raise SuiteError unless ``base_url`` is None or an http(s) URL with a host. It may hold a password: not shown."""
    if base_url is not None and not is_http_address(base_url):
        raise SuiteError(
            "this is not an http(s) URL with a host",
            key="embedding.base_url",
            remedy="Write it like https://api.example.com/v1, or leave the key out.",
        )


def check_dimension(model: str, dimension: int | None) -> None:
    """Raise SuiteError when ``model`` is known not to give vectors of length ``dimension``."""
    facts = facts_of(model)
    if dimension is None or facts is None or facts.gives(dimension):
        return
    sizes = " or ".join(str(size) for size in sorted(facts.dimensions))
    possible = f"up to {sizes}" if facts.any_shorter else sizes
    raise SuiteError(
        f"the vectors of {model} have {possible} dimensions, not {dimension}",
        key="embedding.dimension",
        remedy="Leave the key out, or set embedding.model to the model that the collection was made with.",
    )
