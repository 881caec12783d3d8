"""The measurement of payloads: the criterion ``metadata_completeness`` and what the detectors of this room find."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.metadata.levels import LEVELS
from ragval_pipeline.validation.payload.evidence import PayloadEvidence

ASSET = "metadata_expectations"
#: Characters of an exception.
_SHOWN = 500  # shown


def measure_payloads(evidence: PayloadEvidence) -> Measurement:
    """The measurement of ``metadata_expectations``, by ragval's own count."""
    levels = evidence.levels
    wrong = {
        level: {name: len(rows) for name, rows in levels.offenders.get(level, {}).items()}
        for level in LEVELS
        if level != "ok"
    }
    counted = {"points": levels.points, "complete": levels.complete, "kinds": levels.kinds, "levels": wrong}
    return Measurement(
        asset=ASSET,
        values=(_completeness(evidence),),
        findings=tuple(find_all(evidence)),
        sections={"metadata": counted, "expectations": {}},
    )


def with_expectations(measured: Measurement, expectations: Mapping[str, Any]) -> Measurement:
    """The measurement with what Great Expectations said of the same levels (``run_expectations``), as evidence."""
    return measured.model_copy(
        update={
            "findings": (*measured.findings, *_crashed(expectations)),
            "sections": {**measured.sections, "expectations": dict(expectations)},
        }
    )


def _completeness(evidence: PayloadEvidence) -> MeasuredValue:
    if not evidence.rules.required:
        return not_measured("metadata_completeness", "not_applicable", "payload.required names no field")
    return ratio("metadata_completeness", evidence.levels.complete, evidence.levels.points, of="points")


def _crashed(expectations: Mapping[str, Any]) -> list[Finding]:
    """An expectation that raised says nothing about the data: it is a check that failed to run."""
    crashed = [result for result in expectations.get("results", ()) if result["exception"]]
    subjects = [
        Subject(name=f"{result['level']} {result['field']}", details={"exception": result["exception"][:_SHOWN]})
        for result in crashed
    ]
    return [make_finding("check.crashed", subjects, scope=ASSET)] if subjects else []
