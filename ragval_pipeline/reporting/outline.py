"""Words of reports: verdicts, findings and what follows from them, the index, its languages, its ways to search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.numbers import show_spent
from ragval_pipeline.rules.rule import SEVERITIES, Severity
from ragval_pipeline.sources.stores.qdrant.facts import NONSENSE
from ragval_pipeline.suite.criteria import GROUPS, group_of
from ragval_pipeline.text.languages import NAMES
from ragval_pipeline.text.printing import percent, plural
from ragval_pipeline.validation.repair.tree import is_simulated
from ragval_pipeline.validation.report import ANSWERED, WAYS, ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

VERDICT_SIGNS = {"pass": "✅", "fail": "❌", "error": "❌", "not_measured": "⚪"}
VERDICT_WORDS = {"pass": "Pass", "fail": "Fail", "not_measured": "Not measured", "error": "Error"}
PARTIAL = " (partial)"


def reason_of(result: CriterionResult) -> str:
    """Why a criterion has its verdict, without what its position in the report already says."""
    reason = result.cause
    return "" if reason == "no gate" else reason.removesuffix("; no gate")


def following(finding: ReportedFinding) -> tuple[int, str]:
    """How many subjects follow from the parent finding, and a sentence about the causes of the others.

    Returns:
        Their number, and a sentence: "1 of 3 follows from vector.zero, 2 from coverage.missing_page."; empty if all
        follow from the parent. Joint causes are mentioned: "2 follow from vector.zero, 1 of them together with
        chunk.stale_tail."
    """
    cause, counts = finding.because, finding.causes
    following = counts.get(cause or "", finding.count)
    others = [f"{count:,} from {code}" for code, count in counts.items() if cause in counts and code != cause]
    others += [f"{count:,} of them together with {code}" for code, count in finding.joint_causes.items()]
    if cause is None or not others:
        return following, ""
    of = f" of {finding.count:,}" if following < finding.count else ""
    return following, ", ".join(
        [f"{following:,}{of} {'follows' if following == 1 else 'follow'} from {cause}", *others]
    ) + "."


def own_first(finding: ReportedFinding) -> list[str]:
    """The subjects in the report: those without a cause first, and of these the most affected."""
    names = dict.fromkeys((*finding.worst, *finding.subjects))
    return sorted(names, key=lambda name: finding.subject(name).because is not None)


def would_change(finding: ReportedFinding) -> str:
    """What repairing a finding would clear and break, as far as simulated; empty if nothing."""
    told = [
        f"{_how_many(len(cleared.names), cleared.of)} {CATALOGUE[code].simulated_as}"
        if cleared.of > 1
        else f"the {_one(code)}"
        for code, cleared in finding.would_clear.items()
        if is_simulated(code)
    ]
    *most, last = told or [""]
    changes = [f"clear {', '.join(most)}{' and ' if most else ''}{last}"] if told else []
    if broken := finding.would_break:
        changes.append(f"break {len(broken.names):,} of the {broken.of:,} queries that pass now")
    return f"Would {', but '.join(changes)} (simulated)." if changes else ""


def _how_many(some: int, of: int) -> str:
    """``2 of the 3``, ``both`` or ``all 3``, before a plural."""
    if some < of:
        return f"{some:,} of the {of:,}"
    return "both" if of == 2 else f"all {of:,}"


def _one(code: str) -> str:
    return CATALOGUE[code].simulated_as.replace("queries", "query").replace("metrics", "metric").removesuffix("s")


def verdict_words(report: ValidationReport) -> str:
    """The verdict in words; mentions if only some groups were run."""
    return VERDICT_WORDS[report.verdict] + (PARTIAL if is_partial(groups_of_report(report)) else "")


def title_of(code: str) -> str:
    """The title of a finding."""
    known = CATALOGUE.get(code)
    return known.title if known else code


def spent_words(report: ValidationReport) -> str:
    """The cost of embedding for providers that count tokens or money, and of reranking; empty without."""
    cost = report.cost
    found = []
    if cost.embedding_calls and not (cost.usd == 0.0 and cost.prices_of is None):
        found.append(show_spent(cost.embedding_calls, cost.billed_tokens, cost.usd, cost.prices_of))
    if cost.rerank_calls:
        billed = "" if cost.rerank_searches is None else f" ({cost.rerank_searches:,.0f} searches billed)"
        found.append(f"{plural(cost.rerank_calls, 'call')} of the reranker{billed}")
    return ", ".join(found)


def index_words(report: ValidationReport) -> list[str]:
    """That texts are nonsense; each sparse vector of the collection: its name, what it holds, in how many points."""
    nonsense = [f"A redacted file: {NONSENSE}"] if report.index.get("redacted") else []
    return nonsense + [
        f"sparse vector {each['name']} ({_WEIGHTS.get(each['model'], each['model'] or 'model not known')}"
        f"{', with IDF' if each['idf'] else ''}) in {each['points'] - each['missing'] - each['empty']:,} of "
        f"{each['points']:,} points"
        for each in report.index.get("sparse") or ()
        if "points" in each
    ]


#: Languages named.
_LANGUAGES = 5


def language_words(report: ValidationReport) -> list[str]:
    """The languages of an index; nothing about one whose only language its model was trained for."""
    languages = report.index.get("languages") or {}
    pages, trained = languages.get("pages") or {}, languages.get("trained_for") or ()
    foreign = [code for code in pages if trained and code not in trained]
    other = languages.get("other_points") or ()
    if len(pages) < 2 and not foreign and not other:
        return []
    named = [f"{NAMES.get(code, code)} ({count:,})" for code, count in pages.items()]
    parts = [f"Pages in {', '.join(named[:_LANGUAGES])}{', ...' if len(named) > _LANGUAGES else ''}"]
    if foreign:
        model = report.environment.get("embedding_model")
        parts.append(f"{model} was trained for {', '.join(NAMES.get(code, code) for code in trained)} alone")
    if mixed := languages.get("mixed_points"):
        parts.append(f"{plural(len(mixed), 'chunk')} in several languages, of up to five looked at on each page")
    if other:
        parts.append(f"{plural(len(other), 'chunk')} in another language than most of their page")
    return ["; ".join(parts)]


def mode_words(report: ValidationReport) -> list[str]:
    """How many questions each other way to search answers, and the judged one; and which ways were not compared."""
    found = []
    for mode, values in report.retrieval_metrics.by_mode.items():
        if (answered := values.get(ANSWERED)) is not None:
            other, own = (round(share * answered.n) for share in (answered.value, answered.value - answered.difference))
            told = f"{WAYS.get(mode, mode)} answers {other:,} of {plural(answered.n, 'question')}, your search {own:,}"
            found.append(f"{told[:1].upper()}{told[1:]}")
    for mode, reason in report.retrieval_metrics.not_compared.items():
        told = f"{WAYS.get(mode, mode).rstrip(',')} was not compared: {reason.rstrip('.')}"
        found.append(f"{told[:1].upper()}{told[1:]}")
    return found


def traffic_rows(report: ValidationReport) -> list[tuple[str, str]]:
    """The numbers of the log of real questions with their names; nothing without a log."""
    traffic = report.traffic
    if traffic is None:
        return []
    share = traffic.confident_share
    rows = [
        ("questions", f"{traffic.questions:,g} in {plural(traffic.wordings, 'wording')}"),
        ("topics searched for", f"{traffic.asked:,}, {percent(traffic.asked_share)} of the questions"),
        ("not searched for", traffic.stopped or ""),
        ("with a confident page", "-" if share is None else percent(share)),
        ("refused by test queries", percent(traffic.refused_share) if traffic.refused_share else ""),
        (
            "asked by no test query",
            f"{plural(traffic.not_in_queries, 'topic')}, {percent(traffic.not_in_queries_share)}",
        ),
        ("pages that none returns", f"{traffic.unread_count:,} of {traffic.pages:,}"),
        ("changed since the run before", "" if traffic.drift is None else percent(traffic.drift)),
        ("asked more", "; ".join(traffic.asked_more)),
        ("asked less", "; ".join(traffic.asked_less)),
        ("personal data masked", ", ".join(f"{count:,} {kind}" for kind, count in traffic.masked.items())),
        ("decided by", traffic.decided_by),
    ]
    return [(name, text) for name, text in rows if text]


def traffic_words(report: ValidationReport) -> list[str]:
    """How much of the log of real questions is answered, and what test queries leave out; nothing without a log."""
    traffic = report.traffic
    if traffic is None or traffic.confident_share is None:
        return []
    asked = plural(round(traffic.questions), "real question")
    told = [f"{percent(traffic.confident_share)} of {asked} have a confident page"]
    if traffic.not_in_queries:
        told.append(f"{percent(traffic.not_in_queries_share)} are asked by no test query")
    if traffic.drift is not None:
        told.append(f"{percent(traffic.drift)} changed since the run before")
    if traffic.stopped:
        told.append(f"{percent(1 - traffic.asked_share)} not searched for: {traffic.stopped}")
    return ["; ".join(told)]


#: What the numbers of sparse vectors are, in words.
_WEIGHTS = {"bm25": "BM25", "counts": "counts of words"}


def count_by_severity(findings: Iterable[ReportedFinding]) -> dict[Severity, int]:
    """Number of findings of each severity."""
    counts: dict[Severity, int] = dict.fromkeys(SEVERITIES, 0)
    for finding in findings:
        counts[finding.severity] += 1
    return counts


def measured_groups(groups: Sequence[str] | None, criteria: Iterable[CriterionResult]) -> frozenset[str]:
    """The groups that a run measured.

    Args:
        groups: From its report; None: all, or a report of an earlier version without groups.
        criteria: Its criteria, which imply the groups of such an earlier report, except one without criteria (chunks).
    """
    if groups is not None:
        return frozenset(groups)
    known = list(criteria)
    selected = [result for result in known if result.reason_code != "not_selected"]
    if len(selected) == len(known):
        return frozenset(GROUPS)
    return frozenset(group for result in selected if (group := group_of(result.name)) is not None)


def groups_of_report(report: ValidationReport) -> frozenset[str]:
    """The groups measured by the run of a report."""
    return measured_groups(report.groups, report.criteria)


def is_partial(groups: frozenset[str]) -> bool:
    """Whether some groups were not run."""
    return groups != frozenset(GROUPS)
