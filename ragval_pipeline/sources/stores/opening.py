"""Opening the store that a suite names: a Qdrant collection, or a file of points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.stores.points_file import keeping_points, open_points
from ragval_pipeline.sources.stores.points_reader import PointsReader
from ragval_pipeline.sources.stores.qdrant.connect import keeping_clients, open_client, reader_of_settings

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.protocol import Reader
    from ragval_pipeline.suite.sections import QdrantSettings, RetrySettings


@contextmanager
def opened_store(settings: QdrantSettings, *, policy: RetrySettings) -> Iterator[Callable[..., Reader]]:
    """Makes readers of the settings' store, which is closed at the end; keywords replace settings of that name.

    Raises:
        SuiteError: The file of points is wrong.
        SystemFailure: Qdrant, or the store that holds the file, cannot be opened.
    """
    if settings.points is not None:
        points = open_points(settings.points)

        def of_file(**judged: Any) -> Reader:
            own = settings.model_copy(update=judged)
            return PointsReader(points, name=own.collection, vector_name=own.vector_name, equal=own.filter)

        yield of_file
        return
    with open_client(settings) as client:

        def of_client(**judged: Any) -> Reader:
            return reader_of_settings(client, settings.model_copy(update=judged), policy=policy)

        yield of_client


@contextmanager
def opened_reader(settings: QdrantSettings, *, policy: RetrySettings) -> Iterator[Reader]:
    """A reader of the settings' store, closed at the end.

    Raises:
        SuiteError, SystemFailure: As ``opened_store``.
    """
    with opened_store(settings, policy=policy) as reader_of:
        yield reader_of()


@contextmanager
def keeping_stores() -> Iterator[None]:
    """Collections and files that are opened meanwhile stay open until the end."""
    with ExitStack() as stack:
        stack.enter_context(keeping_clients())
        stack.enter_context(keeping_points())
        yield
