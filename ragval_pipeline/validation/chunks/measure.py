"""Everything that is judged about chunks and their text, from a snapshot and, where they were read, the pages.

What lives here: running the detectors of ``chunks`` and ``texts`` over a snapshot. What does not: any one detector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.chunks import (
    duplicate_text,
    ingested_twice,
    near_duplicate,
    order,
    over_limit,
    page_order,
    recount,
    stale_tail,
    token_count_off,
    too_small,
)
from ragval_pipeline.validation.chunks.claims import learn_relations
from ragval_pipeline.validation.chunks.limits import LimitRules
from ragval_pipeline.validation.chunks.page_evidence import PageEvidence, damaged_elsewhere, read_evidence, shown_on_any
from ragval_pipeline.validation.facts.rows import ChunkFacts
from ragval_pipeline.validation.facts.store import Facts
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.metadata.levels import present_fields
from ragval_pipeline.validation.points import with_share
from ragval_pipeline.validation.texts import boilerplate, hashes, mojibake, zero_width

ASSET = "chunk_structure"


def measure_chunks(facts: Facts, limits: LimitRules, *, now: datetime) -> Measurement:
    """The measurement of ``chunk_structure``: ``times_stored``, and findings ``chunk.*`` and ``text.*``.

    Args:
        facts: The collection and its pages.
        limits: Where the model's input limit comes from.
        now: Time of the run, aware.
    """
    snapshot, required = facts.snapshot, _required(facts.snapshot)
    on_pages = chunks_on_pages(facts)
    findings = [
        *_structure(facts, on_pages, now, limits.model),
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
    return Measurement(
        asset=ASSET,
        values=(ingested_twice.times_stored(on_pages),),
        findings=tuple(with_share(finding, points) for finding in findings),
    )


def chunks_on_pages(facts: Facts) -> dict[str, list[ChunkFacts]]:
    """The chunks of each page that was read."""
    by_page: dict[str, list[ChunkFacts]] = {}
    for chunk in facts.chunks():
        if chunk.compared and chunk.page_key is not None:
            by_page.setdefault(chunk.page_key, []).append(chunk)
    return by_page


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


def _structure(
    facts: Facts, on_pages: Mapping[str, Sequence[ChunkFacts]], now: datetime, model: str | None
) -> Iterator[Finding]:
    """What depends on the pages."""
    snapshot, copies = facts.snapshot, facts.copies
    read = {page.page_key: page for page in facts.pages() if page.state == "read"}
    pages = order.without_strays(order.collect_order(snapshot.rows(order.COLUMNS)))
    yield from order.order_findings(pages, model=model)
    yield from stale_tail.stale_tail_findings(pages, on_pages, read, now=now)
    yield from page_order.order_findings(on_pages, read)
    yield from ingested_twice.twice_findings(on_pages, read)
    phrases = boilerplate.collect_phrases(snapshot.rows(boilerplate.COLUMNS))
    suspected = boilerplate.suspected_wordings(phrases)
    damaged = mojibake.collect_mojibake(snapshot.rows(mojibake.COLUMNS))
    evidence = PageEvidence()
    if copies.manifest.parts and (suspected or damaged):
        probes = boilerplate.probes_beside(phrases, suspected) if suspected else None
        evidence = read_evidence(copies.records(), suspected, probes, damaged)
        if words := damaged_elsewhere(evidence, damaged):
            evidence.shown_anywhere = shown_on_any(copies.records(), words)
    yield from boilerplate.boilerplate_findings(phrases, evidence.in_content, evidence.elsewhere, evidence.strangers)
    yield from mojibake.mojibake_findings(damaged, evidence.shows)
