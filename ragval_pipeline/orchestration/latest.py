"""The latest values of a suite's assets, and taking back what an interrupted run has put among them.

What lives here: keeping the values of before, and putting them back. What does not: writing and reading values
(``io_manager``), and telling that a run was interrupted (``run_end``).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ragval_pipeline.orchestration.io_manager import LATEST, VALUES, work_folder
from ragval_pipeline.orchestration.value_files import write_whole
from ragval_pipeline.reporting.place import local_path

if TYPE_CHECKING:
    from upath import UPath

_BEFORE = "before"


def keep_latest(base: UPath, run_id: str) -> None:
    """Keep the latest values as they are before a run, on the local disk as links: they are replaced, never changed.

    Args:
        base: ``<report_uri>/<suite>``.
        run_id: The run that begins.
    """
    latest, kept = local_path(base / LATEST), local_path(work_folder(base, run_id) / _BEFORE)
    if latest is None or kept is None or not latest.is_dir():
        return
    kept.mkdir(parents=True, exist_ok=True)
    for file in latest.iterdir():
        if not file.name.startswith("."):
            _link(file, kept / file.name)


def take_back_latest(base: UPath, run_id: str) -> None:
    """Put back the latest values that a run has replaced; where they were not kept, remove its own.

    Its snapshot goes with the run: what refers to it must not be found by whoever makes a single asset later.

    Args:
        base: ``<report_uri>/<suite>``.
        run_id: The run that was interrupted.
    """
    work, latest = work_folder(base, run_id), base / LATEST
    made = work / VALUES
    for own in list(made.iterdir()) if made.exists() else []:
        now, before = latest / own.name, work / _BEFORE / own.name
        # Another run may have replaced it meanwhile.
        if not now.exists() or now.read_bytes() != own.read_bytes():
            continue
        if before.exists():
            write_whole(now, before.read_bytes())
        else:
            now.unlink()
    if latest.exists() and not any(latest.iterdir()):
        latest.rmdir()


def _link(file: Path, to: Path) -> None:
    try:
        os.link(file, to)
    except OSError:  # a filesystem without links
        shutil.copyfile(file, to)
