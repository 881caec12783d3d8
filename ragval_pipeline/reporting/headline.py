"""The verdict in one sentence: what fails, what passes, and which groups were run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ragval_pipeline.findings.catalogue import CATALOGUE, OWN_PREFIX
from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.numbers import show_gate, show_value
from ragval_pipeline.reporting.outline import count_by_severity, groups_of_report, is_partial, title_of
from ragval_pipeline.rules.integrity.not_captured import RULE as NOT_CAPTURED
from ragval_pipeline.rules.rule import SEVERITIES
from ragval_pipeline.sources.http.addresses import host_of, is_loopback_or_private, split_url
from ragval_pipeline.sources.site.urls import fold_path
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.text.display import one_line
from ragval_pipeline.text.numbers import show_percent
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.coverage.counterparts import counterparts
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.repair.tree import by_level, finding_tree
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import ERRORS, CriterionResult, counted_errors


def headline(report: ValidationReport) -> str:
    """The verdict in one sentence, plus a second one if it is not about the whole index."""
    required = [result for result in report.criteria if result.required and not result.excused]
    partial = is_partial(groups_of_report(report))
    if report.verdict == "pass":
        if partial:
            return f"{_partial_pass(report, required)}{_beside_a_pass(report)}."
        all_of = "its one required criterion" if len(required) == 1 else f"all {len(required)} required criteria"
        return f"This index meets {all_of}{_beside_a_pass(report)}.{_unsaid(report)}"
    if report.verdict == "fail":
        words = "; ".join([*_what_fails(report, required), *_what_holds(report)])
        return f"{words[:1].upper()}{words[1:]}." + (f" {_only_selected(report)}." if partial else "")
    if report.verdict == "error":
        return f"An outside system failed: {failure_of(report)}"
    if report.cost.stopped:
        return f"Not everything was measured. {report.cost.stopped}"
    unknown = [criterion_name(result.name) for result in required if result.verdict == "not_measured"]
    if not unknown:
        return "No required criterion was measured: this run gives no verdict on the index."
    return f"{', '.join(unknown)} could not be measured: this run cannot tell whether the index is good."


#: The missing part of a ratio, by criterion: what is counted, and what is wrong with one and with several.
_SHORT_OF = {
    "negative_pass_rate": ("off-topic questions", "scores above its limit", "score above their limit"),
    "critical_queries": ("critical questions", "fails", "fail"),
    "coverage": ("pages", "is not in the index", "are not in the index"),
    "metadata_completeness": ("points", "lacks a required field", "lack a required field"),
    "retrieved_metadata_completeness": ("hits", "lacks a required field", "lack a required field"),
    "relevance_rate": ("questions", "has no relevant hit", "have no relevant hit"),
    "accuracy": ("questions", "does not return what it expects", "do not return what they expect"),
    "determinism": ("questions", "gets different results when repeated", "get different results when repeated"),
    "embedding_match": ("vectors", "does not fit its text", "do not fit their text"),
    "self_retrieval": ("pages", "is not found by its own title", "are not found by their own titles"),
}
_SHARE_OF = {
    "content_integrity": "of the chunks' text is not on its page",
    "source_captured": "of the pages' text is in no chunk",
}
#: Maximum causes in the sentence of a verdict.
_NAMED = 3


def _what_fails(report: ValidationReport, required: Sequence[CriterionResult]) -> list[str]:
    """The shortfalls of criteria, then the errors that they do not judge: the first ones, and how many more."""
    missed = [result for result in required if result.verdict == "not_met"]
    told = [clause for result in missed if result.name != ERRORS and (clause := _shortfall(result, report))]
    if len(told) > _NAMED:
        told = [*told[:_NAMED], f"{plural(len(told) - _NAMED, 'more criterion')} not met"]
    if any(result.name == ERRORS for result in missed):
        told += _errors(report, room=max(_NAMED - len(told), 0))
    return told or ["a required criterion is not met"]


def _shortfall(result: CriterionResult, report: ValidationReport) -> str:
    """What a criterion falls short by, in words."""
    lost = (result.denominator or 0) - (result.numerator or 0) if result.numerator is not None else 0
    if result.name == "query_pass_rate" and lost:
        which = "the only" if result.denominator == 1 else _of(lost, result.denominator)
        noun = "test question" if result.denominator == 1 else "test questions"
        return f"{which} {noun} {_how_questions_fail(report, one=lost == 1)}"
    if result.name == "coverage" and (moved := elsewhere(report)) is not None:
        return moved
    if result.name in _SHORT_OF and lost:
        noun, one, many = _SHORT_OF[result.name]
        lacking = f"{_of(lost, result.denominator)} {noun}"
        told = f"{lacking} {one if lost == 1 else many}"
        found = sum(finding.elsewhere for finding in report.findings) if result.name == "coverage" else 0
        if not found:
            return told
        where = f"only under {'another address' if found == 1 else 'other addresses'}"
        if found == lost:
            return f"{lacking} {'is' if lost == 1 else 'are'} in the index {where}"
        return f"{told}, {found:,} of them {where}"
    if result.name in _SHARE_OF and result.value is not None:
        return f"{show_percent(1 - result.value)} {_SHARE_OF[result.name]}"
    if result.name == "no_regression":
        return "the index got worse than its baseline"
    return f"{criterion_name(result.name)} is {show_value(result)}, must be {show_gate(result)}"


def _errors(report: ValidationReport, room: int) -> list[str]:
    """The causes of the errors that no other criterion judges, in the order of findings, errors before warnings.

    At most ``room`` are named, the others counted.
    """
    covers = any(result.name == "coverage" and result.required for result in report.criteria)
    # ``elsewhere`` says what findings about hosts say.
    is_said = covers and elsewhere(report) is not None
    findings = by_level(finding_tree(report.findings))
    errors = [each for each in findings if each.severity == "error" and not (is_said and _is_of_hosts(each))]
    named_above = {finding.code for finding in errors}
    counted = {id(finding) for finding in counted_errors(report.findings, report.criteria)}
    leading = [each for each in errors if each.because not in named_above and id(each) in counted]
    roots = [root for root in (_root(finding, report) for finding in leading) if not (is_said and _is_of_hosts(root))]
    named = Counter(map(_in_words, sorted(roots, key=lambda root: SEVERITIES.index(root.severity))))
    left = sum(list(named.values())[room:])
    return [*list(named)[:room], *([plural(left, "more error" if room else "error")] if left else [])]


def _is_of_hosts(finding: ReportedFinding) -> bool:
    rule = CATALOGUE.get(finding.code)
    return rule is not None and rule.repair == "readdress"


def _root(finding: ReportedFinding, report: ValidationReport) -> ReportedFinding:
    """What a finding follows from, which may be a warning; the finding itself if it follows from none."""
    above = (each for each in report.findings if each.code == finding.because)
    cause = next(above, None)
    return finding if cause is None else _root(cause, report)


def _of(lost: float, whole: float | None) -> str:
    if lost == whole and lost > 1:
        return "both" if lost == 2 else f"all {lost:,.0f}"
    return f"{lost:,.0f} of {whole or 0:,.0f}"


#: Subjects of which a suite usually has one; the only addresses that are not pages are those of sitemaps.
_THE_ONLY = {"collection": "the collection", "url": "the sitemap"}


def _in_words(finding: ReportedFinding) -> str:
    """A finding as a clause: ``3 chunks have a vector that does not fit their text``."""
    row = CATALOGUE.get(finding.code)
    if row is None or not finding.count:
        return title_of(finding.code).lower()
    if finding.code.startswith(OWN_PREFIX):
        # Its first sentence: those after it, such as how many questions it concerns, fit into no clause.
        says = re.split(r"(?<=[.!?]) (?=[A-Z])", finding.message, maxsplit=1)[0]
        return says[:1].lower() + says[1:].rstrip(".")
    only = _THE_ONLY.get(row.subject_kind) if finding.count == 1 else None
    counted = only or plural(finding.count, row.subject_kind.replace("point", "chunk"))
    return f"{counted} {row.means if finding.count == 1 else row.many}".replace(" point", " chunk")


def _how_questions_fail(report: ValidationReport, *, one: bool) -> str:
    """What all failed questions have in common; for those that could not be run only that they fail."""
    failed = [query for query in report.query_results if query.counted and query.passed is not True]
    positive = [query for query in failed if not query.query.get("negative") or query.passed is None]
    if failed and not positive:
        return "is off-topic but answered anyway" if one else "are off-topic but answered anyway"
    conditions = [set(query.failed_conditions) for query in positive] if len(positive) == len(failed) else []
    if conditions and all(names & {"url", "results", "nothing returned"} for names in conditions):
        return "does not find its page" if one else "do not find their page"
    if conditions and all(names & {"url", "results", "module", "chapter", "nothing returned"} for names in conditions):
        return "does not find its part of the site" if one else "do not find their part of the site"
    if conditions and all(names == {"score"} for names in conditions):
        return "scores below its threshold" if one else "score below their threshold"
    return "fails" if one else "fail"


def _what_holds(report: ValidationReport) -> list[str]:
    """What is good about an index that fails: its pages or its query results."""
    met = {result.name for result in report.criteria if result.verdict == "met" and result.threshold is not None}
    missed = {result.name for result in report.criteria if result.verdict == "not_met"}
    told = []
    lacking = any(finding.code == NOT_CAPTURED.code for finding in report.findings)
    if "coverage" in met and "source_captured" not in missed:
        whole = "source_captured" in met and not lacking
        told.append("the pages are complete" if whole else "every page is in the index")
    if "query_pass_rate" in met:
        passed, asked = report.passed_queries or 0, report.total_queries or 0
        told.append("all test questions pass" if passed == asked else f"{passed:,} of {asked:,} test questions pass")
    return told


def _partial_pass(report: ValidationReport, required: Sequence[CriterionResult]) -> str:
    met = "it is met" if len(required) == 1 else "all are met"
    return f"{_only_selected(report)}, and {met}: {', '.join(criterion_name(result.name) for result in required)}"


def _beside_a_pass(report: ValidationReport) -> str:
    """What remains after a pass: the number of errors and warnings, and the first of them."""
    counts = count_by_severity(report.findings)
    loud = [finding for finding in by_level(finding_tree(report.findings)) if finding.severity != "info"]
    if not loud:
        return ""
    # Errors beside a pass are those that a gate tolerates, unless no gate judges them.
    tolerated = "" if counted_errors(report.findings, report.criteria) else " that the gates tolerate"
    errors = [f"{plural(counts['error'], 'error')}{tolerated}"] if counts["error"] else []
    warnings = [plural(counts["warning"], "warning")] if counts["warning"] else []
    counted, first = " and ".join([*errors, *warnings]), loud[0]
    whole, reach = _whole_of(first, report), plural(first.count, first.subject_kind)
    # A finding's pages may be out of scope, or variants of one address: not a share of the pages in scope.
    if whole is not None and first.subject_kind != "page":
        reach = f"{first.count:,} of {plural(whole, first.subject_kind)}"
    lead = ": " if len(loud) == 1 else ", among them "
    return f", with {counted}{lead}“{title_of(first.code)}” ({reach})"


def drafts_of(report: ValidationReport) -> list[QueryReport]:
    """The unconfirmed queries: they are run but not counted."""
    return [query for query in report.query_results if query.query.get("status") == "draft"]


def _unsaid(report: ValidationReport) -> str:
    """What a pass does not cover: pages without a source, query results while all test queries are drafts."""
    unsaid = []
    coverage = next((result for result in report.criteria if result.name == "coverage"), None)
    if coverage is not None and coverage.reason_code == "no_data" and not coverage.required:
        unsaid.append("pages: the suite has no source")
    drafts = drafts_of(report)
    if drafts and not any(query.counted for query in report.query_results):
        told = "its only test query is a draft" if len(drafts) == 1 else f"all {len(drafts):,} test queries are drafts"
        unsaid.append(f"answers: {told}")
    return f" It says nothing about {', and nothing about '.join(unsaid)}." if unsaid else ""


def _whole_of(finding: ReportedFinding, report: ValidationReport) -> int | None:
    """The number of the index's points, pages or queries; None for other subjects."""
    return {
        "point": report.quality_metrics.total_chunks,
        "page": report.coverage_report.total_sitemap_urls,
        "query": report.total_queries,
    }.get(finding.subject_kind)


