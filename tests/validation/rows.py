"""Snapshot rows of a small index, made by the real mapper. Not a test."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import pyarrow as pa

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.site.page_copies.copies import PageRecord
from ragval_pipeline.validation.chunks.columns import Columns
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.token_counts import LimitRules
from ragval_pipeline.validation.detectors import detectors_of, findings_of
from ragval_pipeline.validation.facts.bucket import facts_of_bucket
from ragval_pipeline.validation.facts.store import FactRows
from ragval_pipeline.validation.facts.tables import chunk_table
from ragval_pipeline.validation.facts.texts import TextFacts
from ragval_pipeline.validation.facts.tokens import Counting
from ragval_pipeline.validation.golden.golden_set import Reviewed
from ragval_pipeline.validation.payload.evidence import PayloadEvidence, levels_of
from ragval_pipeline.validation.payload.payloads import PayloadRules
from ragval_pipeline.validation.relational import find_by_query
from tests.support.held import HeldFacts, held_points
from tests.validation.factory import NOW, absolute, batch, site

#: Canonical names are the payload's own: tests read shorter.
FIELDS = {
    name: name
    for name in (
        "text", "source_url", "title", "module", "chapter", "headings", "token_count", "chunk_index", "chunk_id",
        "parent_id", "text_hash", "model", "embedded_at", "original_length",
    )
}  # fmt: skip


def rows(*payloads: dict[str, Any], pages: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Rows of points with these payloads; ids count from 0, ``/a`` is a page of the site."""
    return batch(_stored(payloads), fields=FIELDS, inventory=site(*pages)).to_pylist()


#: Headings of every page with a title.
SECTIONS = [{"level": 1, "text": "Arms"}, {"level": 2, "text": "Motor"}]


def evidence(
    *payloads: Mapping[str, Any],
    pages: tuple[str, ...] = (),
    deeper: Collection[str] = (),
    called: Mapping[str, str] | None = None,
    **rules: Any,
) -> PayloadEvidence:
    """The evidence of points with these payloads.

    ``deeper`` are keys of pages read with headings below the first, ``called`` titles of pages read, by path;
    the pages of these have the headings ``SECTIONS``.
    """
    asked = PayloadRules(**{"fields": FIELDS, **rules})
    stored = _stored(payloads) if asked.fields is FIELDS else payloads
    found = batch(stored, fields=asked.fields, required=asked.required, inventory=site(*pages))

    def batches(columns: Sequence[str]) -> list[pa.RecordBatch]:
        return [found.select(list(columns))]

    return PayloadEvidence(
        batches=batches,
        points=pa.Table.from_batches([found]),
        levels=levels_of(batches, asked, NOW),
        rules=asked,
        pages=lambda: [
            *(
                {"page_key": key, "url": key, "title": None, "headings": [{"level": 2, "text": "Part"}]}
                for key in deeper
            ),
            *(
                {"page_key": entry.key, "url": entry.url, "title": f"{title} | Arms", "headings": SECTIONS}
                for path, title in (called or {}).items()
                for entry in site(path).pages
            ),
        ],
    )


def texts(*found: str, page: str = "/a", **payload: Any) -> list[dict[str, Any]]:
    """Rows of one page's chunks with these texts."""
    return rows(*({"text": text, "source_url": page, "chunk_index": at, **payload} for at, text in enumerate(found)))


def named(findings: list[Any]) -> list[str]:
    """Subjects of the only finding; none without one."""
    assert len(findings) <= 1, [finding.code for finding in findings]
    return [subject.name for finding in findings for subject in finding.subjects]


class _MadeWhenAsked(FactRows):
    """The facts of some rows and pages."""

    def __init__(self, found: Sequence[dict[str, Any]], records: Sequence[PageRecord], limits: LimitRules) -> None:
        self._made = cache(lambda: HeldFacts(facts_of_bucket(records, found, Counting(limits))))

    def batches(self, table: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
        return self._made().batches(table, columns)


def evidence_of(
    found: Sequence[dict[str, Any]],
    records: Sequence[PageRecord] = (),
    *,
    limits: LimitRules = LimitRules(),  # noqa: B008 - frozen
    required: Sequence[str] = (),
    now: datetime = NOW,
) -> ChunkEvidence:
    """What the detectors of chunks look at, for some rows and pages."""
    facts = _MadeWhenAsked(found, records, limits)
    return ChunkEvidence(facts, held_points(found), now, limits, frozenset(required))


def detected(code: str, evidence: ChunkEvidence | PayloadEvidence | Reviewed) -> list[Finding]:
    """What the query or the detector of a code finds."""
    if CATALOGUE[code].sql:
        return list(find_by_query([CATALOGUE[code]], evidence))
    [own] = [each for each in detectors_of(type(evidence)) if code in each.codes]
    return [finding for finding in findings_of(own, evidence) if finding.code == code]


def texts_of(found: Sequence[dict[str, Any]], limits: LimitRules | None = None) -> list[TextFacts]:
    """The facts of the texts of some rows."""
    return list(facts_of_bucket((), found, Counting(limits)).texts)


def columns_of_texts(texts: Iterable[TextFacts]) -> Columns:
    """The facts of some texts in columns."""
    return Columns.of(chunk_table((), texts).to_batches())


def _stored(payloads: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [
        {**payload, "source_url": absolute(payload["source_url"])} if "source_url" in payload else payload
        for payload in payloads
    ]
