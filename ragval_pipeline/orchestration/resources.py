"""Resources of assets, opened when a step needs them and always closed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import Field

from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.sections import QdrantSettings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

    from ragval_pipeline.sources.embedders.base import Embedder


class QdrantConnection(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Address of Qdrant; None values come from the suite."""

    url: str | None = Field(None, description="Qdrant server; null: the suite's qdrant.url or qdrant.path")
    api_key: str | None = Field(None, description="Use dg.EnvVar; null: the suite's qdrant.api_key")

    @contextmanager
    def client_for(self, settings: QdrantSettings) -> Iterator[QdrantClient]:
        """An open client for the settings, overridden by this resource's own."""
        from pydantic import SecretStr

        from ragval_pipeline.sources.stores.qdrant.connect import open_client

        update: dict[str, Any] = {}
        if self.url is not None:
            update = {"url": self.url, "path": None}
        if self.api_key is not None:
            update["api_key"] = SecretStr(self.api_key)
        with open_client(settings.model_copy(update=update)) as client:
            yield client


class EmbedderConnection(dg.ConfigurableResource):  # type: ignore[type-arg]
    """How queries are embedded; None values come from the suite."""

    api_key: str | None = Field(None, description="Use dg.EnvVar; null: the suite's embedding.api_key")
    base_url: str | None = Field(None, description="Null: the suite's embedding.base_url")

    @contextmanager
    def embedder_for(self, suite: Suite) -> Iterator[Embedder]:
        """An open embedder for the suite."""
        from ragval_pipeline.sources.embedders.opening import open_suite_embedder

        embedder = open_suite_embedder(suite, base_url=self.base_url, api_key=self.api_key, keep=True)
        try:
            yield embedder
        except BaseException as error:
            if not isinstance(error, Exception):
                embedder.forget()
            raise
        finally:
            embedder.close()
