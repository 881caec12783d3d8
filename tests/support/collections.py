"""Collections to read: in local mode, in the stand-in server, and in a real server when QDRANT_URL names one."""

from __future__ import annotations

import contextlib
import os
import uuid
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from qdrant_client import QdrantClient, models

from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.suite.sections import RetrySettings
from tests.support.qdrant_server import QdrantStandIn

QUICK = RetrySettings(max=1, delay_s=0.01, deadline_s=20)


@dataclass
class Qdrant:
    """One Qdrant with a collection of its own for the test."""

    kind: str
    client: QdrantClient
    name: str

    def create(self, points: Sequence[models.PointStruct] = (), **settings: Any) -> None:
        """Make the collection; two dimensions and Cosine unless ``vectors_config`` says otherwise."""
        vectors = settings.pop("vectors_config", models.VectorParams(size=2, distance=models.Distance.COSINE))
        self.client.create_collection(self.name, vectors_config=vectors, **settings)
        for start in range(0, len(points), 500):
            self.client.upsert(self.name, list(points[start : start + 500]), wait=True)

    def reader(self, **settings: Any) -> CollectionReader:
        """A reader of the collection."""
        settings = {"collection": self.name, "place": self.kind, "policy": QUICK, **settings}
        return CollectionReader(self.client, **settings)


@contextlib.contextmanager
def open_qdrant(kind: str) -> Iterator[Qdrant]:
    """A Qdrant of one kind: ``local``, ``edge`` (the stand-in) or ``server`` (QDRANT_URL)."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", UserWarning)
        if kind == "local":
            client = QdrantClient(":memory:")
        elif kind == "edge":
            server = stack.enter_context(QdrantStandIn())
            client = QdrantClient(url=server.url, check_compatibility=False, timeout=20)
        else:
            url, key = os.environ["QDRANT_URL"], os.environ.get("QDRANT_API_KEY")
            client = QdrantClient(url=url, api_key=key, check_compatibility=False, timeout=20)
        stack.callback(client.close)
        qdrant = Qdrant(kind, client, f"ragval-test-{uuid.uuid4()}")
        try:
            yield qdrant
        finally:
            client.delete_collection(qdrant.name)