def _only_selected(report: ValidationReport) -> str:
    """How many of the required criteria a partial run measures."""
    asked = sum(result.required and not result.excused for result in report.criteria)
    left_out = sum(result.required and result.reason_code == "not_selected" for result in report.criteria)
    verb = "was" if asked == 1 else "were"
    if not left_out:
        every = "The only required criterion" if asked == 1 else f"All {plural(asked, 'required criterion')}"
        return f"{every} {verb} selected"
    return f"Only {asked} of {plural(asked + left_out, 'required criterion')} {verb} selected"


def prevents(finding: ReportedFinding) -> str | None:
    """What a finding prevents, as in its rule."""
    rule = CATALOGUE.get(finding.code)
    return rule.prevents if rule else None


def failure_of(report: ValidationReport) -> str | None:
    """The headline's text about the failed outside system; None for other verdicts."""
    if report.verdict != "error":
        return None
    failures = [finding for finding in report.findings if prevents(finding) == "run"]
    failures = failures or [finding for finding in report.findings if finding.severity == "error"]
    return one_line(failures[0].message) if failures else "see the reasons of the criteria."


def elsewhere(report: ValidationReport) -> str | None:
    """Where the pages are, if none has its own address and most are under one other: one setting is wrong then.

    Returns:
        A clause, which also names the setting that maps one address to the other; None if they are not elsewhere.
    """
    coverage = report.coverage_report
    missing, extra = coverage.missing_urls or (), coverage.extra_urls or ()
    if coverage.indexed_urls or not missing or not extra:
        return None
    own_host = Counter(host_of(url) or "" for url in missing).most_common(1)[0][0]
    site = {_path(url) for url in missing}
    stored: dict[str, set[str]] = {}
    for url in extra:
        stored.setdefault(host_of(url) or "", set()).add(_path(url))
    moves = Counter(
        (f"{host}{_base(path, page)}", f"{own_host}{_base(page, path)}")
        for host, paths in stored.items()
        for path, page in counterparts(paths, site).items()
    )
    # Of several that explain as many pages, the shortest change.
    best = min(moves.items(), key=lambda entry: (-entry[1], len("".join(entry[0]))), default=None)
    if best is None or best[1] < 2 or 2 * best[1] < len(site):
        return None
    (there, own), found = best
    every = f"all {found:,}" if found == len(site) else f"{found:,} of {len(site):,}"
    missed = f", {len(site) - found:,} not at all" if found < len(site) else ""
    return f"{every} pages are in the index under {there} instead of {own}{missed}: {_mapped(there, own)}"


def _mapped(there: str, own: str) -> str:
    """What to do about pages under another host and base path."""
    host, own_host = (address.split("/", maxsplit=1)[0] for address in (there, own))
    if host != own_host and is_loopback_or_private(f"http://{host}"):
        return "ingest them from the public host"
    if host != own_host and is_loopback_or_private(f"http://{own_host}"):
        return "build the sitemap with the address of the public site"
    if host == own_host or "/" in there + own:
        return "correct the stored URLs, or set source.sitemap to the sitemap of the site that was ingested"
    return f"source.host_aliases: [{host}] says that both are the same site"


def _path(url: str) -> str:
    return fold_path(split_url(url).path)


def _base(path: str, end: str) -> str:
    """The part of a path before another one that it ends with; empty if it does not."""
    whole, rest = path.rstrip("/"), end.rstrip("/")
    return whole.removesuffix(rest) if whole.endswith(rest) else ""
