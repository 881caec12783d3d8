"""The folders of a run: its report, its evidence, its working files; and what killed runs left there."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from upath import UPath


logger = logging.getLogger(__name__)

A_DAY_S = 86_400
#: Dagster believes a killed run at work for ever unless it monitors runs, and a live one may wait between its steps.
DEAD_AFTER_S = 7 * A_DAY_S


@dataclass(frozen=True)
class RunPlace:
    """One run of one suite.

    Attributes:
        run_id: Dagster's run id.
        started: When it began, aware UTC.
        base: ``<report_uri>/<suite>``.
        tags: The run's tags.
        scratch: Folder of the working files of runs.
    """

    run_id: str
    started: datetime
    base: UPath
    tags: Mapping[str, str]
    scratch: UPath

    @property
    def folder(self) -> UPath:
        """Folder of the run's report."""
        from ragval_pipeline.reporting.files.folder import run_folder_name

        return self.base / run_folder_name(self.started, self.run_id)

    def kept(self, evidence: str) -> UPath:
        """Final folder of the parts of ``payload``, ``pages`` or ``facts``."""
        return self.folder / "evidence" / evidence

    def staged(self, evidence: str) -> UPath:
        """Folder of the parts of ``payload``, ``pages`` or ``facts`` until the report is written."""
        return self.work / evidence

    @property
    def work(self) -> UPath:
        """Folder of files needed only until the run ends."""
        return self.scratch / self.run_id

    @contextmanager
    def working(self) -> Iterator[None]:
        """Remove the working files at the end."""
        try:
            yield
        finally:
            with suppress(OSError):  # the next run removes them
                remove_tree(self.work)
                self.remove_scratch()

    def remove_scratch(self) -> None:
        """Remove the folders of working files that are empty."""
        inside_base = self.scratch.parent == self.base
        for folder in (self.scratch,) if inside_base else (self.scratch, self.scratch.parent):
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()


def scratch_of(base: UPath, *, shared: bool) -> UPath:
    """The folder of working files, which are read many times before the report is written.

    Beside the reports if these are on this machine, else in its folder for temporary files: each of their small reads
    is a request to an object store. ``shared``: other machines read them, too.
    """
    from upath import UPath

    from ragval_pipeline.sources.storage import local_path

    if shared or local_path(base) is not None:
        return base / ".work"
    # A folder that other users of the machine made could not be written.
    user = getattr(os, "getuid", str)()
    return UPath(tempfile.gettempdir()) / f"ragval-{user}" / hashlib.sha256(str(base).encode()).hexdigest()[:16]


def purge_abandoned(place: RunPlace, has_ended: Callable[[str], bool | None]) -> None:
    """Remove what killed runs left: working files, and half-written files.

    They are removed at once if the run has ended, or if it is known that no process is writing them; else after a day,
    or, of a run that is believed to be at work, after a week. ``has_ended`` tells of a run id, None: not known.
    """
    for partial in _half_written(place.base):
        if _is_orphaned(partial) or _untouched(partial, A_DAY_S):
            remove_tree(partial)
        else:
            logger.info("%s is incomplete: another run is in progress, or was killed less than a day ago", partial)
    work = place.work.parent
    if not work.exists():
        return
    for folder in work.iterdir():
        try:
            if folder.name != place.run_id and _is_abandoned(folder, has_ended):
                remove_tree(folder)
        except OSError as error:  # another run may be removing it
            logger.info("left-over working files were not removed: %s", error)


def _half_written(base: UPath) -> list[UPath]:
    """Half-written folders of reports and caches."""
    from ragval_pipeline.sources.history import half_kept, reading_from

    patterns = (".*.partial", ".cache/.*.partial", ".cache/**/.*.partial")
    with reading_from(base):
        if not base.exists():
            return []
        found = {str(path): path for pattern in patterns for path in base.glob(pattern)}
    return [*found.values(), *half_kept(base)]


def _is_orphaned(partial: UPath) -> bool:
    from ragval_pipeline.sources.storage import local_path, remove_if_orphaned

    path = local_path(partial)
    return path is not None and remove_if_orphaned(path)


def _is_abandoned(folder: UPath, has_ended: Callable[[str], bool | None]) -> bool:
    ended = has_ended(folder.name)
    if ended is None:  # of another instance, and perhaps at work
        return _untouched(folder, A_DAY_S)
    return ended or _untouched(folder, DEAD_AFTER_S)


def _untouched(folder: UPath, seconds: float) -> bool:
    """Whether nothing inside was written for so long; false if the filesystem has no times."""
    # Folders of object stores have no times.
    times = [file.stat().st_mtime for file in folder.rglob("*") if file.is_file()] or [folder.stat().st_mtime]
    newest = max((time for time in times if time), default=None)
    return newest is not None and datetime.now(UTC).timestamp() - newest > seconds


def remove_tree(folder: UPath) -> None:
    """Remove a folder and its content, if it exists."""
    if folder.exists():
        folder.fs.rm(folder.path, recursive=True)
