"""One page over all suites of a report folder: how they are now, since when, and their criteria over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import SimpleNamespace
from typing import TYPE_CHECKING

from ragval_pipeline.reporting.history.model import RunHistory, RunPoint
from ragval_pipeline.reporting.html.page import environment, tone_of
from ragval_pipeline.reporting.html.plots import sparklines
from ragval_pipeline.reporting.outline import VERDICT_WORDS, is_partial
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.text.printing import plural

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragval_pipeline.validation.verdict import CriterionResult

_TONES: Mapping[str, str] = {"pass": "good", "fail": "bad", "error": "bad", "not_measured": "none"}
#: Suites by the verdict of their last whole run: what failed comes first.
_ORDER = ("fail", "error", "not_measured", "pass")
#: What a suite that does not pass has been doing.
_STREAKS = {"fail": "failing", "error": "ending in an error", "not_measured": "not measured"}


@dataclass(frozen=True)
class CriterionRow:
    """A criterion over the runs: its newest result, its line, and since when it is not met; empty if it is."""

    result: CriterionResult
    tone: str
    line: Markup | None
    since: str


@dataclass(frozen=True)
class RunRow:
    """One run: its verdict in words, the required criteria that are not met, and where its report is."""

    run: RunPoint
    words: str
    tone: str
    missed: Sequence[str]
    link: str
    is_baseline: bool


@dataclass(frozen=True)
class SuiteView:
    """A suite on the page; ``since`` says for how many runs it has not passed, empty if it passes."""

    name: str
    anchor: str
    verdict: str
    words: str
    tone: str
    since: str
    runs: Sequence[RunRow]
    criteria: Sequence[CriterionRow]


def history_page(suites: Mapping[str, RunHistory], *, place: str, link_to: Callable[[str, str], str]) -> bytes:
    """The page in UTF-8.

    Args:
        suites: The runs of each suite, at least one.
        place: Where they are kept, as shown.
        link_to: The address of the report of a suite's run, by the names of both.
    """
    views = sorted(
        (suite_view(name, history, link_to=link_to) for name, history in suites.items()),
        key=lambda view: (_ORDER.index(view.verdict), view.name),
    )
    bad = [view for view in views if view.verdict != "pass"]
    sentence = (
        f"{plural(len(bad), 'suite')} of {len(views)} {'does' if len(bad) == 1 else 'do'} not pass."
        if bad
        else f"{'The one suite passes' if len(views) == 1 else f'All {len(views)} suites pass'}."
    )
    view = SimpleNamespace(suites=views, place=place, sentence=sentence, tone=views[0].tone)
    return environment().get_template("history.html.j2").render(view=view).encode()


def suite_view(name: str, history: RunHistory, *, link_to: Callable[[str, str], str]) -> SuiteView:
    """What the page says of a suite. Its last whole run decides; without one, its last run."""
    whole = [run for run in history.runs if not is_partial(run.groups)] or list(history.runs)
    last = whole[-1]
    streak = _streak(whole, lambda run: run.verdict == "pass")
    tones = {name: tone_of(result) for name, result in last.criteria.items()}
    lines = sparklines(RunHistory(whole, history.baseline), tones)
    return SuiteView(
        name=name,
        anchor=f"suite-{name}",
        verdict=last.verdict,
        words=VERDICT_WORDS[last.verdict],
        tone=_TONES[last.verdict],
        since=_since(streak, whole, _STREAKS.get(last.verdict, "")),
        runs=[_run_row(run, history, link_to(name, run.name)) for run in reversed(history.runs)],
        criteria=_criteria(whole, lines, tones),
    )


def _criteria(runs: Sequence[RunPoint], lines: Mapping[str, Markup], tones: Mapping[str, str]) -> list[CriterionRow]:
    """Criteria of the last run that have a gate or a value, those that fail first."""
    rows = []
    for name, result in runs[-1].criteria.items():
        if result.value is None and not result.required:
            continue
        measured = [run for run in runs if name in run.criteria]
        streak = _streak(measured, lambda run, name=name: run.criteria[name].verdict == "met")  # type: ignore[misc]
        words = "not met" if result.verdict == "not_met" else "not measured"
        since = "" if result.threshold is None or result.excused else _since(streak, measured, words)
        rows.append(CriterionRow(result, tones[name], lines.get(name), since))
    order = {"bad": 0, "none": 1, "warning": 2, "good": 3}
    return sorted(rows, key=lambda row: (not row.result.required, order.get(row.tone, 4)))


def _streak(runs: Iterable[RunPoint], is_good: Callable[[RunPoint], bool]) -> list[RunPoint]:
    """The newest runs in a row that are not good, oldest first."""
    return list(takewhile(lambda run: not is_good(run), reversed(list(runs))))[::-1]


def _since(streak: Sequence[RunPoint], runs: Sequence[RunPoint], words: str) -> str:
    """For how long something is not good: "failing for 4 runs, since 2026-10-03 06:00"."""
    if not streak:
        return ""
    first = streak[0].timestamp[:16].replace("T", " ")
    if len(streak) == len(runs):
        kept = "in the one run kept" if len(runs) == 1 else f"in all {len(runs)} runs kept"
        return f"{words} {kept}, since {first} UTC or longer"
    return f"{words} for {plural(len(streak), 'run')}, since {first} UTC"


def _run_row(run: RunPoint, history: RunHistory, link: str) -> RunRow:
    partial = " (partial)" if is_partial(run.groups) else ""
    missed = [criterion_name(name) for name, result in run.criteria.items() if result.gate_fails]
    return RunRow(
        run, f"{VERDICT_WORDS[run.verdict]}{partial}", _TONES[run.verdict], missed, link, run.name == history.baseline
    )
