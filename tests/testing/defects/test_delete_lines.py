"""The lines that a report offers for deleting points, run against the planted index."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient
from selectolax.lexbor import LexborHTMLParser

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.testing.defects import Corpus, defects, find_defect

DELETING = [
    entry.name for entry in defects().values()
    if CATALOGUE[entry.code].action == "delete" and (entry.variant is None or entry.code == "chunk.ingested_twice")
]  # fmt: skip


@pytest.mark.parametrize("name", [*DELETING, "chunk.ingested_twice:dated"])
def test_lines_to_copy_delete_the_points_that_the_remediation_names_and_no_other(
    name: str, corpus: Corpus, validate: Callable[[Corpus], Any], without_gx: None, monkeypatch: pytest.MonkeyPatch
):
    code, _, variant = name.partition(":")
    before = {str(point.id) for point in corpus.points}
    find_defect(code if variant == "dated" else name).plant_in(corpus)
    pages = {str(point.id): corpus.get(point, "source_url") for point in corpus.points}
    added = [point for point in corpus.points if str(point.id) not in before]
    for point in added if variant == "dated" else ():
        corpus.put(point, "embedded_at", "2031-01-01T00:00:00Z")
    run = validate(corpus)
    monkeypatch.chdir(run.folder)
    remedies = json.loads(Path("remediation.json").read_bytes())
    reingested = {entry["url"] for entry in remedies["reingest_urls"] if code in entry["codes"]}
    scripts = [text for node in LexborHTMLParser(Path("report.html").read_text("utf-8")).css("pre code")
               if "client.delete" in (text := node.text())]  # fmt: skip
    for script in dict.fromkeys(scripts):
        assert str(corpus.folder) in script, "the lines hold wherever they are run"
        space: dict[str, Any] = {}
        exec(script, space)
        space["client"].close()
    client = QdrantClient(path=str(corpus.folder / corpus.settings["qdrant"]["path"]))
    left = {str(point.id) for point in client.scroll(corpus.collection, limit=10_000)[0]}
    client.close()
    named = {entry["id"] for entry in remedies["delete_point_ids"] if code in entry["codes"]}
    unclear = {entry["id"] for entry in remedies["review_point_ids"] if code in entry["codes"]}
    gone = set(pages) - left
    assert named <= gone or code == "coverage.url_variant"
    assert gone <= named | unclear
    assert {pages[name] for name in gone - named} <= reingested
    emptied = set(pages.values()) - {pages[name] for name in left}
    assert emptied <= reingested | {entry["url"] for entry in remedies["delete_pages"]}
