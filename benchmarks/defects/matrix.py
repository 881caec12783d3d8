"""One cell of the matrix: a defect, or two, planted in a fresh copy of a corpus, and the run held to it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.testing.defects import Amount, Corpus, Defect, Outcome, Planted, clean, judge, resources_of
from ragval_pipeline.testing.defects.verify import Seen


@dataclass(frozen=True)
class Row:
    """What one run showed.

    Args:
        names: Of the planted defects; empty for a clean corpus.
        corpus: Name of the corpus.
        amount: How much was planted; ``-`` for a clean corpus.
        outcomes: One for each planted defect.
        problems: Everything that is not as declared.
        cpu_s: Processor seconds of planting, writing and validating.
        wall_s: The same on the clock.
        refused: Why the defect cannot be planted in this corpus; None: it was.
    """

    names: tuple[str, ...]
    corpus: str
    amount: str
    outcomes: tuple[Outcome, ...]
    problems: tuple[str, ...]
    cpu_s: float
    wall_s: float
    refused: str | None = None


def run_cell(
    name: str,
    base: Corpus,
    defects: Sequence[Defect] = (),
    amount: Amount | None = None,
    *,
    before: Seen | None = None,
) -> Row:
    """Plant defects beside each other in a copy of a corpus, validate it, and compare.

    Args:
        name: Of the corpus.
        base: The corpus, clean; it is not changed.
        defects: What to plant; nothing: the corpus has to stay silent.
        amount: How much of each; null: the first amount at which each is planted.
        before: What a run of the clean corpus named, if it is not silent.
    """
    refused = None
    outcomes: list[Outcome] = []
    problems: list[str] = []
    cpu, wall = time.process_time(), time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="ragval-defects-"))
    try:
        corpus = base.copy_to(folder)
        if any(defect.needs_baseline for defect in defects):
            validate(corpus)
        planted: list[Planted] = [defect.plant_in(corpus, amount or defect.amounts[0]) for defect in defects]
        report, run_folder = validate(corpus)
        outcomes = judge(planted, report, folder=run_folder, before=before) if planted else []
        problems = [problem for outcome in outcomes for problem in outcome.problems] if planted else clean(report)
    except NothingToSpoilError as error:
        refused = f"cannot be planted here: {error}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Row(
        tuple(defect.name for defect in defects),
        name,
        str(amount or "first") if defects else "-",
        tuple(outcomes),
        tuple(dict.fromkeys(problems)),
        time.process_time() - cpu,
        time.monotonic() - wall,
        refused,
    )


def seen_in(base: Corpus) -> Seen:
    """What a run of a clean corpus names."""
    with tempfile.TemporaryDirectory(prefix="ragval-defects-") as folder:
        return Seen(*validate(base.copy_to(Path(folder))))


def validate(corpus: Corpus) -> tuple[Any, str]:
    """Write a corpus and validate it in this process: the report and the folder of the run."""
    finished = run_suite(load_suite(corpus.write()), resources=resources_of(corpus.services))
    return finished.report, finished.folder
