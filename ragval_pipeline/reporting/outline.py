"""How a person reads a report: the verdict in words, criteria by weight, findings with what follows from them.

What lives here: the order and the sentences that page, terminal and pull request share. What does not: their looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragval_pipeline.findings.model import SEVERITIES, ReportedFinding, Severity
from ragval_pipeline.reporting.numbers import show_spent
from ragval_pipeline.reporting.selection import groups_of_report, is_partial
from ragval_pipeline.reporting.text import one_line
from ragval_pipeline.suite.printing import plural
from ragval_pipeline.validation.repair.simulate import JUDGED
from ragval_pipeline.validation.report import QueryReport, ValidationReport
from ragval_pipeline.validation.verdict import TOLERANCE, CriterionResult

VERDICT_WORDS = {"pass": "Pass", "fail": "Fail", "not_measured": "Not measured", "error": "Error"}
PARTIAL = " (partial)"
#: Findings that name a system which failed.
SYSTEM_FAILURES = frozenset(
    {"source.unreachable", "source.malformed", "index.unreachable", "index.collection_missing", "embedder.unreachable"}
)


@dataclass(frozen=True)
class CriteriaOutline:
    """Criteria by weight: ``required``, then ``shown`` (measured, not required), then ``unmeasured`` (neither)."""

    required: list[CriterionResult]
    shown: list[CriterionResult]
    unmeasured: list[CriterionResult]


@dataclass(frozen=True)
class FindingNode:
    """A finding with the findings that follow from it."""

    finding: ReportedFinding
    consequences: tuple[FindingNode, ...] = ()

    def below(self) -> Iterable[ReportedFinding]:
        """Every finding that follows from this one, directly or not."""
        for node in self.consequences:
            yield node.finding
            yield from node.below()


def outline_criteria(results: Iterable[CriterionResult]) -> CriteriaOutline:
    """Sort criteria by weight, each group in report order."""
    outline = CriteriaOutline([], [], [])
    for result in results:
        if result.required:
            outline.required.append(result)
        elif result.verdict == "not_measured":
            outline.unmeasured.append(result)
        else:
            outline.shown.append(result)
    return outline


def reason_of(result: CriterionResult) -> str:
    """Why a criterion has its verdict, without what its place on the page says already."""
    reason = result.reason.removeprefix("not measured: ")
    return "" if reason == "no gate" else reason.removesuffix("; no gate")


def finding_tree(findings: Sequence[ReportedFinding]) -> list[FindingNode]:
    """Hang each finding below the first one that has the code it is ``because`` of.

    Every finding comes out exactly once: one whose cause is not reported, or that is its own cause in a circle, stands
    on its own.
    """
    first: dict[str, int] = {}
    for index, finding in enumerate(findings):
        first.setdefault(finding.code, index)
    parents = [first.get(finding.because) if finding.because else None for finding in findings]
    children: dict[int, list[int]] = {}
    roots = []
    for index in range(len(findings)):
        parent = parents[index]
        if parent is None or _in_circle(index, parents):
            roots.append(index)
        else:
            children.setdefault(parent, []).append(index)

    def node(index: int) -> FindingNode:
        return FindingNode(findings[index], tuple(node(child) for child in children.get(index, ())))

    return [node(index) for index in roots]


def would_clear(finding: ReportedFinding) -> str:
    """What repairing a finding would clear, as far as it was simulated; empty when nothing, or nothing was."""
    cleared = finding.details.get("would_clear", {})
    told = [
        f"{len(result['cleared'])} of the {result['of']} {JUDGED[code]}" if result["of"] > 1 else f"the {_one(code)}"
        for code, result in cleared.items()
        if code in JUDGED
    ]
    return f"Would clear {', '.join(told)} (simulated)." if told else ""


def also_clears(node: FindingNode) -> list[str]:
    """Codes of what follows from a finding by what it is about, and was not simulated."""
    return list(dict.fromkeys(finding.code for finding in node.below() if finding.code not in JUDGED))


def _one(code: str) -> str:
    return JUDGED[code].replace("queries", "query").replace("metrics", "metric").removesuffix("s")


def verdict_words(report: ValidationReport) -> str:
    """The verdict in words; of a run that was asked for some groups only, it says so."""
    return VERDICT_WORDS[report.verdict] + (PARTIAL if is_partial(groups_of_report(report)) else "")


def headline(report: ValidationReport) -> str:
    """The verdict in one sentence, and a second one where it is not about the whole index."""
    required = [result for result in report.criteria if result.required and not result.excused]
    partial = is_partial(groups_of_report(report))
    if report.verdict == "pass":
        if partial:
            return f"{_partial_pass(report, required)}{_beside_a_pass(report)}."
        return f"This index meets {_all_of(len(required))}{_beside_a_pass(report)}.{_unconfirmed(report)}"
    if report.verdict == "fail":
        missed = [result.name for result in required if result.verdict == "not_met"]
        verb = "is" if len(missed) == 1 else "are"
        told = f"{len(missed)} of {plural(len(required), 'required criterion')} {verb} not met: {', '.join(missed)}."
        return f"{told} {_only_selected(report)}." if partial else told
    if report.verdict == "error":
        return f"An outside system failed: {_failure(report)}"
    if report.cost.stopped:
        return f"Not everything was measured. {report.cost.stopped}"
    unknown = [result.name for result in required if result.verdict == "not_measured"]
    if not unknown:
        return "Nothing that is required was measured: this run gives no verdict on the index."
    return f"{', '.join(unknown)} could not be measured: this run cannot say whether the index is good."


def spent_words(report: ValidationReport) -> str:
    """What embedding took of a provider that counts tokens or money; nothing of one that runs here."""
    cost = report.cost
    if not cost.embedding_calls or (cost.usd == 0.0 and cost.prices_of is None):
        return ""
    return show_spent(cost.embedding_calls, cost.billed_tokens, cost.usd, cost.prices_of)


def first_steps(report: ValidationReport, limit: int = 3) -> list[FindingNode]:
    """The findings to take care of first: causes before consequences, errors before warnings, no mere information.

    A cause weighs as much as the worst that follows from it: the setting that fails every query comes first, warning
    or not.
    """
    nodes = [node for node in finding_tree(report.findings) if worst_severity([node]) != "info"]
    return sorted(nodes, key=lambda node: SEVERITIES.index(worst_severity([node])))[:limit]


def worst_severity(nodes: Sequence[FindingNode]) -> Severity:
    """The worst severity among findings and all that follows from them; ``info`` without any."""
    found = {finding.severity for node in nodes for finding in (node.finding, *node.below())}
    return next((severity for severity in SEVERITIES if severity in found), "info")


def count_by_severity(findings: Iterable[ReportedFinding]) -> dict[Severity, int]:
    """Number of findings of each severity."""
    counts: dict[Severity, int] = dict.fromkeys(SEVERITIES, 0)
    for finding in findings:
        counts[finding.severity] += 1
    return counts


def _partial_pass(report: ValidationReport, required: Sequence[CriterionResult]) -> str:
    met = "it is met" if len(required) == 1 else "all are met"
    return f"{_only_selected(report)}, and {met}: {', '.join(result.name for result in required)}"


def _beside_a_pass(report: ValidationReport) -> str:
    """What a pass leaves to look at: how many errors and warnings, and the one that holds for most of the index."""
    counts = count_by_severity(report.findings)
    loud = [finding for finding in report.findings if finding.severity != "info"]
    if not loud:
        return ""
    told = " and ".join(plural(counts[severity], severity) for severity in ("error", "warning") if counts[severity])
    widest = max(loud, key=lambda finding: (_share_named(finding, report), finding.count))
    whole, reach = _whole_of(widest, report), plural(widest.count, widest.subject_kind)
    # Pages that a finding names may be out of scope, or spellings of one page: no part of the pages in scope.
    if whole is not None and widest.subject_kind != "page":
        reach = f"{widest.count:,} of {plural(whole, widest.subject_kind)}"
    lead = "" if len(loud) == 1 else "the widest "
    return f", with {told}: {lead}{widest.code} ({reach})"


def drafts_of(report: ValidationReport) -> list[QueryReport]:
    """The queries that nobody has confirmed: they are asked and not counted."""
    return [query for query in report.query_results if query.query.get("status") == "draft"]


def _unconfirmed(report: ValidationReport) -> str:
    """What a pass does not say as long as all test queries are drafts."""
    drafts = drafts_of(report)
    if not drafts or any(query.counted for query in report.query_results):
        return ""
    told = "its only test query is a draft" if len(drafts) == 1 else f"all {len(drafts)} test queries are drafts"
    return f" It says nothing about answers: {told}."


def _share_named(finding: ReportedFinding, report: ValidationReport) -> float:
    """The share of the index's points, pages or queries that a finding names; 0 for other subjects."""
    whole = _whole_of(finding, report)
    return min(finding.count / whole, 1.0) if whole else 0.0


