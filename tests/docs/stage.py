"""What a scenario of a page's code blocks works with: the blocks, a working directory, and the systems they talk to.

Only addresses change: what nobody serves here (``docs.example.com``, ``your-cluster``) is served by a site, a Qdrant
server and an embedding service of the test's own. Commands run in this process, without what precedes ``ragval``.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from tests.support.cohere_server import CohereStandIn, hashed_vector
from tests.support.http_host import serving
from tests.support.qdrant_server import QdrantStandIn

ROOT = Path(__file__).parents[2]
DOCS = sorted(file.relative_to(ROOT).as_posix() for file in (ROOT / "docs").rglob("*.md"))
PAGES = ("README.md", "CONTRIBUTING.md", *DOCS)
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
SITE, CLUSTER = "https://docs.example.com", "https://your-cluster:6333"
TEXTS = {
    "security/keys": "How do I rotate an API key? Open the settings, choose a key, rotate it, and revoke the old one.",
    "start/install": "Install the package with pip, then write a suite file that names your collection and your site.",
}


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and code of every block of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        (language, "".join(line.removeprefix(indent) for line in code.splitlines(keepends=True)))
        for indent, language, code in FENCE.findall(text)
    ]


BLOCKS = {f"{page}#{number}": code for page in PAGES for number, (_, code) in enumerate(blocks(page), 1)}
Scenario = Callable[["Stage", Sequence[str]], None]
SCENARIOS: dict[tuple[str, ...], Scenario] = {}


def of(page: str, *numbers: int) -> Callable[[Scenario], Scenario]:
    """The blocks that a scenario is given and runs."""

    def register(scenario: Scenario) -> Scenario:
        SCENARIOS[tuple(f"{page}#{number}" for number in numbers)] = scenario
        return scenario

    return register


class Stage:
    """A working directory, and the systems that the blocks talk to."""

    def __init__(
        self, folder: Path, key: str | None, stack: ExitStack, environment: pytest.MonkeyPatch, *, built: Path
    ) -> None:
        self.folder, self.key, self.environment, self._stack, self._built = folder, key, environment, stack, built
        self.qdrant: QdrantStandIn | None = None

    def demo(self) -> Path:
        """Go to a copy of the demo."""
        home = shutil.copytree(self._built, self.folder / "demo")
        self.environment.chdir(home)
        return home

    def serve_docs(self) -> Callable[[str], str]:
        """Start site, Qdrant and Cohere with the collection ``docs``; what puts their addresses into a block."""
        pages = {f"/docs/{path}": _page(text) for path, text in TEXTS.items()}
        listed = "".join(f"<url><loc>{{base}}{path}</loc></url>" for path in pages)
        site = self._stack.enter_context(serving({"/sitemap.xml": f"<urlset>{listed}</urlset>", **pages}))
        self.qdrant = self._stack.enter_context(QdrantStandIn())
        cohere = self._stack.enter_context(CohereStandIn())
        _ingest(self.qdrant.url, site.url)
        self.environment.setenv("QDRANT_URL", self.qdrant.url)
        self.environment.setenv("CO_API_URL", cohere.url)
        addresses = {SITE: site.url, CLUSTER: self.qdrant.url}
        return lambda code: re.sub("|".join(map(re.escape, addresses)), lambda match: addresses[match[0]], code)

    def write(self, name: str, code: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(code, encoding="utf-8")

    def write_suite(self, name: str = "ragval.yaml", suite: str = "docs", more: str = "") -> None:
        """A suite whose collection nobody asks."""
        qdrant = 'qdrant: {url: "http://127.0.0.1:9", collection: docs_next}'
        self.write(name, f"suite: {suite}\n{qdrant}\nqueries: [What is it?]\n{more}")

    def python(self, code: str, **names: Any) -> dict[str, Any]:
        """Run a block; what it defined."""
        exec(compile(code, "block", "exec"), names)
        return names

    def shell(self, code: str, cwd: Path | None = None, **variables: str) -> str:
        done = subprocess.run(
            ["bash", "-euc", code], cwd=cwd or self.folder, env={**os.environ, **variables}, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


def commands(code: str) -> list[list[str]]:
    """The ``ragval`` commands of a block, without the program's name."""
    words = [shlex.split(line, comments=True) for line in code.splitlines()]
    return [line[1:] for line in words if line and line[0].rpartition("/")[2] == "ragval"]


def _page(text: str) -> str:
    return f"<html><title>{text[:24]}</title><body><article><p>{text}</p></article></body></html>"


def _ingest(qdrant: str, site: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        client = QdrantClient(url=qdrant, check_compatibility=False)
    space = models.VectorParams(size=1024, distance=models.Distance.COSINE)
    client.create_collection("docs", vectors_config=space)
    points = [
        models.PointStruct(id=number, vector=hashed_vector(text), payload={
            "content": text, "url": f"{site}/docs/{path}", "title": text[:24], "chunk_index": 0})
        for number, (path, text) in enumerate(TEXTS.items(), 1)
    ]  # fmt: skip
    client.upsert("docs", points, wait=True)
    client.close()
