"""What ``ragval history`` prints, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.reporting.history.model import RunHistory, RunPoint
from ragval_pipeline.reporting.numbers import show_measured
from ragval_pipeline.reporting.outline import PARTIAL, VERDICT_WORDS, is_partial
from ragval_pipeline.reporting.terminal.lines import LinePrinter
from ragval_pipeline.suite.printing import plural

if TYPE_CHECKING:
    from rich.console import Console


STYLES = {"pass": "green", "fail": "red", "error": "red", "not_measured": "yellow"}


def render_history(history: RunHistory, console: Console, *, plain: bool, total: int) -> None:
    """Print the runs, newest first, and each criterion as a sparkline, oldest left.

    Args:
        history: The runs to show.
        console: Where to print.
        plain: Whether the console has no more than the usual letters.
        total: Runs that are kept, shown or not.
    """
    printer = LinePrinter(console)
    shown = "" if total == len(history.runs) else f", the newest {len(history.runs)} shown"
    printer.line((plural(total, "run"), "bold"), (shown, "dim"))
    width = max((len(_words(run)) for run in history.runs), default=0)
    for run in reversed(history.runs):
        _run(printer, run, history.baseline, width)
    printer.line()
    names = history.criteria()
    width = max(map(len, names), default=0)
    for name in names:
        _criterion(printer, history, name, width, plain=plain)


def history_json(history: RunHistory, suite: str) -> dict[str, Any]:
    """The runs as JSON values, oldest first."""
    return {
        "suite": suite,
        "baseline": history.baseline,
        "runs": [
            {
                "name": run.name,
                "run_id": run.run_id,
                "timestamp": run.timestamp,
                "verdict": run.verdict,
                "partial": is_partial(run.groups),
                "collection_name": run.collection_name,
                "baseline": run.name == history.baseline,
                "criteria": {name: result.model_dump() for name, result in run.criteria.items()},
            }
            for run in history.runs
        ],
    }


def _run(printer: LinePrinter, run: RunPoint, baseline: str | None, width: int) -> None:
    missed = [name for name, result in run.criteria.items() if result.gate_fails]
    notes = [*(["baseline"] if run.name == baseline else []), *([", ".join(missed)] if missed else [])]
    printer.line((f"{_words(run):{width}}  ", STYLES[run.verdict]), ("; ".join(notes), "dim"), lead=f"  {run.name}  ")


def _words(run: RunPoint) -> str:
    return VERDICT_WORDS[run.verdict] + (PARTIAL if is_partial(run.groups) else "")


def _criterion(printer: LinePrinter, history: RunHistory, name: str, width: int, *, plain: bool) -> None:
    values = history.values(name)
    known = [value for value in values if value is not None]
    now = show_measured(name, values[-1])
    span = f"  ({show_measured(name, min(known))} to {show_measured(name, max(known))})" if len(set(known)) > 1 else ""
    line = sparkline(values, plain=plain)
    printer.line((line, "cyan"), (f"  {now}", "bold"), (span, "dim"), lead=f"  {name:{width}}  ", wrap=False)


BARS = "▁▂▃▄▅▆▇█"
#: For streams that have no more than the usual letters.
PLAIN_BARS = "_.,:=+*#"
GAP, PLAIN_GAP = "·", "-"


def sparkline(values: Sequence[float | None], *, plain: bool = False) -> str:
    """One character a value, the lowest bar for the lowest value; a dot where there is none.

    Values that are all the same stand in the middle: a line that does not move is neither high nor low.
    """
    bars, gap = (PLAIN_BARS, PLAIN_GAP) if plain else (BARS, GAP)
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    span = high - low
    middle = (len(bars) - 1) // 2
    return "".join(
        gap if value is None else bars[round((value - low) / span * (len(bars) - 1))] if span else bars[middle]
        for value in values
    )
