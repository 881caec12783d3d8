"""The runs that a suite's folder keeps: listing them, and finding the one that a person means."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.history.failures import HistoryNotReadError, reading_from
from ragval_pipeline.sources.storage.place import open_folder
from ragval_pipeline.suite.nearest import did_you_mean

if TYPE_CHECKING:
    from upath import UPath

#: ``<UTC time>-<first 8 of run id>``: what ``run_folder_name`` makes.
_NAME = re.compile(r"\d{8}T\d{6}Z-([0-9A-Za-z_-]{1,8})")
#: What Dagster calls runs; a folder's name holds the first eight characters of it.
_RUN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
#: A shorter part of a run id could mean many runs.
_SHORTEST_ID = 4
LAST, BASELINE = "last", "baseline"
#: Files of a run that the history reads. A folder is a run when it has the first.
REPORT, FINDINGS = "validation_report.json", "findings.parquet"
#: Folder of a run that holds what every count can be checked with.
EVIDENCE = "evidence"
#: Beside the runs: which of them a person made the baseline.
BASELINE_FILE = "baseline.json"


@dataclass(frozen=True)
class KeptRun:
    """A finished run.

    Args:
        folder: Its folder.
    """

    folder: UPath

    @property
    def name(self) -> str:
        """Name of its folder."""
        return str(self.folder.name)

    @property
    def run_id_start(self) -> str:
        """The first characters of its run id."""
        match = _NAME.fullmatch(self.name)
        return match.group(1) if match else ""


def history_folder(report_uri: str, suite: str) -> UPath:
    """Where the runs of a suite are: ``<report_uri>/<suite>``."""
    return open_folder(report_uri) / suite


def kept_runs(base: UPath) -> list[KeptRun]:
    """The finished runs below ``base``, oldest first; none when the folder is not there.

    Raises:
        HistoryNotReadError: The filesystem refuses.
    """
    with reading_from(base):
        if not base.exists():
            return []
        found = [entry for entry in base.iterdir() if _NAME.fullmatch(entry.name)]
        # A folder without a report is being written, or its removal was cut short.
        return [KeptRun(folder) for folder in sorted(found, key=lambda entry: entry.name) if (folder / REPORT).exists()]


def find_run(base: UPath, wanted: str) -> KeptRun:
    """The run that a person means.

    Args:
        base: Where the suite's runs are.
        wanted: Name of its folder, its run id or the first four or more characters of it, ``last``, or ``baseline``.

    Raises:
        SuiteError: There is no such run, or it could be several.
        HistoryNotReadError: The filesystem refuses.
    """
    runs = kept_runs(base)
    if not runs:
        raise SuiteError(f"{base} holds no runs", key=wanted, remedy="Run ragval run first.")
    if wanted == LAST:
        return runs[-1]
    if wanted == BASELINE:
        blessed = blessed_run(base)
        if blessed is None:
            raise SuiteError("there is no baseline", key=wanted, remedy="Set one with ragval bless RUN.")
        wanted = blessed
    found = [run for run in runs if _is_meant(run, wanted)]
    if len(found) == 1:
        return found[0]
    names = [run.name for run in found or runs]
    if found:
        raise SuiteError(f"could be {', '.join(names)}", key=wanted, remedy="Name the folder.")
    raise SuiteError(f"there is no such run in {base}", key=wanted, remedy=did_you_mean(wanted, names))


def blessed_run(base: UPath) -> str | None:
    """Name of the folder of the blessed run; null when none is.

    Raises:
        HistoryNotReadError: The filesystem refuses, or the file is none of ragval's.
    """
    file = base / BASELINE_FILE
    with reading_from(file):
        if not file.exists():
            return None
        content = file.read_bytes()
    try:
        return str(json.loads(content)["run"])
    except (ValueError, KeyError, TypeError):
        raise HistoryNotReadError(file, "it names no run", remedy="Set the baseline again: ragval bless RUN.") from None


def _is_meant(run: KeptRun, wanted: str) -> bool:
    if run.name == wanted.rstrip("/"):
        return True
    start = run.run_id_start
    whole_id = _RUN_ID.fullmatch(wanted) is not None and wanted.startswith(start)
    return whole_id or (len(wanted) >= _SHORTEST_ID and start.startswith(wanted))
