"""Everything that is judged about chunks and their text, from a snapshot and, where they were read, the pages.

What lives here: running the detectors of ``chunks`` and ``texts`` over a snapshot. What does not: any one detector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.page_copies.reader import PageCopies
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.chunks import (
    duplicate_text,
    leftover,
    near_duplicate,
    order,
    over_limit,
    recount,
    stale_tail,
    token_count_off,
    too_small,
)
from ragval_pipeline.validation.chunks.claims import learn_relations
from ragval_pipeline.validation.chunks.limits import LimitRules
from ragval_pipeline.validation.chunks.page_evidence import PageEvidence, damaged_elsewhere, read_evidence, shown_on_any
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.metadata.levels import present_fields
from ragval_pipeline.validation.points import with_share
from ragval_pipeline.validation.texts import boilerplate, hashes, mojibake, zero_width

ASSET = "chunk_structure"


def measure_chunks(snapshot: Snapshot, copies: PageCopies | None, limits: LimitRules, *, now: datetime) -> Measurement:
    """The measurement of ``chunk_structure``: findings ``chunk.*`` and ``text.*``.

    Args:
        snapshot: The collection.
        copies: The pages; null when none were read.
        limits: Where the model's input limit comes from.
        now: Time of the run, aware.
    """
    required = _required(snapshot)
    findings = [
        *_structure(snapshot, copies, now, limits.model),
        *_tokens(snapshot, limits),
        *duplicate_text.duplicate_text_findings(duplicate_text.collect_texts(snapshot.rows(duplicate_text.COLUMNS))),
        *near_duplicate.near_duplicate_findings(near_duplicate.collect_shingles(snapshot.rows(near_duplicate.COLUMNS))),
        *too_small.small_findings(too_small.collect_small(snapshot.rows(too_small.COLUMNS), required=required)),
        *zero_width.zero_width_findings(
            zero_width.collect_zero_width(snapshot.rows(zero_width.COLUMNS), required=required)
        ),
        *hashes.hash_findings(hashes.collect_hashes(snapshot.rows(hashes.COLUMNS))),
    ]
    points = snapshot.manifest.points
    return Measurement(asset=ASSET, findings=tuple(with_share(finding, points) for finding in findings))


def _required(snapshot: Snapshot) -> frozenset[str]:
    """Canonical names of fields that every point must fill."""
    manifest = snapshot.manifest
    present = present_fields(manifest.fields, manifest.required)
    return frozenset(name for name, path in manifest.fields.items() if path in present)


def _tokens(snapshot: Snapshot, limits: LimitRules) -> Iterator[Finding]:
    counted = recount.recount(snapshot.rows(recount.COLUMNS), limits)
    relations = learn_relations(counted)
    measured = over_limit.measure_limits(counted, relations, limits.of)
    yield from over_limit.limit_findings(measured, relations)
    yield from token_count_off.token_count_findings(counted, relations)


def _structure(snapshot: Snapshot, copies: PageCopies | None, now: datetime, model: str | None) -> Iterator[Finding]:
    """What depends on the pages, read once for all of it."""
    pages = order.without_strays(order.collect_order(snapshot.rows(order.COLUMNS)))
    tails, dates_prove = stale_tail.find_tails(pages, now=now)
    phrases = boilerplate.collect_phrases(snapshot.rows(boilerplate.COLUMNS))
    suspected = boilerplate.suspected_wordings(phrases)
    damaged = mojibake.collect_mojibake(snapshot.rows(mojibake.COLUMNS))
    evidence = PageEvidence()
    if copies is not None and (tails or suspected or damaged):
        probes = boilerplate.probes_beside(phrases, suspected) if suspected else None
        evidence = read_evidence(copies.records(), tails, _texts_of(snapshot, tails), suspected, probes, damaged)
        if words := damaged_elsewhere(evidence, damaged):
            evidence.shown_anywhere = shown_on_any(copies.records(), words)
    yield from order.order_findings(pages, model=model)
    undated = leftover.undated_pages(pages)
    leftovers = leftover.find_leftovers(undated, snapshot, copies) if copies is not None and undated else ()
    yield from stale_tail.stale_tail_findings(tails, needed=evidence.needed, dates_prove=dates_prove, undated=leftovers)
    yield from boilerplate.boilerplate_findings(phrases, evidence.in_content, evidence.elsewhere, evidence.strangers)
    yield from mojibake.mojibake_findings(damaged, evidence.shows)


def _texts_of(snapshot: Snapshot, tails: Sequence[stale_tail.Tail]) -> Mapping[str, str]:
    """Text of the points of pages with a tail, by point id."""
    wanted = {point_id for tail in tails for point_id in (*tail.points, *tail.head)}
    if not wanted:
        return {}
    rows: Iterator[dict[str, Any]] = snapshot.rows(("point_id", "text"))
    return {row["point_id"]: row["text"] or "" for row in rows if row["point_id"] in wanted}
