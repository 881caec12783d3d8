"""Gates that the ground truth cannot reach: ``query.unreachable_gate``."""

from __future__ import annotations

from collections.abc import Mapping

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.golden.golden_set import Reviewed
from ragval_pipeline.validation.report import MetricValue
from ragval_pipeline.validation.thresholds import FEW
from ragval_pipeline.validation.verdict import TOLERANCE


@detector("query.unreachable_gate", needs=Reviewed)
def _gates(reviewed: Reviewed) -> list[Finding]:
    return unreachable_gates(reviewed.metrics, reviewed.golden.gates)


def unreachable_gates(page_metrics: Mapping[str, MetricValue], gates: Mapping[str, Gate]) -> list[Finding]:
    """Gates above the mean ceiling of their metric, or less than 0.05 below it while it is below 1."""
    subjects = []
    for name, metric in page_metrics.items():
        gate = gates.get(name)
        ceiling = metric.ceiling
        if gate is None or gate.threshold is None or ceiling is None or ceiling >= 1.0 - TOLERANCE:
            continue
        if gate.threshold > ceiling - FEW:
            state = "unreachable" if gate.threshold > ceiling + TOLERANCE else "barely reachable"
            details = {"ceiling": ceiling, "gate": gate.threshold, "n": metric.n, "state": state}
            subjects.append(Subject(name=name, details=details))
    if not subjects:
        return []
    words = [f"{entry.name} {entry.details['state']} (at most {entry.details['ceiling']:.3f})" for entry in subjects]
    return [
        make_finding("query.unreachable_gate", subjects, message=f"Gates against the ground truth: {', '.join(words)}.")
    ]
