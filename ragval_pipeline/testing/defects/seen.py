"""What a run named: its findings with all their subjects, also those beyond the report's first hundred."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragval_pipeline.findings.model import ReportedFinding
    from ragval_pipeline.testing.defects.registry import Planted
    from ragval_pipeline.validation.report import ValidationReport

#: Subjects of one finding with what was measured on each, by name.
Subjects = Mapping[str, Mapping[str, Any]]
#: Severities that a clean corpus is free of.
LOUD = ("error", "warning")


class Seen:
    """The findings of a run with all their subjects, without what a run before named already."""

    def __init__(
        self,
        report: ValidationReport,
        folder: str | Path | None,
        *,
        before: Seen | None = None,
        planted: Iterable[Planted] = (),
    ) -> None:
        self._all = {} if folder is None else _read_subjects(Path(folder) / "findings.parquet")
        self._before = before
        self._planted = {(entry.code, entry.scope): entry.subjects for entry in planted}
        self.findings = [finding for finding in report.findings if not self._is_known(finding)]
        self.loud = [finding for finding in self.findings if finding.severity in LOUD]

    def named(self, code: str, scope: str | None) -> list[ReportedFinding]:
        """The findings of one code in one scope: one or none."""
        return [finding for finding in self.findings if (finding.code, finding.scope) == (code, scope)]

    def subjects(self, finding: ReportedFinding) -> Subjects:
        """All subjects of a finding, as far as they are known."""
        known = self._all.get((finding.code, finding.scope))
        if known is None:
            details = finding.details.get("subjects", {})
            known = {name: details.get(name, {}) for name in finding.subjects}
        own = self._own(finding)
        return {name: entry for name, entry in known.items() if name not in own}

    def _own(self, finding: ReportedFinding) -> frozenset[str]:
        """Subjects that the corpus had before anything was planted, and that were not planted."""
        if self._before is None:
            return frozenset()
        named = self._before.named(finding.code, finding.scope)
        known = frozenset(name for entry in named for name in self._before.subjects(entry))
        return known - self._planted.get((finding.code, finding.scope), frozenset())

    def _is_known(self, finding: ReportedFinding) -> bool:
        """Whether a finding names nothing that was not named before."""
        return bool(self._own(finding)) and not self.subjects(finding)

    def causes(self, finding: ReportedFinding) -> set[str | None]:
        """What the subjects of a finding follow from; null among them: some follow from nothing."""
        subjects = self.subjects(finding).values()
        return {details.get("because", finding.because) for details in subjects} or {finding.because}


def _read_subjects(file: Path) -> dict[tuple[str, str | None], dict[str, dict[str, Any]]]:
    import pyarrow.parquet as pq

    found: dict[tuple[str, str | None], dict[str, dict[str, Any]]] = {}
    for row in pq.read_table(file).to_pylist():
        subjects = found.setdefault((row["code"], row["scope"]), {})
        if row["subject"] is not None:
            subjects[row["subject"]] = json.loads(row["details"])
    return found
