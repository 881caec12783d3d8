"""A first look at a collection and its sitemap, for ``doctor`` and ``init``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragval_pipeline.rules.index.collection_missing import RULE as COLLECTION_MISSING
from ragval_pipeline.suite.sections import RetrySettings
from ragval_pipeline.validation.first_look.points import Look

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.protocol import Point, Reader
    from ragval_pipeline.suite.sections import QdrantSettings

#: The user is waiting: a single retry.
PATIENCE = RetrySettings(max=1, delay_s=0.5, deadline_s=60)


@contextmanager
def opened_reader(settings: QdrantSettings) -> Iterator[Reader]:
    """A reader of the settings' collection, closed at the end.

    Raises:
        SuiteError, SystemFailure: As ``opening.opened_reader``.
    """
    from ragval_pipeline.sources.stores import opening

    with opening.opened_reader(settings, policy=PATIENCE) as reader:
        yield reader


def look_at(reader: Reader, *, points: int = 1) -> Look:
    """Facts and first points of a collection.

    Args:
        reader: Reads it.
        points: Minimum number to read, if available; read in pages of some hundreds.

    Raises:
        SystemFailure: Qdrant does not answer, or the collection does not exist.
    """
    read: list[Point] = []
    for page in reader.pages(None):
        read += page
        if len(read) >= points:
            break
    return Look(reader.facts(), read)


def collections_of(settings: QdrantSettings) -> list[str]:
    """Names of all collections, sorted.

    Raises:
        SystemFailure: Qdrant does not answer, or has none.
    """
    from ragval_pipeline.errors import SystemFailure
    from ragval_pipeline.sources.stores.qdrant.asking import Asking
    from ragval_pipeline.sources.stores.qdrant.connect import open_client, place_of

    place = place_of(settings)
    with open_client(settings) as client:
        ask = Asking(client, collection=settings.collection, place=place, policy=PATIENCE)
        names = sorted(entry.name for entry in ask(client.get_collections).collections)
    if not names:
        raise SystemFailure(
            f"{place} has no collections",
            code=COLLECTION_MISSING.code,
            system="Qdrant",
            subject=place,
            remedy="Run the ingestion first.",
        )
    return names
