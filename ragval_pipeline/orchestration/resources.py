"""Resources of assets, opened when a step needs them and always closed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import Field

from ragval_pipeline.suite.gates import criteria_of, gates_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.sections import QdrantSettings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

    from ragval_pipeline.sources.embedders.base import Embedder
    from ragval_pipeline.sources.stores.qdrant.protocol import Reader


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


@contextmanager
def open_reader(resource: Any, suite: Suite) -> Iterator[Reader]:
    """A reader of the suite's collection.

    ``resource`` is a ``QdrantConnection``, anything with ``reader_for(suite)``, or anything with ``get_client()``. A
    suite with ``points`` reads its file, whatever Qdrant the resource connects to.
    """
    from ragval_pipeline.sources.stores.opening import opened_reader
    from ragval_pipeline.sources.stores.qdrant.connect import place_of, reader_of_settings

    if hasattr(resource, "reader_for"):
        with resource.reader_for(suite) as reader:
            yield reader
        return
    if suite.points is not None:
        with opened_reader(suite.qdrant, policy=suite.retry) as reader:
            yield reader
        return
    settings = _addressed(suite.qdrant, resource)
    if hasattr(resource, "client_for"):
        opened = resource.client_for(suite.qdrant)
    else:
        opened = closing_client(resource, place_of(settings))
    with opened as client:
        yield reader_of_settings(client, settings, policy=suite.retry)


def _addressed(settings: QdrantSettings, resource: Any) -> QdrantSettings:
    """The settings with the resource's own address, if it has one, for messages to name the server that failed."""
    own = {name: value for name in ("url", "path") if (value := getattr(resource, name, None))}
    if not own or not all(isinstance(value, str) for value in own.values()):
        return settings
    path = Path(own["path"]) if "path" in own else None
    return settings.model_copy(update={"url": own.get("url"), "path": path})


@contextmanager
def closing_client(resource: Any, place: str) -> Iterator[QdrantClient]:
    """The client of another resource, closed even if the step fails; some resources close it only on success.

    Its ``get_client()`` returns a client or a context manager of one.

    Raises:
        SystemFailure: ``index.unreachable``: no client can be opened.
    """
    from ragval_pipeline.sources.stores.qdrant.asking import failure_of, is_defect

    with ExitStack() as stack:
        try:
            given = resource.get_client()
            client = stack.enter_context(given) if hasattr(given, "__enter__") else given
        except Exception as error:
            if is_defect(error):
                raise
            raise failure_of(error, place=place, tries=1) from error
        stack.callback(client.close)
        yield client


def limit_of(suite: Suite, name: str) -> float:
    """The gate of the criterion, or its default if the suite removed the gate."""
    gate = gates_of(suite)[name].threshold
    usual = next(criterion.threshold for criterion in criteria_of(suite) if criterion.name == name)
    limit = usual if gate is None else gate
    assert limit is not None
    return limit