def _whole_of(finding: ReportedFinding, report: ValidationReport) -> int | None:
    return {
        "point": report.quality_metrics.total_chunks,
        "page": report.coverage_report.total_sitemap_urls,
        "query": report.total_queries,
    }.get(finding.subject_kind)


def _only_selected(report: ValidationReport) -> str:
    """How many of the required criteria a partial run was asked for."""
    asked = sum(result.required and not result.excused for result in report.criteria)
    left_out = sum(result.required and result.reason_code == "not_selected" for result in report.criteria)
    verb = "was" if asked == 1 else "were"
    if not left_out:
        every = "The only required criterion" if asked == 1 else f"All {plural(asked, 'required criterion')}"
        return f"{every} {verb} selected"
    return f"Only {asked} of {plural(asked + left_out, 'required criterion')} {verb} selected"


def ceiling_of(report: ValidationReport, name: str) -> float | None:
    """The best value of a retrieval metric that the ground truth allows; null when that is 1 or not known."""
    metric = report.retrieval_metrics.page.get(name)
    ceiling = None if metric is None else metric.ceiling
    return ceiling if ceiling is not None and ceiling < 1.0 - TOLERANCE else None


def failure_of(report: ValidationReport) -> str | None:
    """What the headline says of the outside system that failed; null for every other verdict."""
    return _failure(report) if report.verdict == "error" else None


def _all_of(count: int) -> str:
    return "its one required criterion" if count == 1 else f"all {count} required criteria"


def _failure(report: ValidationReport) -> str:
    failures = [finding for finding in report.findings if finding.code in SYSTEM_FAILURES]
    failures = failures or [finding for finding in report.findings if finding.severity == "error"]
    return one_line(failures[0].message) if failures else "see the reasons of the criteria."


def _in_circle(index: int, parents: Sequence[int | None]) -> bool:
    """Whether following causes from ``index`` leads back to it: then none of the circle is the cause of the rest."""
    passed, at = [index], parents[index]
    while at is not None and at not in passed:
        passed.append(at)
        at = parents[at]
    return at == index
