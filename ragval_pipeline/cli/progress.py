"""Showing a run's progress: a bar on a terminal, plain lines elsewhere, both on stderr."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from ragval_pipeline.cli.interrupts import check_interrupted
from ragval_pipeline.cli.options import is_told
from ragval_pipeline.cli.terminal import is_plain, stderr_console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

#: Seconds between two lines about the same step.
_LINE_EVERY_S = 10.0

_WORDS = {
    "sitemap_urls": "Reading the sitemap",
    "payload_snapshot": "Reading the collection",
    "page_snapshot": "Reading the pages",
    "coverage_report": "Comparing index and sitemap",
    "metadata_expectations": "Checking the metadata",
    "chunk_structure": "Checking the chunks",
    "chunk_facts": "Comparing chunks and pages",
    "content_integrity": "Judging the texts",
    "query_validation_results": "Running the test queries",
    "self_retrieval": "Searching for every page by its title",
    "traffic": "Asking the log's questions",
    "vector_health": "Checking the vectors",
    "sparse_vectors": "Checking the sparse vectors",
    "index_health": "Checking the index",
    "latency_profile": "Measuring the latency",
    "golden_set": "Reviewing the test queries",
    "quality_metrics": "Adding up",
    "regression": "Comparing with the baseline",
    "validation_report": "Writing the report",
}


def words_for(step: str) -> str:
    """What a step does, in words; an unknown one is its own name."""
    return _WORDS.get(step, step.replace("_", " ").capitalize())


@contextmanager
def showing_progress() -> Iterator[_Bars | _Lines | _Steps]:
    """Show the progress of runs in this block."""
    console = stderr_console()
    with ExitStack() as stack:
        if not is_told():
            display: _Bars | _Lines | _Steps = _Steps()
        elif console.is_terminal and not console.is_dumb_terminal:
            display = _Bars(stack.enter_context(_bar(console)))
        else:
            display = _Lines(console)
        # Imported here: importing Dagster takes a moment, and users should see output first.
        from ragval_pipeline.measuring.progress import observed_by

        stack.enter_context(observed_by(display))
        yield display


def _bar(console: Console) -> Progress:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    plain = is_plain(console)
    return Progress(
        SpinnerColumn("line" if plain else "dots"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[counted]}", markup=False, style="dim"),
        console=console,
        transient=True,
    )


class _Steps:
    """An ``orchestration.task.Observer`` with the steps begun, and their total number."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.expected = 0

    def expect(self, steps: int) -> None:
        """Set the total number of steps."""
        self.expected = steps

    def check(self) -> None:
        """End the run if an interrupt was lost."""
        check_interrupted()

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Show nothing: the log level is above INFO."""
        self.check()

    def is_new(self, step: str) -> bool:
        """Whether ``step`` begins now."""
        if step in self.begun:
            return False
        self.begun.append(step)
        return True


class _Bars(_Steps):
    """One bar over all steps, with the count of the current step."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress
        self._task = progress.add_task("Starting", total=None, counted="")

    def __call__(self, step: str, done: int, total: int | None) -> None:
        self.check()
        self.is_new(step)
        share = min(done / total, 1.0) if total else 0.0
        self._progress.update(
            self._task,
            description=words_for(step),
            completed=len(self.begun) - 1 + share,
            total=self.expected or None,
            counted=f"{done:,} of {total:,}" if total is not None and total > 1 else "",
        )


class _Lines(_Steps):
    """A line when a step begins, and occasionally one about the progress of a long step."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._last = 0.0

    def __call__(self, step: str, done: int, total: int | None) -> None:
        self.check()
        now = time.monotonic()
        if self.is_new(step):
            of = f"/{self.expected}" if self.expected >= len(self.begun) else ""
            self._line(f"[{len(self.begun)}{of}] {words_for(step)}", now)
        elif total is not None and 1 < done < total and now - self._last >= _LINE_EVERY_S:
            self._line(f"    {words_for(step)}: {done:,} of {total:,}", now)

    def _line(self, text: str, now: float) -> None:
        self._console.print(text, soft_wrap=True)
        self._last = now
