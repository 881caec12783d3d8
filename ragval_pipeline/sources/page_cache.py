"""Answers of web servers kept on disk for the length of a run, so that no page is asked for twice.

What lives here: the files, whole or not at all. What does not: when to fetch (``page_reader``).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from ragval_pipeline.sources.http import Fetched


class PageCache:
    """One ``.body`` and one ``.json`` file per address, named by the SHA-256 of the address.

    Args:
        folder: Made when the first answer is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, url: str) -> Fetched | None:
        """Return the answer kept for an address, or None."""
        name = self._name(url)
        try:
            facts = json.loads(name.with_suffix(".json").read_text("utf-8"))
            body = name.with_suffix(".body").read_bytes()
            return Fetched(**{**facts, "redirects": tuple(facts["redirects"]), "body": body})
        except (OSError, ValueError, TypeError, KeyError):  # not there, or not of this program
            return None

    def put(self, url: str, answer: Fetched) -> None:
        """Keep an answer; the ``.json`` comes last, so that a torn write is no entry."""
        self._folder.mkdir(parents=True, exist_ok=True)
        facts = asdict(answer)
        del facts["body"]
        name = self._name(url)
        _write(name.with_suffix(".body"), answer.body)
        _write(name.with_suffix(".json"), json.dumps(facts).encode())

    def _name(self, url: str) -> Path:
        return self._folder / sha256(url.encode("utf-8", "surrogatepass")).hexdigest()


def _write(path: Path, content: bytes) -> None:
    draft = path.with_name(f"{path.name}.{uuid4().hex}")
    draft.write_bytes(content)
    draft.replace(path)
