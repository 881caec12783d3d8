"""What holds for every test: marked tests have the tools that they need, or fail saying what to install."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.support.tools import MISSING, no_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragval_pipeline.demo.workspace import DemoHome


# A machine that does other things besides is no fault of what is tested.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    markers = {marker.name for marker in item.iter_markers()}
    if "server" in markers and no_server():
        pytest.skip("QDRANT_URL names no Qdrant server")
    for name in sorted(markers & MISSING.keys()):
        missing = MISSING[name]()
        if missing:
            pytest.fail(f"tests marked {name} need {missing}", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how often each fuzzed target was run."""
    for report in terminalreporter.getreports("passed"):
        counts = [value for name, value in report.user_properties if name == "executions"]
        for count in counts:
            terminalreporter.write_line(f"{count} executions: {report.nodeid}")


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """The command line sets the level of the package, for the process: other tests look at what is logged."""
    yield
    logger = logging.getLogger("ragval_pipeline")
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoHome:
    """The demo, built once for all tests that copy it or only look."""
    from ragval_pipeline.demo.workspace import build_demo

    return build_demo(tmp_path_factory.mktemp("work") / ".ragval" / "demo")
