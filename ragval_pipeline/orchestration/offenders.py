"""Which findings are the evidence for which criterion: what a failed check shows in its table.

What lives here: the table from criterion to finding codes. What does not: finding anything, and making the table of
offenders (``metadata``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ragval_pipeline.findings.model import Finding, ReportedFinding

#: A finding as detectors make it, or as the report holds it.
AnyFinding: TypeAlias = Finding | ReportedFinding

#: Codes that a criterion fails by.
EVIDENCE: Mapping[str, frozenset[str]] = {
    "coverage": frozenset({"coverage.missing_page", "coverage.foreign_host"}),
    "metadata_completeness": frozenset({"payload.missing_field", "payload.empty_field", "payload.field_map"}),
    "retrieved_metadata_completeness": frozenset({"retrieval.incomplete_metadata"}),
    "query_pass_rate": frozenset({"query.failed", "query.negative_scored_high"}),
    "negative_pass_rate": frozenset({"query.negative_scored_high"}),
    "critical_queries": frozenset({"query.failed", "query.negative_scored_high"}),
    "determinism": frozenset({"retrieval.nondeterministic"}),
    "content_integrity": frozenset({"integrity.drifted", "integrity.gone"}),
    "source_captured": frozenset({"integrity.not_captured", "integrity.heading_loss"}),
    "embedding_match": frozenset(
        {
            "vector.model_mismatch",
            "vector.mixed_models",
            "vector.swapped",
            "vector.text_mismatch",
        }
    ),
    "ann_recall": frozenset({"index.low_ann_recall"}),
    "self_retrieval": frozenset({"retrieval.dark_page"}),
    "latency_p95_ms": frozenset({"retrieval.slow"}),
    "no_regression": frozenset({"regression.significant_drop", "regression.query_lost"}),
}


def evidence_for(criterion: str, findings: Sequence[AnyFinding], *, met: bool = False) -> list[AnyFinding]:
    """The findings that explain the value of a criterion.

    Args:
        criterion: Its name.
        findings: Those of its asset, or of the report.
        met: Whether it is met all the same: 19 of 20 queries may be enough, and the one is still worth a look. A
            criterion that is not met and whose evidence is not known shows everything.
    """
    if criterion == "error_findings":
        return [finding for finding in findings if finding.severity == "error"]
    codes = EVIDENCE.get(criterion, frozenset())
    return [finding for finding in findings if finding.code in codes] or ([] if met else list(findings))
