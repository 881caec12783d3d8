"""Keeping as many runs as the suite asks for: the oldest go, whole or not at all, and never the baseline."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.sources.history.kept_runs import REPORT, KeptRun, kept_runs
from ragval_pipeline.sources.storage.place import local_path

if TYPE_CHECKING:
    from upath import UPath

logger = logging.getLogger(__name__)


def surplus(runs: Sequence[KeptRun], *, keep: int, spared: Collection[str]) -> list[KeptRun]:
    """The runs that have to go, oldest first.

    Args:
        runs: All runs, oldest first.
        keep: How many are kept; spared ones count.
        spared: Names of folders that are never removed.
    """
    too_many = max(len(runs) - keep, 0)
    return [run for run in runs[: len(runs) - 1] if run.name not in spared][:too_many]


def remove_surplus(base: UPath, *, keep: int, spared: Collection[str]) -> list[str]:
    """Remove the oldest runs below ``base``; a run that cannot be removed stays, with a warning in the log.

    Args:
        base: Where the suite's runs are.
        keep: How many are kept. The newest is always kept.
        spared: Names of folders that are never removed.

    Returns:
        Names of the removed runs.

    Raises:
        HistoryNotReadError: The folder cannot be read.
    """
    removed = []
    for run in surplus(kept_runs(base), keep=keep, spared=spared):
        try:
            _remove(run.folder)
        except OSError as error:
            logger.warning("the run %s was not removed: %s", run.name, error)
        else:
            removed.append(run.name)
    return removed


def _remove(folder: UPath) -> None:
    """Remove a run in two steps, the first of which takes it out of the history.

    On the local disk it is renamed to a name that nobody reads; elsewhere its report goes first, without which a
    folder is no run. What a cut-short second step leaves is gone with the next run's clean-up on the local disk.
    """
    path = local_path(folder)
    if path is None:
        (folder / REPORT).unlink(missing_ok=True)
        folder.fs.rm(folder.path, recursive=True)
        return
    import shutil

    for leftover in path.parent.glob(".*.removed"):
        shutil.rmtree(leftover, ignore_errors=True)
    hidden = path.with_name(f".{path.name}.removed")
    path.rename(hidden)
    shutil.rmtree(hidden)
