"""The latest values of a suite's assets, and taking back what a cancelled run has put among them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ragval_pipeline.orchestration.value_files import ENDINGS

if TYPE_CHECKING:
    from upath import UPath

#: Folder of the latest values of each asset, and within a run's working files that of its own.
LATEST, VALUES = ".latest", "values"
_BEFORE = "before"


def work_folder(base: UPath, run_id: str) -> UPath:
    """Where a run keeps what it needs until its report is written."""
    return base / ".work" / run_id


def keep_latest(base: UPath, run_id: str, name: str) -> None:
    """Keep the latest value of an asset as it is before a run replaces it, on the local disk as a link.

    Args:
        base: ``<report_uri>/<suite>``.
        run_id: The run.
        name: Name of the asset.
    """
    from ragval_pipeline.sources.storage.place import local_path

    kept = local_path(work_folder(base, run_id) / _BEFORE)
    for ending in ENDINGS:
        latest = local_path(base / LATEST / f"{name}{ending}")
        if latest is None or kept is None or not latest.is_file() or (kept / latest.name).exists():
            continue
        kept.mkdir(parents=True, exist_ok=True)
        _link(latest, kept / latest.name)


def take_back_latest(base: UPath, run_id: str) -> None:
    """Put back the latest values that a run has replaced; where they were not kept, remove its own.

    Its snapshot goes with the run: what refers to it must not be found by whoever makes a single asset later.

    Args:
        base: ``<report_uri>/<suite>``.
        run_id: The run that was cancelled.
    """
    from ragval_pipeline.sources.storage.whole import write_whole

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
