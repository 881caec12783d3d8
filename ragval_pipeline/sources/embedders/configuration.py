"""Checks of the embedding settings without any call."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ragval_pipeline.errors import SuiteError, install_line
from ragval_pipeline.sources.embedders.custom import load_custom
from ragval_pipeline.sources.embedders.models import DEFAULT_MODELS, STATIC_MODEL, facts_of
from ragval_pipeline.sources.embedders.static import static_files
from ragval_pipeline.suite.printing import did_you_mean
from ragval_pipeline.suite.sections import is_http_address


@dataclass(frozen=True)
class Provider:
    """What a provider needs.

    Attributes:
        package: Imported on use.
        extra: Ragval's extra that installs the package; None: always installed.
        variable: Environment variable of its key; None: it needs none.
    """

    package: str
    extra: str | None = None
    variable: str | None = None


PROVIDERS: Mapping[str, Provider] = {
    "cohere": Provider("cohere", variable="COHERE_API_KEY"),
    "openai": Provider("openai", "openai", "OPENAI_API_KEY"),
    "voyage": Provider("voyageai", "voyage", "VOYAGE_API_KEY"),
    "sentence-transformers": Provider("sentence_transformers", "sentence-transformers"),
    "fastembed": Provider("fastembed", "fastembed"),
    "static": Provider("wordllama"),
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


def usable_key(provider: str, api_key: str | None) -> str:
    """The key of a provider, stripped.

    Raises:
        SuiteError: It is empty, or has characters that are not allowed in HTTP headers.
    """
    key = (api_key or "").strip()
    if not key:
        raise SuiteError(
            f"provider {provider} needs a key, but none is set",
            key="embedding.api_key",
            remedy=f"Set the environment variable {PROVIDERS[provider].variable}.",
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SuiteError(
            "the key contains spaces, line breaks or non-ASCII characters",
            key="embedding.api_key",
            remedy="Copy it again, on one line.",
        )
    return key


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
