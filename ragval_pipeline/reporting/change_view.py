"""Changes since the last run, as shown in report.html and summary.md."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ragval_pipeline.reporting.history.model import CriterionChange, FindingChange, RunChanges
from ragval_pipeline.reporting.numbers import show_measured, unit_of
from ragval_pipeline.reporting.outline import VERDICT_WORDS, title_of
from ragval_pipeline.suite.criteria import criterion_name, criterion_of
from ragval_pipeline.text.printing import plural

#: Criteria and findings listed; the rest is counted.
MOST_NAMED = 4


@dataclass(frozen=True)
class Change:
    """One line: its style (``good``, ``bad``, ``warning``, ``plain``), subject and change."""

    tone: str
    subject: str
    text: str
    queries: Sequence[str] = ()


@dataclass(frozen=True)
class ChangeView:
    """The changes.

    Attributes:
        since: Name of the earlier run's folder.
        timestamp: When it ended, UTC.
        lines: The changes, verdicts and losses first.
        more: Number of further changes.
    """

    since: str
    timestamp: str
    lines: list[Change]
    more: int


def change_view(changes: RunChanges | None) -> ChangeView | None:
    """The changes as lines; None if there is no earlier run."""
    if changes is None:
        return None
    criteria = _told_once(sorted((change for change in changes.criteria if _is_news(change)), key=_weight))
    found = [*(_criterion(*each) for each in criteria[:MOST_NAMED]), *map(_finding, changes.findings[:MOST_NAMED])]
    more = max(len(criteria) - MOST_NAMED, 0) + max(len(changes.findings) - MOST_NAMED, 0)
    return ChangeView(changes.since, changes.timestamp, [*whole_changes(changes), *found], more)


def whole_changes(changes: RunChanges) -> list[Change]:
    """Changes of the run as a whole, its queries and its corpus."""
    lines = []
    if changes.verdict_before != changes.verdict_after:
        words = VERDICT_WORDS[changes.verdict_before], VERDICT_WORDS[changes.verdict_after]
        tone = {"pass": "good", "fail": "bad", "error": "bad"}.get(changes.verdict_after, "plain")
        lines.append(Change(tone, "verdict", f"{words[0]} → {words[1]}"))
    if changes.collections:
        lines.append(Change("plain", "collection", " → ".join(changes.collections)))
    kinds: tuple[tuple[str, str, Collection[str], str], ...] = (
        ("bad", "query", changes.queries_lost, "passed before, failed now"),
        ("good", "query", changes.queries_won, "failed before, passed now"),
        ("plain", "query", changes.queries_set_aside, _aside(changes.queries_set_aside)),
        ("bad", "page", changes.pages_missing, "lost from the index"),
        ("good", "page", changes.pages_indexed, "newly indexed"),
    )
    for tone, noun, names, text in kinds:
        if names:
            lines.append(Change(tone, plural(len(names), noun), text, list(names) if noun == "query" else ()))
    if changes.chunks_before != changes.chunks_after:
        lines.append(Change("plain", "chunks", f"{_count(changes.chunks_before)} → {_count(changes.chunks_after)}"))
    return lines


def change_sentence(changes: RunChanges) -> str:
    """The changes in one sentence: what is new among findings, what questions and pages were lost and won."""
    new = [change for change in changes.findings if change.is_new]
    grown = [change for change in changes.findings if change.new and not change.is_new]
    gone = [change for change in changes.findings if change.is_better]
    parts = [f"new: {title_of(change.code)} ({change.after:,})" for change in new[:2]]
    if len(new) > len(parts):
        parts.append(f"{len(new) - len(parts):,} more new")
    counts = (
        (len(grown), "finding", "with new subjects"),
        (len(gone), "finding", "gone or smaller"),
        (len(changes.queries_lost), "question", "lost"),
        (len(changes.queries_won), "question", "won"),
        (len(changes.pages_missing), "page", "lost"),
        (len(changes.pages_indexed), "page", "won"),
    )
    parts += [f"{plural(count, noun)} {words}" for count, noun, words in counts if count]
    if not parts:
        return "No finding, question or page differs."
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _aside(found: Mapping[str, str]) -> str:
    """Changes of queries that are no longer comparable."""
    kinds = sorted(set(found.values()))
    return f"not compared: {kinds[0]}" if len(kinds) == 1 else "not compared: their text or requirements have changed"


def _is_news(change: CriterionChange) -> bool:
    if change.before is None and change.after is None:
        return False
    if criterion_change(change)[1]:
        return True
    shown = show_measured(change.name, change.before), show_measured(change.name, change.after)
    # Times differ from run to run: they are shown only if their verdict changes.
    return unit_of(change.name) != "milliseconds" and shown[0] != shown[1]


def criterion_change(change: CriterionChange) -> tuple[str, str]:
    """The style of a criterion that differs, and what became of it if it is a gate: ``now not met``; else empty."""
    shown = show_measured(change.name, change.before), show_measured(change.name, change.after)
    tone = "plain" if change.better is None or shown[0] == shown[1] else "good" if change.better else "bad"
    if change.verdict_before == change.verdict_after:
        return tone, ""
    if change.verdict_after is None:
        return tone, "no longer a criterion"
    return tone, f"now {change.verdict_after.replace('_', ' ')}" if change.is_gate else ""


def finding_tone(change: FindingChange) -> str:
    """The style of a finding that differs."""
    return "good" if change.is_better else {"error": "bad", "warning": "warning"}.get(change.severity, "plain")


def _weight(change: CriterionChange) -> tuple[bool, bool]:
    """Changed gates first, then what got worse."""
    return not criterion_change(change)[1], change.better is not False


def _told_once(criteria: Sequence[CriterionChange]) -> list[tuple[CriterionChange, int]]:
    """The changes, figures of the same questions as one; with each, how many more it stands for."""
    first: dict[tuple[str, str], str] = {}
    found: dict[str, tuple[CriterionChange, int]] = {}
    for change in criteria:
        criterion, (tone, verdict) = criterion_of(change.name), criterion_change(change)
        name = change.name
        if criterion is not None and criterion.counts_answers and not verdict:
            name = first.setdefault((tone, criterion.partition or ""), name)
        known, more = found.get(name, (change, -1))
        found[name] = known, more + 1
    return list(found.values())


def _criterion(change: CriterionChange, more: int) -> Change:
    before, after = show_measured(change.name, change.before), show_measured(change.name, change.after)
    tone, verdict = criterion_change(change)
    if change.before is None and change.after is not None:
        return Change(tone, criterion_name(change.name), f"measured now: {after}")
    if change.after is None:
        return Change(tone, criterion_name(change.name), f"was {before}, not measured now")
    others = f", and {plural(more, 'more figure')} of the same questions" if more else ""
    return Change(tone, criterion_name(change.name), f"{before} → {after}{verdict and f', {verdict}'}{others}")


def _finding(change: FindingChange) -> Change:
    scope = f" ({change.scope})" if change.scope else ""
    return Change(finding_tone(change), f"{title_of(change.code)}{scope}", change.words)


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
