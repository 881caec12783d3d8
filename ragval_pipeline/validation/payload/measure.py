"""Everything that is judged about payloads beyond single required fields.

What lives here: running the detectors of this room over a snapshot and adding what they find to the measurement of the
metadata. What does not: any one detector, and completeness (``validation/metadata``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.page_copies.reader import PageCopies
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.payload import constants, flat_headings, ids, modules
from ragval_pipeline.validation.payload.field_map import field_map_findings
from ragval_pipeline.validation.points import with_share


@dataclass(frozen=True)
class PayloadRules:
    """What a suite says about payloads.

    Args:
        modules: Allowed modules; null: those that the site's paths give.
        filtered: Payload names that the suite filters on.
        id_rule: What point ids are the MD5 of, or null.
        path_modules: Module by path of each in-scope page, by page key.
    """

    modules: tuple[str, ...] | None
    filtered: tuple[str, ...]
    id_rule: str | None
    path_modules: Mapping[str, str]


def with_payload_findings(
    measurement: Measurement, snapshot: Snapshot, rules: PayloadRules, copies: PageCopies | None
) -> Measurement:
    """The measurement of the metadata with what the payloads as a whole show.

    Args:
        measurement: As ``measure_metadata`` made it.
        snapshot: The collection.
        rules: What the suite says.
        copies: The pages; null when none were read.
    """
    kinds = measurement.sections.get("metadata", {}).get("kinds", {})
    manifest = snapshot.manifest
    mapped = field_map_findings(kinds, fields=manifest.fields, required=manifest.required, observed=manifest.observed)
    points = manifest.points
    others = (with_share(finding, points) for finding in _findings(snapshot, rules, copies))
    findings = (*mapped, *measurement.findings, *others)
    return measurement.model_copy(update={"findings": findings})


def _findings(snapshot: Snapshot, rules: PayloadRules, copies: PageCopies | None) -> Iterator[Finding]:
    fields = snapshot.manifest.fields
    spread = constants.collect_constants(snapshot.rows(constants.COLUMNS))
    indexed = [module for page, module in rules.path_modules.items() if page in spread.pages]
    yield from constants.constant_findings(spread, fields=fields, filtered=rules.filtered, path_modules=indexed)
    if "module" in fields:
        found = modules.collect_modules(snapshot.rows(modules.COLUMNS))
        yield from modules.module_findings(found, declared=rules.modules, path_modules=rules.path_modules)
    yield from ids.duplicate_id_findings(ids.collect_ids(snapshot.rows(ids.COLUMNS)))
    if rules.id_rule is not None:
        breaks = ids.collect_rule_breaks(snapshot.rows(ids.COLUMNS), rules.id_rule)
        yield from ids.id_rule_findings(breaks, rules.id_rule)
    if "headings" in fields:
        pages = flat_headings.collect_headings(snapshot.rows(flat_headings.COLUMNS))
        doubtful = copies is not None and flat_headings.may_be_flat(pages)
        deeper = _deeper_pages(copies) if copies is not None and doubtful else frozenset()
        yield from flat_headings.flat_heading_findings(pages, field_name=fields["headings"], deeper_pages=deeper)


def _deeper_pages(copies: PageCopies) -> Collection[str]:
    """Pages with headings below the first level."""
    return frozenset(record.page_key for record in copies.records() if any(level > 1 for level, _ in record.headings))
