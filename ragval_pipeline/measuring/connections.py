"""Opening the collection through whatever a user gives for it, and always closing it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.suite.gates import criteria_of, gates_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.sections import QdrantSettings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

    from ragval_pipeline.sources.stores.qdrant.protocol import Reader


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
