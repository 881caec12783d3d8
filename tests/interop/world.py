"""A small site that changes, an index that a framework writes, and ragval as its owner runs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from ragval_pipeline.cli import main
from ragval_pipeline.demo.site import (
    BASE_URL,
    SourcePage,
    frame_page,
    load_pages,
    package_file,
    render_markdown,
    sitemap_xml,
)
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from tests.support.http_host import Route, Site
from tests.support.qdrant_server import QdrantStandIn

WRITERS = Path(__file__).parent / "writers"


@contextmanager
def embedder() -> Iterator[str]:
    """The static vectors behind HTTP: texts as a JSON list, vectors back."""
    model = StaticEmbedder()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            vectors = model.embed(texts, input_type="search_document").vectors.tolist() if texts else []
            body = json.dumps(vectors).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class Writers:
    """The writers' scripts, started once for each environment and framework: importing a framework takes seconds."""

    def __init__(self) -> None:
        self._running: dict[tuple[Path, str], subprocess.Popen[str]] = {}

    def write(self, python: Path, framework: str, job: dict[str, Any]) -> None:
        """Let a framework do one job; the test fails with the framework's traceback."""
        if (python, framework) not in self._running:
            self._running[python, framework] = subprocess.Popen(
                [python, "-W", "ignore", WRITERS / f"of_{framework}.py"], env={**os.environ, "PYTHONPATH": ""},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        running = self._running[python, framework]
        assert running.stdin is not None
        assert running.stdout is not None
        print(json.dumps(job), file=running.stdin, flush=True)
        answer = running.stdout.readline()
        assert answer, f"the script of {framework} ended"
        assert json.loads(answer) == "", json.loads(answer)

    def close(self) -> None:
        for running in self._running.values():
            running.communicate()


def routes_of(pages: Sequence[SourcePage]) -> dict[str, Route]:
    """A site's pages, their Markdown at ``PAGE.md``, and its sitemap; ``{base}`` becomes its address."""
    frame = package_file("theme", "page.html").read_text(encoding="utf-8")
    routes: dict[str, Route] = {}
    for page in pages:
        rendered = render_markdown(page.markdown)
        html = frame_page(frame, page, pages, content=rendered.html, headings=rendered.headings)
        routes[f"/docs/{page.path}"] = html.replace(BASE_URL, "{base}")
        routes[f"/docs/{page.path}.md"] = page.markdown
    routes["/sitemap.xml"] = sitemap_xml((page.url, page.lastmod.isoformat()) for page in pages).replace(
        BASE_URL, "{base}"
    )
    return routes


@dataclass
class World:
    """A site, an index, and a folder to run ragval in.

    Attributes:
        server: The server of the collection; None: it is embedded.
        writers: Let frameworks write.
        seconds: Duration of each command of ragval.
    """

    folder: Path
    site: Site
    embedder: str
    server: QdrantStandIn | None
    writers: Writers
    pages: list[SourcePage] = field(default_factory=load_pages)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.publish()

    def publish(self) -> None:
        """Serve the pages as they are now."""
        self.site.routes.clear()
        self.site.routes.update(routes_of(self.pages))

    def edit(self, name: str, old: str, new: str) -> None:
        """Change a text on a page, today."""
        [page] = [page for page in self.pages if page.path == name]
        assert old in page.markdown
        changed = replace(page, markdown=page.markdown.replace(old, new), lastmod=date.today())
        self.pages[self.pages.index(page)] = changed
        self.publish()

    def take_down(self, name: str) -> None:
        """Remove a page from the site and its sitemap."""
        self.pages = [page for page in self.pages if page.path != name]
        self.publish()

    @property
    def qdrant(self) -> dict[str, str]:
        return {"path": str(self.folder / "qdrant")} if self.server is None else {"url": self.server.url}

    def ingest(self, python: Path, framework: str, how: str, **more: Any) -> None:
        """Let a framework write its index, in a process and an environment of its own."""
        job = {
            "folder": str(self.folder),
            "site": self.site.url,
            "embedder": self.embedder,
            "qdrant": self.qdrant,
            "collection": "docs",
            "how": how,
        }
        self.writers.write(python, framework, job | more)

    def ragval(self, *words: str) -> int:
        """One command; its exit code."""
        started = time.monotonic()
        code = main(list(words))
        self.seconds.append(time.monotonic() - started)
        return code

    def first_verdict(self) -> dict[str, Any]:
        """``init`` and ``run`` without a line edited between; the report."""
        place = ["--qdrant-path", "qdrant"] if self.server is None else ["--qdrant-url", self.server.url]
        code = self.ragval("init", *place, "--collection", "docs", "--source", f"{self.site.url}/sitemap.xml")
        assert code == 0, code
        return self.run()

    def run(self) -> dict[str, Any]:
        self.ragval("run")
        return self.report()

    def report(self) -> dict[str, Any]:
        """The report of the last run."""
        reports = [
            json.loads(file.read_text(encoding="utf-8"))
            for file in self.folder.glob("*reports/*/2*/validation_report.json")
        ]
        return max(reports, key=lambda report: report["timestamp"])

    def address(self, name: str) -> str:
        """The address of a page."""
        return f"{self.site.url}/docs/{name}"

    def pages_of(self, point_ids: Sequence[str]) -> list[str]:
        """The addresses of pages in the payloads of points."""
        from qdrant_client import QdrantClient

        with closing(QdrantClient(**self.qdrant)) as client:
            payloads = [point.payload for point in client.retrieve("docs", point_ids)]
        addresses = re.compile(rf"{re.escape(self.site.url)}/docs/[\w/-]+")
        return sorted({address for payload in payloads for address in addresses.findall(json.dumps(payload))})
