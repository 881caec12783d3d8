"""The providers of embeddings that ragval knows: what each needs to be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Provider:
    """What a provider needs.

    Attributes:
        package: Imported on use.
        extra: Ragval's extra that installs the package; None: always installed.
        variables: Environment variables of its key, the first that is set counts; empty: it needs none.
    """

    package: str
    extra: str | None = None
    variables: tuple[str, ...] = ()

    @property
    def variable(self) -> str | None:
        """The usual one of its variables."""
        return next(iter(self.variables), None)


PROVIDERS: Mapping[str, Provider] = {
    "cohere": Provider("cohere", variables=("COHERE_API_KEY", "CO_API_KEY")),
    "openai": Provider("httpx", variables=("OPENAI_API_KEY",)),
    "voyage": Provider("httpx", variables=("VOYAGE_API_KEY",)),
    "sentence-transformers": Provider("sentence_transformers", "sentence-transformers"),
    "fastembed": Provider("fastembed", "fastembed"),
    "static": Provider("wordllama"),
}
