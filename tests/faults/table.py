"""The table of faults: what goes wrong, where, and how a run must end. ``python -m benchmarks.faults`` prints it."""

from __future__ import annotations

import importlib
import signal
import tempfile
from functools import cache
from pathlib import Path

from tests.faults import rows_embedder, rows_qdrant, rows_run, rows_site, rows_suite
from tests.faults.fault import Fault
from tests.faults.stage import Seen, run, staged

ROWS: list[Fault] = [
    *rows_suite.ROWS, *rows_site.ROWS, *rows_qdrant.ROWS, *rows_embedder.ROWS, *rows_run.ROWS,
]  # fmt: skip


def seen_of(fault: Fault) -> Seen:
    """Run one row."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        _warm()
        with tempfile.TemporaryDirectory(prefix="ragval-fault-") as folder, staged(Path(folder)) as stage:
            fault.inject(stage)
            return run(stage, only=fault.only, arguments=fault.arguments)
    finally:
        signal.signal(signal.SIGINT, before)


@cache
def _warm() -> None:
    """A run of the sound demo, which loads what all runs share: it counts for no row.

    A process that has loaded Great Expectations starts none for it.
    """
    importlib.import_module("great_expectations")
    with tempfile.TemporaryDirectory(prefix="ragval-fault-") as folder, staged(Path(folder)) as stage:
        stage.site()
        stage.qdrant()
        seen = run(stage, only="coverage,integrity,queries")
        assert seen.code == 0, seen.told
