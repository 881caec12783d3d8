"""Worlds of an index that a framework writes, embedded or behind a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.interop.environments import python_of
from tests.interop.world import World, Writers, embedder
from tests.support.http_host import serving
from tests.support.qdrant_server import QdrantStandIn


@pytest.fixture(scope="session")
def embedder_url() -> Iterator[str]:
    with embedder() as url:
        yield url


@pytest.fixture(scope="session")
def writers() -> Iterator[Writers]:
    with closing(Writers()) as running:
        yield running


@pytest.fixture
def make_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder_url: str, writers: Writers
) -> Iterator[Callable[[str], World]]:
    """Where the collection is, ``path`` or ``url``, to a world in a folder of its own."""
    with ExitStack() as stack:

        def make(place: str) -> World:
            site = stack.enter_context(serving({}))
            server = stack.enter_context(QdrantStandIn()) if place == "url" else None
            monkeypatch.chdir(tmp_path)
            return World(tmp_path, site, embedder_url, server, writers)

        yield make


@pytest.fixture
def interpreter() -> Callable[[str], Path]:
    """The interpreter of an environment; the test fails if it cannot be made."""

    def of(name: str) -> Path:
        try:
            return python_of(name)
        except RuntimeError as error:
            pytest.fail(
                f"tests marked interop need packages of {name}.txt, and a package index: {error}", pytrace=False
            )

    return of
