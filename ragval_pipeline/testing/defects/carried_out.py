"""Carrying out the plan of a run literally, in a corpus that the demo's ingestion made, and what that leaves."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.demo.ingest import embedded_points, payloads_of
from ragval_pipeline.lazy import pq
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.store import StoredPoint

if TYPE_CHECKING:
    from ragval_pipeline.validation.report import ValidationReport

#: Lists of remediation.json that promise something, and those that leave it to a person.
_PROMISED = ("reingest_urls", "delete_point_ids", "delete_pages", "delete_after_ingesting")
_OPEN = (
    "reingest_point_ids", "review_point_ids", "ingestion", "chunker", "settings", "queries", "site", "report", "rules",
)  # fmt: skip


@dataclass(frozen=True)
class CarriedOut:
    """What was done: points deleted at once, pages ingested, points deleted after that."""

    deleted: int
    ingested: int
    deleted_after: int


def carry_out(corpus: Corpus, folder: str | Path) -> CarriedOut:
    """Do in a corpus what ``remediation.json`` in a run's folder says, in its order.

    Listed points are deleted, and listed pages ingested as the demo does: ids are made from address and chunk number,
    so that a point with the same id is overwritten and every other one stays.
    """
    remedies = json.loads((Path(folder) / "remediation.json").read_bytes())
    deleted = _delete(corpus, remedies["delete_point_ids"])
    ingested = [url for entry in remedies["reingest_urls"] if (url := entry["url"]) in corpus.scope_urls]
    _ingest(corpus, ingested)
    left = _delete(corpus, remedies["delete_after_ingesting"])
    addresses = {entry["url"] for entry in remedies["delete_pages"] if "ingest_first" in entry}
    under = [point for point in corpus.points if addresses and corpus.get(point, "source_url") in addresses]
    return CarriedOut(deleted, len(ingested), left + _delete(corpus, [{"id": str(point.id)} for point in under]))


def _delete(corpus: Corpus, listed: Iterable[Mapping[str, Any]]) -> int:
    gone = {entry["id"] for entry in listed}
    before = len(corpus.points)
    corpus.points = [point for point in corpus.points if str(point.id) not in gone]
    return before - len(corpus.points)


def _ingest(corpus: Corpus, urls: Iterable[str]) -> None:
    payloads = [payload for url in urls for payload in payloads_of(url, corpus.site.html(url))]
    if payloads:
        made = {str(point.id): point for point in embedded_points(payloads)}
        kept = [point for point in corpus.points if str(point.id) not in made]
        ingested = [
            StoredPoint(name, dict(point.payload or {}), list(point.vector or ()))  # type: ignore[arg-type]
            for name, point in made.items()
        ]
        changed = {
            entry.url: dt.datetime.fromisoformat(entry.lastmod) for entry in corpus.site.entries if entry.lastmod
        }
        for point in ingested:
            # An ingestion is later than the change that it is made for, also where that was planted a moment ago.
            if (last := changed.get(str(corpus.get(point, "source_url")))) is not None and last.tzinfo is not None:
                made_at = dt.datetime.fromisoformat(str(corpus.get(point, "embedded_at")))
                corpus.put(point, "embedded_at", max(made_at, last).isoformat())
        corpus.points = kept + ingested


def promised(folder: str | Path) -> frozenset[str]:
    """The codes of which ``remediation.json`` promises that nothing is left."""
    remedies = json.loads((Path(folder) / "remediation.json").read_bytes())

    def codes(names: Iterable[str]) -> set[str]:
        entries = (entry for name in names for entry in remedies[name])
        return {code for entry in entries for code in entry.get("codes", (entry.get("code"),))}

    return frozenset(codes(_PROMISED) - codes(_OPEN))


def still_found(codes: Iterable[str], before: ValidationReport, after: ValidationReport) -> list[str]:
    """Those of some codes of which a subject of an earlier report is left."""
    named = {(finding.code, finding.scope): set(finding.subjects) for finding in before.findings}
    wanted = frozenset(codes)
    return [
        finding.code
        for finding in after.findings
        if finding.code in wanted and not named.get((finding.code, finding.scope), set()).isdisjoint(finding.subjects)
    ]


def letters_held(folder: str | Path) -> dict[tuple[str, int], int]:
    """The letters of each block of the site's pages that are in chunks, from the evidence of a run.

    By page key and the block's first letter.
    """
    return {
        (row["page_key"], block["start"]): block["held"]
        for part in sorted((Path(folder) / "evidence" / "facts").glob("pages*.parquet"))
        for row in pq.read_table(part, columns=["page_key", "blocks"]).to_pylist()
        for block in row["blocks"] or ()
    }


def letters_lost(before: Mapping[tuple[str, int], int], after: Mapping[tuple[str, int], int]) -> int:
    """How many letters of the site were in chunks and are in none any more."""
    return sum(max(0, held - after.get(block, 0)) for block, held in before.items())
