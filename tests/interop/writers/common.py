"""What the writers' scripts share: their job, the pages of the site, and the embedder of the tests behind HTTP.

The scripts run with the frameworks' own packages, in an environment of their own that has no ragval.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import urllib.request
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

warnings.simplefilter("ignore")

FOLDER = Path(__file__).parents[1]
LOC = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"


@dataclass(frozen=True)
class Job:
    """One ingestion.

    Attributes:
        site: Address of the site.
        embedder: Address of the embedder.
        qdrant: ``{"path": folder}`` or ``{"url": address}``.
        collection: Name of the collection.
        how: The framework's way of writing, by the name of the script's function.
        size: Maximum chunk size, in the framework's own unit: small or large.
        pages: Addresses of the pages to ingest; None: those of the sitemap.
    """

    site: str
    embedder: str
    qdrant: dict[str, str]
    collection: str
    how: str
    size: str = "small"
    pages: list[str] | None = None

    @cached_property
    def urls(self) -> list[str]:
        if self.pages is not None:
            return self.pages
        return [str(loc.text) for loc in ElementTree.fromstring(fetch(f"{self.site}/sitemap.xml")).iter(LOC)]

    def client(self):
        from qdrant_client import QdrantClient

        return QdrantClient(**self.qdrant)

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Vectors of the texts, of 256 dimensions."""
        return json.loads(fetch(self.embedder, json.dumps(list(texts)).encode()))


def fetch(url: str, body: bytes | None = None) -> bytes:
    with urllib.request.urlopen(url, body, timeout=60) as answer:
        return answer.read()


def article(html: bytes | str) -> tuple[str, str]:
    """Title and text of a page, as people read them with BeautifulSoup."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "lxml")
    return soup.title.get_text(), soup.find("div", "content").get_text("\n", strip=True)


def markdown(job: Job, url: str) -> str:
    """The Markdown that the site builds the page from."""
    return fetch(f"{url}.md").decode()


def main(ways: dict[str, object]) -> None:
    """Run the jobs on stdin, one a line, each in a process of its own that has imported the framework already.

    Each is answered by a line of JSON on stdout: an empty text, or why it failed.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in iter(sys.stdin.readline, ""):
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                given = json.loads(line)
                os.chdir(given.pop("folder"))
                job = Job(**given)
                ways[job.how](job)
            except BaseException:
                os.write(write, traceback.format_exc().encode())
            # Threads that the framework started when it was imported are not here to be joined.
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as told:
            failure = told.read()
        status = os.waitpid(child, 0)[1]
        print(json.dumps(failure or (f"it ended with status {status}" if status else "")), file=answers, flush=True)
