"""What holds for every test: marked tests have the tools that they need, or fail saying what to install."""

from __future__ import annotations

import pytest

from tests.support.tools import MISSING, no_server


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    markers = {marker.name for marker in item.iter_markers()}
    if "server" in markers and no_server():
        pytest.skip("QDRANT_URL names no Qdrant server")
    for name in sorted(markers & MISSING.keys()):
        missing = MISSING[name]()
        if missing:
            pytest.fail(f"tests marked {name} need {missing}", pytrace=False)
