"""The same tests on qdrant-client's local mode, on Qdrant's engine over HTTP, and on a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.collections import Qdrant, open_qdrant


@pytest.fixture(params=["local", "edge", pytest.param("server", marks=pytest.mark.server)])
def qdrant(request: pytest.FixtureRequest) -> Iterator[Qdrant]:
    with open_qdrant(request.param) as opened:
        yield opened
