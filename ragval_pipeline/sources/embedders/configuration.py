"""What can be wrong with the embedding settings by themselves.

What lives here: the checks that need no network. What does not: the types and ranges of the keys (the suite's model),
and whether the provider accepts them.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.embedders.custom import load_custom
from ragval_pipeline.sources.embedders.models import (
    DEFAULT_COHERE_MODEL,
    STATIC_MODEL,
    facts_of,
)
from ragval_pipeline.sources.embedders.static_weights import static_files
from ragval_pipeline.suite.nearest import did_you_mean

PROVIDERS = ("cohere", "static", "module:attr")


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
    if provider == "cohere":
        usable_key(api_key)
        check_base_url(base_url)
        check_dimension(model or DEFAULT_COHERE_MODEL, dimension)
    elif provider == "static":
        static_files()
        check_dimension(STATIC_MODEL, dimension)
    else:
        load_custom(provider, search_path=search_path)


def check_provider(provider: str) -> None:
    """Raise SuiteError unless ``provider`` is one that exists or has the form ``module:attr``."""
    if provider in PROVIDERS[:2] or ":" in provider:
        return
    raise SuiteError(
        f"there is no embedding provider {provider!r}",
        key="embedding.provider",
        remedy=f"{did_you_mean(provider, PROVIDERS[:2])} Your own is named as module:attr.",
    )


def usable_key(api_key: str | None) -> str:
    """The key without surrounding blanks.

    Raises:
        SuiteError: It is empty, or holds characters that no HTTP header can carry.
    """
    key = (api_key or "").strip()
    if not key:
        raise SuiteError(
            "provider cohere needs a key, and there is none",
            key="embedding.api_key",
            remedy="Set the environment variable COHERE_API_KEY, or use provider: static, which needs no key.",
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SuiteError(
            "the key holds blanks, line breaks or characters outside ASCII",
            key="embedding.api_key",
            remedy="Copy it again, on one line.",
        )
    return key


def check_base_url(base_url: str | None) -> None:
    """Raise SuiteError unless ``base_url`` is None or an http(s) URL with a host. It may hold a password: not shown."""
    if base_url is None:
        return
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise SuiteError(
            "this is no http(s) URL with a host",
            key="embedding.base_url",
            remedy="Write it like https://api.cohere.com, or leave the key out.",
        )


def check_dimension(model: str, dimension: int | None) -> None:
    """Raise SuiteError when ``model`` is known not to give vectors of length ``dimension``."""
    facts = facts_of(model)
    if dimension is None or facts is None or dimension in facts.dimensions:
        return
    possible = " or ".join(str(size) for size in sorted(facts.dimensions))
    raise SuiteError(
        f"the vectors of {model} have {possible} dimensions, not {dimension}",
        key="embedding.dimension",
        remedy="Leave the key out, or name the model that the collection was made with in embedding.model.",
    )
