"""From level counts to the criterion ``metadata_completeness`` and the findings ``payload.*``.

What lives here: naming what the counts say. What does not: counting (``levels``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.metadata.levels import LEVELS, Level, LevelCounts, Offender
from ragval_pipeline.validation.metadata.rules import RULES, canonical_of
from ragval_pipeline.validation.points import with_share

ASSET = "metadata_expectations"
_CODES: dict[Level, str] = {
    "missing": "payload.missing_field",
    "empty": "payload.empty_field",
    "wrong_type": "payload.wrong_type",
    "invalid": "payload.invalid_value",
}


def measure_metadata(
    counts: LevelCounts,
    *,
    fields: Mapping[str, str],
    required: Sequence[str],
    plain_headings: bool = False,
    expectations: Mapping[str, Any] | None = None,
) -> Measurement:
    """The measurement of ``metadata_expectations``.

    Args:
        counts: Levels counted over the whole collection.
        fields: Canonical name to payload name.
        required: Payload names that every point must hold; of a suite that requires none nothing is complete.
        plain_headings: Whether one heading as a text is how this system stores them.
        expectations: What Great Expectations said of the same points, kept as evidence.
    """
    value = _completeness(counts, required)
    sections = {
        "metadata": {
            "points": counts.points,
            "complete": counts.complete,
            "kinds": counts.kinds,
            "levels": {
                level: {name: len(offenders) for name, offenders in counts.offenders.get(level, {}).items()}
                for level in LEVELS
            },
        },
        "expectations": dict(expectations or {}),
    }
    named = (with_share(finding, counts.points) for finding in _findings(counts, fields, required, plain_headings))
    findings = [*named, *_crashed(expectations or {})]
    return Measurement(asset=ASSET, values=(value,), findings=tuple(findings), sections=sections)


def _completeness(counts: LevelCounts, required: Sequence[str]) -> MeasuredValue:
    if not required:
        return not_measured("metadata_completeness", "not_applicable", "payload.required names no field")
    return ratio("metadata_completeness", counts.complete, counts.points, of="points")


def _crashed(expectations: Mapping[str, Any]) -> list[Finding]:
    """An expectation that raised says nothing about the data: it is a check that failed to run."""
    crashed = [result for result in expectations.get("results", ()) if result["exception"]]
    subjects = [
        Subject(name=f"{result['level']} {result['field']}", details={"exception": result["exception"][:500]})
        for result in crashed
    ]
    return [make_finding("check.crashed", subjects, scope=ASSET)] if subjects else []


def _findings(
    counts: LevelCounts, fields: Mapping[str, str], required: Sequence[str], plain_headings: bool
) -> list[Finding]:
    canonical = canonical_of(fields)
    findings = []
    for level in LEVELS:
        for name, offenders in counts.offenders.get(level, {}).items():
            as_text = level == "wrong_type" and canonical.get(name) == "headings"
            wrong = _without_convention(name, offenders, counts, plain=plain_headings) if as_text else offenders
            if wrong:
                known = canonical.get(name)
                # Without its text nothing is left of a point, without another field most is.
                extent = 1.0 if known == "text" else 1 / max(len(fields), 1)
                findings.append(_finding(level, name, wrong, known, extent, required=name in required))
    return findings


def _finding(
    level: Level, name: str, offenders: Iterable[Offender], canonical: str | None, extent: float, *, required: bool
) -> Finding:
    subjects = [
        Subject(
            name=entry.point_id,
            page=entry.page_key,
            details=_details(entry),
            fields=(canonical or name,),
            indices=() if entry.page_url or entry.chunk_index is None else (entry.chunk_index,),
            extent=extent,
        )
        for entry in offenders
    ]
    rule = RULES.get(canonical or "")
    cause = None
    if rule is not None and level in {"wrong_type", "invalid"}:
        example = next((subject.details["value"] for subject in subjects if "value" in subject.details), None)
        cause = f"{name} must be {rule.says}" + (f"; found {example}." if example else ".")
    # A required field may have no canonical name.
    details: dict[str, Any] = {} if canonical is None else {"field": canonical}
    if not required:  # a text that is missing: named whatever is required, and no part of the criterion
        details["required"] = False
    return make_finding(_CODES[level], subjects, scope=name, cause=cause, details=details)


def _details(offender: Offender) -> dict[str, Any]:
    details: dict[str, Any] = {} if offender.shown is None else {"value": offender.shown}
    if offender.page_url:
        return {**details, "page_url": offender.page_url}
    # Of a point without a page its place on the page is all that tells which page lost it.
    return details if offender.chunk_index is None else {**details, "chunk_index": offender.chunk_index}


def _without_convention(name: str, offenders: list[Offender], counts: LevelCounts, *, plain: bool) -> list[Offender]:
    """Offenders but those that store one heading as a text where that is the way of the index or its profile."""
    kinds = counts.kinds.get(name, {})
    usual = plain or not (kinds.get("strings") or kinds.get("list"))
    return [entry for entry in offenders if entry.kind != "str"] if usual else offenders
