"""One cell of the matrix: a defect, or two, planted in a fresh copy of a corpus, and the run held to it.

What lives here: planting, running, timing. What does not: which cells there are and how they are shown (``__main__``).
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragval_pipeline.demo.defects import Amount, Corpus, Defect, Outcome, Planted, clean, judge, resources_of
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.suite.load import load_suite


@dataclass(frozen=True)
class Row:
    """What one run showed.

    Args:
        corpus: Name of the corpus.
        amount: How much was planted.
        outcomes: One for each planted defect; empty for a clean corpus.
        problems: Everything that is not as declared.
        cpu_s: Processor seconds of planting, writing and validating.
        wall_s: The same on the clock.
    """

    corpus: str
    amount: str
    outcomes: tuple[Outcome, ...]
    problems: tuple[str, ...]
    cpu_s: float
    wall_s: float


def validate(corpus: Corpus) -> tuple[Any, str]:
    """Write a corpus and validate it in this process: the report and the folder of the run."""
    finished = run_suite(load_suite(corpus.write()), resources=resources_of(corpus.services))
    return finished.report, finished.folder


def run_clean(name: str, base: Corpus) -> Row:
    """The corpus with nothing planted."""
    return _run(name, base, [], Amount(count=0))


def run_planted(name: str, base: Corpus, defects: Sequence[Defect], amount: Amount) -> Row:
    """The corpus with one defect, or several beside each other."""
    return _run(name, base, defects, amount)


def _run(name: str, base: Corpus, defects: Sequence[Defect], amount: Amount) -> Row:
    cpu, wall = time.process_time(), time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="ragval-defects-"))
    try:
        corpus = base.copy_to(folder)
        planted: list[Planted] = [defect.plant_in(corpus, amount) for defect in defects]
        report, run_folder = validate(corpus)
        outcomes = judge(planted, report, folder=run_folder) if planted else []
        problems = [problem for outcome in outcomes for problem in outcome.problems] if planted else clean(report)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Row(
        name,
        str(amount) if defects else "-",
        tuple(outcomes),
        tuple(dict.fromkeys(problems)),
        time.process_time() - cpu,
        time.monotonic() - wall,
    )
