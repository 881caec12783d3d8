"""What holds for every test: marked tests have the tools that they need, or fail saying what to install."""

from __future__ import annotations

import os

# Before numpy is imported: the products of tests are small, and threads beside each other's would only wait, busily.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import logging
import sqlite3
from contextlib import nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings

from tests.support.browser import chromium
from tests.support.tools import MISSING, no_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from alembic.config import Config
    from playwright.sync_api import Browser

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


@pytest.fixture(scope="session", autouse=True)
def _migrations_are_read_once() -> Iterator[None]:
    """Each of Dagster's forgotten instances reads the scripts of its schema's history twice, a fifth of a small run."""
    from alembic.script import ScriptDirectory

    read: dict[str | None, ScriptDirectory] = {}
    from_config = ScriptDirectory.from_config

    def read_once(config: Config) -> ScriptDirectory:
        place = config.config_file_name
        if place not in read:
            read[place] = from_config(config)
        return read[place]

    with mock.patch.object(ScriptDirectory, "from_config", read_once):
        yield


@pytest.fixture(scope="session", autouse=True)
def _clients_share_what_each_reads_for_itself() -> Iterator[None]:
    """Each client of Qdrant copies the schemas of its models, each of HTTP reads the certificates of the world.

    A small run opens eight: a fifth of what it does.
    """
    from httpx._transports import default
    from qdrant_client.embed import type_inspector

    read, held = default.create_ssl_context, {}

    def read_once(**asked: Any) -> Any:
        key = (*asked.items(), *map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR")))
        if key not in held:
            held[key] = read(**asked)
        return held[key]

    with (
        mock.patch.object(type_inspector, "ModelSchemaParser", cache(type_inspector.ModelSchemaParser)),
        mock.patch.object(default, "create_ssl_context", read_once),
    ):
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_commit_waits_for_the_disk() -> Iterator[None]:
    """Dagster on disk commits each event, embedded Qdrant each batch. No test cuts the power: waiting is half a run."""
    connect = sqlite3.connect

    def connected(*place: Any, **how: Any) -> sqlite3.Connection:
        connection = connect(*place, **how)
        connection.execute("PRAGMA synchronous=OFF")
        return connection

    with mock.patch("sqlite3.connect", connected), mock.patch("sqlite3.dbapi2.connect", connected):
        yield


@pytest.fixture
def without_gx(monkeypatch: pytest.MonkeyPatch) -> None:
    """Great Expectations judges the same points a second time, as evidence: without it, a run takes a quarter less."""
    room = "ragval_pipeline.measuring.expectations"
    monkeypatch.setattr(f"{room}.run_expectations", lambda *arguments, **settings: {})
    monkeypatch.setattr(f"{room}.loading_expectations", nullcontext)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoHome:
    """The demo, built once for all tests that copy it or only look."""
    from ragval_pipeline.demo.workspace import build_demo

    return build_demo(tmp_path_factory.mktemp("work") / ".ragval" / "demo")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started
