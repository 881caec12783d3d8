"""The points that curves are drawn from: a sample of the generated handbook, as snapshot rows, with its pages."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ragval_pipeline.sources.site.page_copies.copies import PageRecord, record_of
from ragval_pipeline.sources.site.page_reader import PageCopy
from ragval_pipeline.testing.defects import Corpus
from ragval_pipeline.testing.defects.store import StoredPoint
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detectors_of, findings_of
from ragval_pipeline.validation.facts.bucket import facts_of_bucket
from tests.support.held import HeldFacts, held_points

#: Points that a curve is drawn from.
SAMPLE = 200

Row = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """Some points of the corpus as snapshot rows, with their pages."""

    rows: list[Row]
    pages: dict[str, PageRecord]
    words: list[str]


def sample_of(corpus: Corpus) -> Sample:
    """``SAMPLE`` points, each of another page while there are pages."""
    rng = random.Random(7)
    by_page = [rng.choice(points) for points in corpus.pages().values()]
    rows = [_row(corpus, point) for point in rng.sample(by_page, min(SAMPLE, len(by_page)))]
    pages = {row["page_key"]: _page(corpus, row["page_key"]) for row in rows}
    words = sorted({word for row in rows for word in row["text"].split() if word.isalpha()})
    return Sample(rows, pages, words)


def named_in(code: str, rows: Sequence[Row], pages: Iterable[PageRecord] = ()) -> set[str]:
    """The points that the detector of a code names among some chunks."""
    facts = HeldFacts(facts_of_bucket(pages, rows))
    evidence = ChunkEvidence(facts, held_points(rows), datetime.now(UTC))
    [own] = [each for each in detectors_of(ChunkEvidence) if code in each.codes]
    return {subject.name for finding in findings_of(own, evidence) for subject in finding.subjects}


def with_words_changed(text: str, count: int, words: Sequence[str]) -> str:
    """The text with some of its words replaced, the same ones each time; lines stay lines."""
    rng = random.Random(text)
    lines = [line.split(" ") for line in text.split("\n")]
    places = [(row, column) for row, line in enumerate(lines) for column, word in enumerate(line) if word]
    for row, column in rng.sample(places, min(count, len(places))):
        lines[row][column] = rng.choice(words)
    return "\n".join(" ".join(line) for line in lines)


def _row(corpus: Corpus, point: StoredPoint) -> Row:
    names = (
        "text", "title", "headings", "chunk_index", "source_url", "module", "chapter", "token_count", "model",
        "embedded_at",
    )  # fmt: skip
    url = corpus.get(point, "source_url")
    stored: Row = {name: corpus.get(point, name) for name in names}
    stored |= dict.fromkeys(("embedded_text", "text_hash", "chunk_id", "parent_id", "beside"))
    return {**stored, "point_id": str(point.id), "page_key": url, "page_url": url, "text_sha256": str(point.id)}


def _page(corpus: Corpus, url: str) -> PageRecord:
    return record_of(PageCopy(url, html=corpus.site.html(url)), url)
