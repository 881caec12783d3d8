from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from ragval_pipeline.demo.workspace import DemoHome


def read_points(home: DemoHome) -> list[Any]:
    """Every point of the demo's index with payload and vector."""
    from qdrant_client import QdrantClient

    with closing(QdrantClient(path=str(home.qdrant))) as client:
        return client.scroll(home.collection, limit=10_000, with_vectors=True)[0]


@pytest.fixture(scope="session")
def points(demo: DemoHome) -> list[Any]:
    return read_points(demo)
