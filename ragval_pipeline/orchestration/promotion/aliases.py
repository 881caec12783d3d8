"""Qdrant's aliases: reading one, and moving it in a single call. The only code that writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import dagster as dg
from pydantic import Field, SecretStr

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.rules.index.unreachable import RULE as INDEX_UNREACHABLE
from ragval_pipeline.suite.sections import QdrantSettings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


T = TypeVar("T")


class AliasWriter(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Address and key for moving aliases.

    It has its own key, so that the suite's key can stay read-only.
    """

    url: str | None = Field(None, description="Qdrant server; null: the suite's qdrant.url or qdrant.path")
    api_key: str | None = Field(None, description="Key that may change aliases; use dg.EnvVar. Null: no key is sent")

    @contextmanager
    def open_for(self, settings: QdrantSettings) -> Iterator[Aliases]:
        """The aliases of a resolved suite's Qdrant.

        Raises:
            SystemFailure: No client can be opened.
        """
        from ragval_pipeline.sources.stores.qdrant.connect import open_client, place_of

        key = None if self.api_key is None else SecretStr(self.api_key)
        place = {"url": self.url, "path": None} if self.url else {}
        own = settings.model_copy(update={"api_key": key, **place})
        with open_client(own) as client:
            yield Aliases(client, place=place_of(own))


class Aliases:
    """The aliases of one Qdrant."""

    def __init__(self, client: QdrantClient, *, place: str) -> None:
        self._client = client
        self._place = place

    def target(self, alias: str) -> str | None:
        """The collection behind an alias; None if there is no such alias."""
        found = self._ask(alias, self._client.get_aliases, tries=3)
        return {entry.alias_name: entry.collection_name for entry in found.aliases}.get(alias)

    def collections(self) -> list[str]:
        """Names of all collections, sorted."""
        found = self._ask("", self._client.get_collections, tries=3)
        return sorted(entry.name for entry in found.collections)

    def move(self, alias: str, *, expected: str, to: str) -> None:
        """Point an alias at another collection. Concurrent readers see one or the other, never none.

        Raises:
            SystemFailure: It points elsewhere, before or afterwards, or Qdrant refuses.
        """
        from qdrant_client import models

        self._must_point(alias, expected, "it was changed while the candidate was validated")
        leave = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
        take = models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name=to, alias_name=alias))
        try:
            # Qdrant does both atomically.
            self._ask(alias, lambda: self._client.update_collection_aliases([leave, take]), tries=1)
        except SystemFailure:
            # A lost response is not a failure.
            if self.target(alias) != to:
                raise
        self._must_point(alias, to, "it was changed again at the same moment")

    def _must_point(self, alias: str, collection: str, otherwise: str) -> None:
        found = self.target(alias)
        if found != collection:
            raise SystemFailure(
                f"the alias {alias} points to {found or 'nothing'} and not to {collection}: {otherwise}",
                code=INDEX_UNREACHABLE.code,
                system="Qdrant",
                subject=alias,
                remedy="Find out what else moves it, then start the job again.",
            )

    def _ask(self, subject: str, call: Callable[[], T], *, tries: int) -> T:
        from ragval_pipeline.sources.stores.qdrant.asking import Asking
        from ragval_pipeline.suite.sections import RetrySettings

        policy = RetrySettings(max=tries - 1, delay_s=0.5, deadline_s=60)
        return Asking(self._client, collection=subject, place=self._place, policy=policy)(call)
