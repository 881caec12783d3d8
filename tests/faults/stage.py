"""One run of the command line over a copy of the demo in which something is wrong, and what was seen of it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq
import yaml
from qdrant_client import QdrantClient

from ragval_pipeline.cli import main
from ragval_pipeline.testing.services import Service, resources_of
from tests.support.cohere_server import CohereStandIn
from tests.support.http_host import Answer, Route, Site, serving
from tests.support.qdrant_server import QdrantStandIn

NAME = "physical_ai_book"
#: Keys that stages write into their suites: no text, report or evidence may hold one.
SECRETS = (b"a-key-of-cohere", b"canary-of-qdrant", b"the-right-key", b"a-wrong-key", b"token-expired-1")
#: What every folder of a run holds, however the run ended.
FILES = {"validation_report.json", "report.html", "junit.xml", "summary.md", "findings.parquet", "remediation.json"}
#: Of criteria that have a value, and of those that nobody asked for.
UNTOLD = {None, "not_selected", "not_applicable"}
#: What runs leave on purpose: reports, locks, and whole files of the caches. Python keeps bytecode.
KEPT = re.compile(r"reports/[^/]+/2|.*\.(?:lock|pyc)$|reports/[^/]+/\.cache/(pages|embeddings/\w+/[\w-]+)\.parquet$")
HTML = {"Content-Type": "text/html; charset=utf-8"}


@dataclass
class Stage:
    """A suite of its own and the systems behind it, for one fault.

    Attributes:
        folder: Copy of the demo.
        stack: Closes what was started.
        services: Wrappers of reader and embedder.
        at_step: Called with the name of each step that begins.
    """

    folder: Path
    stack: contextlib.ExitStack
    services: list[Service] = field(default_factory=list)
    at_step: Callable[[str], None] | None = None

    def told(self, step: str, done: int, total: int | None) -> None:
        """Hear of the progress of a run."""
        if self.at_step is not None:
            self.at_step(step)

    @property
    def suite(self) -> Path:
        return self.folder / "ragval.yaml"

    def edit(self, **sections: Any) -> None:
        """Change keys of the suite: mappings are merged, None removes a key of a section, else it replaces."""
        content = yaml.safe_load(self.suite.read_text(encoding="utf-8"))
        for name, change in sections.items():
            both = isinstance(change, dict) and isinstance(content.get(name), dict)
            merged = {**content[name], **change} if both else change
            content[name] = {k: v for k, v in merged.items() if v is not None} if both else merged
        self.suite.write_text(yaml.safe_dump(content), encoding="utf-8")

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file of the stage's folder."""
        (self.folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    def qdrant(self, *, create: dict[str, Any] | None = None, **arguments: Any) -> QdrantStandIn:
        """Put the demo's points behind a server; arguments as of ``QdrantStandIn``."""
        server = self.stack.enter_context(QdrantStandIn(**arguments))
        body = {"vectors": {"size": 256, "distance": "Cosine"}, "strict_mode_config": None, **(create or {})}
        server.engine.create(body, NAME)
        server.engine.upsert({"points": _points()}, NAME)
        self.edit(qdrant={"path": None, "url": server.url, "timeout_s": 15})
        return server

    def change(self, act: Callable[[QdrantClient], Any]) -> None:
        """Change the embedded collection."""
        with contextlib.closing(QdrantClient(path=str(self.folder / "qdrant"))) as client:
            act(client)

    def site(self, routes: dict[str, Route] | None = None) -> Site:
        """Serve the demo's site, with ``routes`` in the place of what it would answer."""
        text = (self.folder / "site" / "sitemap.xml").read_text(encoding="utf-8")
        own = re.search(r"<loc>(https?://[^/<]+)", text)
        assert own is not None
        served: dict[str, Route] = {"/sitemap.xml": text.replace(own[1], "{base}")}
        for file in (self.folder / "site").rglob("index.html"):
            path = "/" + file.parent.relative_to(self.folder / "site").as_posix()
            served[path] = served[f"{path}/"] = Answer(file.read_bytes(), headers=HTML)
        site = self.stack.enter_context(serving({**served, **(routes or {})}))
        host = own[1].partition("://")[2]
        source = {"sitemap": f"{site.url}/sitemap.xml", "site_root": None, "host_aliases": [host], "timeout_s": 15}
        self.edit(source=source)
        return site

    def cohere(self, **arguments: Any) -> CohereStandIn:
        """Embed through a Cohere of one's own."""
        server = self.stack.enter_context(CohereStandIn(dimension=256, **arguments))
        place = {"base_url": server.url, "api_key": "a-key-of-cohere", "dimension": 256, "model": "their-model"}
        self.edit(embedding={"provider": "cohere", **place})
        return server


@dataclass(frozen=True)
class Seen:
    """What was seen of one run.

    Attributes:
        code: Exit code.
        verdict: Of the report; None without one.
        told: What a person reads: the message, and the findings with cause, remedy and the details of each subject.
        seconds: CPU seconds.
        mib: What the run added to the peak of memory.
        left: Files that are there and were not, but for those that runs leave on purpose.
        met: Criteria of the report that are met.
    """

    code: int
    verdict: str | None
    told: str
    seconds: float
    mib: float
    left: tuple[str, ...]
    met: frozenset[str]


@contextlib.contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    """A fresh copy of the demo below ``folder``; tries nothing again unless a fault asks for it."""
    with contextlib.ExitStack() as stack:
        copy = folder / "demo"
        shutil.copytree(_built(), copy)
        stage = Stage(copy, stack)
        stage.edit(retry={"max": 0, "delay_s": 0.01})
        yield stage


def run(stage: Stage, *, only: str, arguments: tuple[str, ...] = ()) -> Seen:
    """Run the stage's suite in this process."""
    before, earlier = _files(stage.folder), _reports(stage.folder)
    peak, started = _peak(anew=True), time.process_time()
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(sys, "stdout", out))
        stack.enter_context(mock.patch.object(sys, "stderr", err))
        stack.enter_context(mock.patch.dict(os.environ, {"COLUMNS": "200", "DAGSTER_HOME": "", "LOG_LEVEL": "INFO"}))
        if stage.services:
            from ragval_pipeline.orchestration import run as running

            whole, resources = running.run_suite, resources_of(stage.services)
            stack.enter_context(
                mock.patch.object(
                    running, "run_suite", lambda *a, **given: whole(*a, **{**given, "resources": resources})
                )
            )
        if stage.at_step is not None:
            stack.enter_context(mock.patch("ragval_pipeline.cli.progress._Lines.__call__", stage.told))
        code = main(["run", "-s", str(stage.suite), "--only", only, *arguments])
    seconds, grown = time.process_time() - started, _peak() - peak
    texts: list[Any] = [stream.buffer.getvalue().decode() for stream in (err, out)]  # type: ignore[attr-defined]
    assert "Traceback" not in "".join(texts), texts
    assert code in {0, 1} or len(re.findall("^ragval: ", texts[0], re.MULTILINE)) == 1, "one line says why"
    assert code not in {2, 130} or texts[1] == "", "what is refused or interrupted prints no result"
    report: dict[str, Any] = {}
    subjects: list[str] = []
    for file in _reports(stage.folder) - earlier:
        report = json.loads(file.read_bytes())
        assert {path.name for path in file.parent.iterdir()} >= FILES
        texts += [path.read_bytes() for path in file.parent.rglob("*") if path.is_file()]
        subjects = pq.read_table(file.with_name("findings.parquet"))["details"].to_pylist()
    findings = [f"{f['code']}: {f['message']} {f['cause']} {f['remedy']}" for f in report.get("findings", ())]
    reasons = [f"{c['name']}: {c['reason']}" for c in report.get("criteria", ()) if c["reason_code"] not in UNTOLD]
    shown = b"".join(text.encode() if isinstance(text, str) else text for text in texts)
    assert not [secret for secret in SECRETS if secret in shown]
    left = tuple(sorted(_files(stage.folder) - before))
    met = frozenset(c["name"] for c in report.get("criteria", ()) if c["verdict"] == "met")
    told = "\n".join([texts[0], *findings, *subjects, *reasons])
    return Seen(code, report.get("verdict"), told, seconds, grown, left, met)


@cache
def _built() -> Path:
    import tempfile

    from ragval_pipeline.demo.workspace import build_demo

    folder = Path(tempfile.mkdtemp(prefix="ragval-faults-")) / "demo"
    build_demo(folder)
    return folder


@cache
def _points() -> list[dict[str, Any]]:
    with contextlib.closing(QdrantClient(path=str(_built() / "qdrant"))) as client:
        points, _ = client.scroll(NAME, limit=1000, with_vectors=True)
    return [{"id": point.id, "vector": point.vector, "payload": point.payload} for point in points]


def _reports(folder: Path) -> set[Path]:
    return set((folder / "reports").glob("*/2*/validation_report.json"))


def _files(folder: Path) -> set[str]:
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name for name in names if not KEPT.match(name)}


def _peak(*, anew: bool = False) -> float:
    """The peak of resident memory in MiB, where Linux can forget an earlier one ``anew``."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if anew:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return int(re.findall(r"VmHWM:\s+(\d+)", status.read_text(encoding="ascii"))[0]) / 1024
