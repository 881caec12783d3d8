"""The reader of the collection that a suite names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragval_pipeline.sources.retry import RetryPolicy, policy_of
from ragval_pipeline.sources.stores.qdrant.connect import place_of
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.suite.sections import QdrantSettings


def reader_of_suite(client: QdrantClient, suite: Suite) -> CollectionReader:
    """Reads the suite's collection through ``client``: its vector, its filter, its retries."""
    return reader_of_settings(client, suite.qdrant, policy=policy_of(suite))


def reader_of_settings(client: QdrantClient, settings: QdrantSettings, *, policy: RetryPolicy) -> CollectionReader:
    """Reads the settings' collection through ``client``, its vector and its filter, as patiently as ``policy`` says."""
    return CollectionReader(
        client,
        collection=settings.collection,
        place=place_of(settings),
        vector_name=settings.vector_name,
        equal=settings.filter,
        policy=policy,
        concurrency=settings.concurrency,
        batch=settings.batch,
    )
