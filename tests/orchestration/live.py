"""``dagster dev`` with both code locations in a folder of its own, asked through its GraphQL API."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

ROOT = Path(__file__).parents[2]
REPOSITORY = "__repository__"
_LOCATIONS = "{ workspaceOrError { ... on Workspace { locationEntries { name loadStatus } } } }"
_RUNS = """{ runsOrError(limit: 300) { ... on Runs { results {
    runId jobName status creationTime startTime endTime tags { key value } } } } }"""


class Live:
    """A running ``dagster dev``.

    Args:
        port: Of its webserver.
        folder: Its working directory.
        log: What it writes.
        process_id: Of the process that all others come from.
    """

    def __init__(self, port: int, folder: Path, log: Path, process_id: int) -> None:
        self.process_id = process_id
        self.url = f"http://127.0.0.1:{port}"
        self.folder = folder
        self.log = log

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """The ``data`` of a GraphQL answer."""
        answer = self.post("/graphql", {"query": query, "variables": variables})
        assert "errors" not in answer, answer["errors"]
        return dict(answer["data"])

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            return dict(json.load(response))

    def locations(self) -> dict[str, str]:
        entries = self.ask(_LOCATIONS)["workspaceOrError"]["locationEntries"]
        return {entry["name"]: entry["loadStatus"] for entry in entries}

    def runs(self, job: str | None = None) -> list[dict[str, Any]]:
        """Runs of a job, or all, the latest first; ``tags`` as a mapping."""
        runs = self.ask(_RUNS)["runsOrError"]["results"]
        for run in runs:
            run["tags"] = {tag["key"]: tag["value"] for tag in run["tags"]}
        return [run for run in runs if job is None or run["jobName"] == job]

    def materialise(self, location: str, *path: str) -> str:
        """What the button in the UI does; the id of the run."""
        selector = {
            "repositoryName": REPOSITORY, "repositoryLocationName": location, "pipelineName": "__ASSET_JOB",
            "assetSelection": [{"path": list(path)}], "assetCheckSelection": [],
        }  # fmt: skip
        launched = self.ask(
            """mutation ($params: ExecutionParams!) { launchPipelineExecution(executionParams: $params) {
               __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }""",
            params={"selector": selector, "runConfigData": {}, "mode": "default"},
        )["launchPipelineExecution"]
        assert launched["__typename"] == "LaunchRunSuccess", launched
        return str(launched["run"]["runId"])

    def launch(self, location: str, job: str) -> str:
        """What starting a job in the UI does; the id of the run."""
        selector = {"repositoryName": REPOSITORY, "repositoryLocationName": location, "jobName": job}
        launched = self.ask(
            """mutation ($params: ExecutionParams!) { launchRun(executionParams: $params) {
               __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }""",
            params={"selector": selector, "runConfigData": {}},
        )["launchRun"]
        assert launched["__typename"] == "LaunchRunSuccess", launched
        return str(launched["run"]["runId"])

    def start_sensor(self, location: str, name: str) -> None:
        selector = {"repositoryName": REPOSITORY, "repositoryLocationName": location, "sensorName": name}
        started = self.ask(
            """mutation ($sensor: SensorSelector!) { startSensor(sensorSelector: $sensor) {
               __typename ... on Sensor { sensorState { status } } ... on PythonError { message } } }""",
            sensor=selector,
        )["startSensor"]
        assert started == {"__typename": "Sensor", "sensorState": {"status": "RUNNING"}}

    def until(self, question: Callable[[], T], *, within_s: float = 180) -> T:
        """Ask until the answer is truthy."""
        end = time.monotonic() + within_s
        while True:
            try:
                answer = question()
                if answer:
                    return answer
            except (urllib.error.URLError, ConnectionError):
                pass
            if time.monotonic() > end:
                raise AssertionError(f"not within {within_s} s; the log ends with\n{self.log.read_text()[-3000:]}")
            time.sleep(1)


@contextmanager
def dagster_dev(
    folder: Path,
    workspace: Path = ROOT / "workspace.yaml",
    settings: str = "",
    environ: Mapping[str, str] | None = None,
) -> Iterator[Live]:
    """``dagster dev`` in ``folder`` / work, with a home of its own.

    Args:
        folder: Of its own.
        workspace: The code locations.
        settings: Further lines of ``dagster.yaml``.
        environ: Further variables.
    """
    work, home, log = folder / "work", folder / "home", folder / "dagster.log"
    work.mkdir(parents=True)
    home.mkdir()
    shipped = (ROOT / "dagster.yaml").read_text(encoding="utf-8")
    (home / "dagster.yaml").write_text(f"{shipped}\n{settings}", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    hidden = ("RAGVAL_", "COHERE_", "QDRANT_", "DAGSTER_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    environment |= {"DAGSTER_HOME": str(home), "PYTHONPATH": str(ROOT), **(environ or {})}
    dagster = Path(sys.executable).with_name("dagster")
    command = [str(dagster), "dev", "-w", str(workspace), "-p", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=work, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    live = Live(port, work, log, process.pid)
    try:
        live.until(lambda: set(live.locations().values()) == {"LOADED"})
        yield live
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)  # where the caller ignores interruptions, so does its child
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
