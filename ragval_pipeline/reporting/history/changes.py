"""What differs between the reports of two runs."""

from __future__ import annotations

from collections.abc import Iterable

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import SEVERITIES, ReportedFinding
from ragval_pipeline.reporting.history.earlier import Subjects
from ragval_pipeline.reporting.history.model import CriterionChange, FindingChange, RunChanges
from ragval_pipeline.reporting.outline import groups_of_report
from ragval_pipeline.suite.criteria import GROUPS
from ragval_pipeline.validation.regression.pairing import pair_queries
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import TOLERANCE, CriterionResult


def changes_between(
    name: str, before: ValidationReport, after: ValidationReport, subjects: tuple[Subjects, Subjects]
) -> RunChanges:
    """What differs between two runs.

    Args:
        name: Name of the earlier run's folder.
        before: Its report.
        after: The later report.
        subjects: All subjects of the findings of each.
    """
    pairing = pair_queries(before.query_results, after.query_results)
    had, have = set(before.coverage_report.indexed_urls or ()), set(after.coverage_report.indexed_urls or ())
    groups = groups_of_report(before), groups_of_report(after)
    both_read = before.coverage_report.indexed_urls is not None and after.coverage_report.indexed_urls is not None
    return RunChanges(
        since=name,
        timestamp=before.timestamp,
        verdict_before=before.verdict,
        verdict_after=after.verdict,
        criteria=_criteria(before, after),
        # What a run was not asked for it does not find: that is no change.
        findings=_findings(_of_both(before.findings, groups), _of_both(after.findings, groups), subjects),
        queries_lost=sorted(new.query_id for old, new in pairing.same if old.passed is True and new.passed is False),
        queries_won=sorted(new.query_id for old, new in pairing.same if old.passed is False and new.passed is True),
        queries_set_aside=dict(sorted(pairing.set_aside.items())),
        chunks_before=before.quality_metrics.total_chunks,
        chunks_after=after.quality_metrics.total_chunks,
        pages_missing=sorted(had - have) if both_read else (),
        pages_indexed=sorted(have - had) if both_read else (),
        groups_uncompared=[group for group in GROUPS if group in groups[0] ^ groups[1]],
    )


def _of_both(
    findings: Iterable[ReportedFinding], groups: tuple[frozenset[str], frozenset[str]]
) -> list[ReportedFinding]:
    """Findings that both runs have looked for."""
    if groups[0] == groups[1]:
        return list(findings)
    both = groups[0] & groups[1]
    # A code that this version does not know is of no group.
    return [finding for finding in findings if (row := CATALOGUE.get(finding.code)) is not None and row.group in both]


def _criteria(before: ValidationReport, after: ValidationReport) -> list[CriterionChange]:
    old = {result.name: result for result in before.criteria}
    new = {result.name: result for result in after.criteria}
    changes = (_criterion(name, old.get(name), new.get(name)) for name in {**new, **old})
    return [change for change in changes if change is not None]


def _criterion(name: str, old: CriterionResult | None, new: CriterionResult | None) -> CriterionChange | None:
    """The change of one criterion; null when value and verdict are the same."""
    before, after = old.value if old else None, new.value if new else None
    if any(result is not None and result.reason_code == "not_selected" for result in (old, new)):
        return None  # a run that was not asked for it says nothing of it
    verdicts = old.verdict if old else None, new.verdict if new else None
    moved = before is not None and after is not None and abs(after - before) > TOLERANCE
    if not moved and verdicts[0] == verdicts[1] and (before is None) == (after is None):
        return None
    known = new or old
    better = None
    if moved and known is not None and before is not None and after is not None:
        better = (after > before) == (known.operator == ">=")
    return CriterionChange(name, before, after, *verdicts, better)


def _findings(
    before: Iterable[ReportedFinding], after: Iterable[ReportedFinding], subjects: tuple[Subjects, Subjects]
) -> list[FindingChange]:
    old = {(finding.code, finding.scope): finding for finding in before}
    new = {(finding.code, finding.scope): finding for finding in after}
    changes = []
    for key in {**new, **old}:
        then, now = old.get(key), new.get(key)
        had, has = (part.get(key, frozenset()) for part in subjects)
        known = now or then
        if known is not None and ((then is None) != (now is None) or had != has):
            # A finding about the run as a whole may name no subject; it is there all the same.
            before_now = [max(finding.count, 1) if finding else 0 for finding in (then, now)]
            names = (sorted(has - had), sorted(had - has), sorted(had & has))
            changes.append(FindingChange(*key, known.severity, before_now[0], before_now[1], *names))
    return sorted(changes, key=_weight)


def _weight(change: FindingChange) -> tuple[int, int, str, str]:
    kind = 0 if change.is_new else 3 if change.is_gone else 1 if change.new else 2
    return kind, SEVERITIES.index(change.severity), change.code, change.scope or ""
