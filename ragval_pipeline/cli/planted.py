"""What ``ragval demo --break`` planted, and whether the run named exactly that.

What lives here: saying so. What does not: planting and comparing (``testing/defects``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.reporting.terminal_lines import SIGNS, STYLES, LinePrinter
from ragval_pipeline.suite.printing import plural

if TYPE_CHECKING:
    from rich.console import Console

    from ragval_pipeline.orchestration.run import FinishedRun
    from ragval_pipeline.testing.defects import Planted, PlantedDemo

#: Subjects that are shown of more.
_SHOWN = 5


def show_planted(spoilt: PlantedDemo, console: Console) -> None:
    """What was done to the demo, and what a run must name because of it."""
    printer = LinePrinter(console)
    printer.line((f"Planted {_name(spoilt.planted)}: ", "bold"), (spoilt.defect.describe, ""))
    printer.line((f"{_count(spoilt.planted)}: {_listed(spoilt.planted.subjects)}", ""), indent=2)


def show_outcome(planted: Planted, finished: FinishedRun, *, console: Console) -> None:
    """Whether the run named the planted defect with exactly its subjects."""
    from ragval_pipeline.testing.defects import judge

    outcome = judge([planted], finished.report, folder=finished.folder)[0]
    exact = outcome.recall == outcome.precision == 1.0
    looks = "pass" if exact else "fail"
    if exact:
        said = f"named with exactly the planted {_count(planted)}."
    elif outcome.place is None:
        said = "not named."
    else:
        hit = round(outcome.recall * len(planted.subjects))
        said = f"named for {hit} of the planted {_count(planted)} and for {plural(outcome.named - hit, 'other')}."
    printer = LinePrinter(console)
    printer.line()
    printer.line((f"{SIGNS[looks]} Planted {_name(planted)}: ", STYLES[looks]), (said, ""))


def _name(planted: Planted) -> str:
    return planted.code if planted.scope is None else f"{planted.code} ({planted.scope})"


def _count(planted: Planted) -> str:
    return plural(len(planted.subjects), CATALOGUE[planted.code].subject_kind)


def _listed(subjects: Iterable[str]) -> str:
    names = sorted(subjects)
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
