"""Earlier runs: finding them, reading their files, and removing surplus ones."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import RagvalError, SuiteError
from ragval_pipeline.lazy import pa, pq
from ragval_pipeline.sources.storage import (
    STORE_REMEDY,
    is_elsewhere,
    local_path,
    open_folder,
    storing,
    told_by_store,
)
from ragval_pipeline.text.json_text import parse_json
from ragval_pipeline.text.printing import did_you_mean
from ragval_pipeline.text.trec_ids import decode_id

if TYPE_CHECKING:
    from upath import UPath


class HistoryNotReadError(RagvalError):
    """An earlier run could not be read: the filesystem refuses, or the file is not ragval's."""

    exit_code = 3

    def __init__(self, where: object, problem: str, *, remedy: str = "") -> None:
        self.problem = problem
        super().__init__(f"{where}: the history could not be read: {problem}. {remedy}".rstrip())


@contextmanager
def reading_from(where: object) -> Iterator[None]:
    """Turn the errors of a filesystem into ``HistoryNotReadError``."""
    try:
        yield
    except OSError as error:
        problem = error.strerror or str(error) or type(error).__name__
        raise HistoryNotReadError(where, problem, remedy="Check report_uri.") from error
    except UnicodeDecodeError as error:
        raise HistoryNotReadError(where, "it is not UTF-8 text", remedy="Restore or remove the run.") from error
    except ImportError as error:  # fsspec: the package of a protocol is not installed
        raise HistoryNotReadError(where, str(error).rstrip(".")) from error
    except Exception as error:
        # Errors in a file's content are not the store's.
        if isinstance(error, RagvalError | ValueError) or not is_elsewhere(where):
            raise
        raise HistoryNotReadError(where, told_by_store(error), remedy=STORE_REMEDY) from error


#: ``<UTC time>-<first 8 of run id>``: what ``run_folder_name`` makes.
_NAME = re.compile(r"\d{8}T\d{6}Z-([0-9A-Za-z_-]{1,8})")
#: Dagster's run ids; a folder's name has the first eight characters.
_RUN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
#: A shorter prefix of a run id would be ambiguous.
_SHORTEST_ID = 4
LAST, BASELINE = "last", "baseline"
#: Files of a run that the history reads. A folder is a run if it has the first.
REPORT, FINDINGS = "validation_report.json", "findings.parquet"
#: Folder of a run with the evidence for every count.
EVIDENCE = "evidence"
#: The manifest of the snapshot, in the run's evidence.
SNAPSHOT = "snapshot.json"
#: Next to the runs: names the blessed baseline.
BASELINE_FILE = "baseline.json"


@dataclass(frozen=True)
class KeptRun:
    """A finished run."""

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

    @property
    def second(self) -> str:
        """When it began, from its folder's name."""
        return self.name.partition("-")[0]

    def ended(self) -> str:
        """When its report was made; empty if unknown."""
        try:
            return str(parse_json((self.folder / REPORT).read_text(encoding="utf-8"))["timestamp"])
        except (ValueError, KeyError, TypeError):  # the reader of the report reports it
            return ""


def history_folder(report_uri: str, suite: str) -> UPath:
    """Where the runs of a suite are: ``<report_uri>/<suite>``."""
    return open_folder(report_uri) / suite


def kept_histories(place: UPath) -> Iterator[tuple[str, UPath]]:
    """Every folder with finished runs below ``place``, and its name from there: a suite's, or a partition's below it.

    Raises:
        HistoryNotReadError: The filesystem refuses.
    """
    for base in _folders_in(place):
        if next(newest_runs(base), None) is not None:
            yield base.name, base
        else:
            parts = [folder for folder in _folders_in(base) if next(newest_runs(folder), None) is not None]
            yield from ((f"{base.name}/{folder.name}", folder) for folder in parts)


def _folders_in(place: UPath) -> list[UPath]:
    with reading_from(place):
        return sorted((each for each in place.iterdir() if each.is_dir()), key=str) if place.exists() else []


def kept_runs(base: UPath) -> list[KeptRun]:
    """The finished runs in ``base``, oldest first; empty if the folder does not exist.

    Raises:
        HistoryNotReadError: The filesystem refuses.
    """
    with reading_from(base):
        if not base.exists():
            return []
        runs = [run for run in _run_folders(base) if (run.folder / REPORT).exists()]
        several = {second for second, count in Counter(run.second for run in runs).items() if count > 1}
        # Runs that began in the same second are ordered by their reports.
        return sorted(runs, key=lambda run: (run.second, run.ended() if run.second in several else "", run.name))


def newest_runs(base: UPath) -> Iterator[KeptRun]:
    """The finished runs in ``base``, newest first by their names, each looked at when it is reached.

    Raises:
        HistoryNotReadError: The filesystem refuses.
    """
    with reading_from(base):
        found = sorted(_run_folders(base), key=lambda run: run.name, reverse=True) if base.exists() else []
    for run in found:
        with reading_from(run.folder):
            is_finished = (run.folder / REPORT).exists()
        if is_finished:
            yield run


def half_kept(base: UPath) -> list[UPath]:
    """Folders of runs without a report: they are being written, or writing or removing them was cut short.

    Only stores have them, where a folder does not appear or vanish as a whole.

    Raises:
        HistoryNotReadError: The store refuses.
    """
    with reading_from(base):
        if local_path(base) is not None or not base.exists():
            return []
        return [run.folder for run in _run_folders(base) if not (run.folder / REPORT).exists()]


def _run_folders(base: UPath) -> list[KeptRun]:
    return [KeptRun(entry) for entry in base.iterdir() if _NAME.fullmatch(entry.name)]


def runs_before(base: UPath, name: str, ended: str) -> list[KeptRun]:
    """The finished runs before one, oldest first, in the order of ``kept_runs``.

    ``name`` is that of its folder, which may not exist yet; ``ended`` is when its report was made.

    Raises:
        HistoryNotReadError: The filesystem refuses.
    """
    own = KeptRun(base / name)

    def place(run: KeptRun) -> tuple[str, str, str]:
        return run.second, run.ended() if run.second == own.second else "", run.name

    return [run for run in kept_runs(base) if run.name != name and place(run) < (own.second, ended, name)]


def find_run(base: UPath, wanted: str) -> KeptRun:
    """The run that a person means.

    ``wanted`` is the name of its folder, its run id or at least its first four characters, ``last``, or ``baseline``.

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
        if all(run.name != blessed for run in runs):
            problem = f"there is no such run in {base} any more, and it was the baseline"
            raise SuiteError(problem, key=blessed, remedy="Restore its folder, or set another with ragval bless RUN.")
        wanted = blessed
    matching = [run for run in runs if _is_meant(run, wanted)]
    if len(matching) == 1:
        return matching[0]
    names = [run.name for run in matching or runs]
    if matching:
        raise SuiteError(f"could be {', '.join(names)}", key=wanted, remedy="Name the folder.")
    raise SuiteError(f"there is no such run in {base}", key=wanted, remedy=did_you_mean(wanted, names))


def blessed_run(base: UPath) -> str | None:
    """Folder name of the blessed run; None if there is none.

    Raises:
        HistoryNotReadError: The filesystem refuses, or the file is not ragval's.
    """
    file = base / BASELINE_FILE
    with reading_from(file):
        if not file.exists():
            return None
        content = file.read_bytes()
    try:
        return str(parse_json(content)["run"])
    except (ValueError, KeyError, TypeError):
        raise HistoryNotReadError(file, "it names no run", remedy="Set the baseline again: ragval bless RUN.") from None


def _is_meant(run: KeptRun, wanted: str) -> bool:
    if run.name == wanted.rstrip("/"):
        return True
    start = run.run_id_start
    whole_id = _RUN_ID.fullmatch(wanted) is not None and wanted.startswith(start)
    return whole_id or (len(wanted) >= _SHORTEST_ID and start.startswith(wanted))


_CHUNK_BYTES = 64 * 1024
#: The report's fields are in model order: all that a trend needs comes before the findings.
_END_OF_HEAD = b'\n  "findings":'


def head_of_report(run: KeptRun) -> bytes:
    """The report up to its findings, as valid JSON; the whole report if its layout differs.

    Raises:
        HistoryNotReadError: It cannot be read.
    """
    content = b""
    with reading_from(run.folder / REPORT), (run.folder / REPORT).open("rb") as opened:
        while more := opened.read(_CHUNK_BYTES):
            content += more
            head, found, _ = content.partition(_END_OF_HEAD)
            if found:
                return head.rstrip().rstrip(b",") + b"\n}"
    return content


def corpus_rows(run: KeptRun, columns: Sequence[str]) -> Iterator[dict[str, Any]] | None:
    """Rows of a run's payload snapshot; None if it kept none.

    Raises:
        HistoryNotReadError: A part cannot be read; raised when it is reached.
    """
    folder = run.folder / EVIDENCE / "payload"
    with reading_from(folder):
        parts = sorted(folder.glob("*.parquet"), key=str) if folder.exists() else []
    return parquet_rows(parts, columns) if parts else None


def parquet_rows(parts: Sequence[UPath], columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Rows of some Parquet files of a run, one batch at a time.

    Raises:
        HistoryNotReadError: A file cannot be read; raised when it is reached.
    """
    for part in parts:
        with reading_from(part), part.open("rb") as file:
            try:
                for batch in pq.ParquetFile(file).iter_batches(columns=list(columns)):
                    yield from batch.to_pylist()
            except pa.ArrowInvalid as error:
                raise HistoryNotReadError(part, str(error).splitlines()[0].rstrip(".")) from None


def trec_columns(file: UPath, count: int) -> Iterator[list[str]]:
    """Lines of a TREC file as decoded columns; empty if it does not exist."""
    with reading_from(file):
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    for line in text.split("\n"):
        columns = [decode_id(column) for column in line.split(" ")]
        if len(columns) == count:
            yield columns


logger = logging.getLogger(__name__)


def remove_surplus(base: UPath, *, keep: int, spared: Collection[str]) -> list[str]:
    """Remove the oldest runs in ``base``; a run that cannot be removed stays, with a warning in the log.

    The newest run and those of ``spared`` are always kept.

    Returns:
        Names of the removed runs.

    Raises:
        HistoryNotReadError: The folder cannot be read.
    """
    runs, removed = kept_runs(base), []
    # ``keep`` counts those that are spared, too.
    surplus = [run for run in runs[:-1] if run.name not in spared][: max(len(runs) - keep, 0)]
    for run in surplus:
        try:
            _remove(run.folder)
        except OSError as error:
            logger.warning("the run %s was not removed: %s", run.name, error)
        else:
            removed.append(run.name)
    return removed


def _remove(folder: UPath) -> None:
    """Remove a run in two steps: first from the history, then from the store.

    On the local disk it is renamed to a name that is not read; elsewhere its report is removed first, without which a
    folder is not a run. Leftovers of an interrupted second step are removed by a later run's clean-up.
    """
    path = local_path(folder)
    if path is None:
        with storing(folder):
            (folder / REPORT).unlink(missing_ok=True)
            folder.fs.rm(folder.path, recursive=True)
        return
    import shutil

    for leftover in path.parent.glob(".*.removed"):
        shutil.rmtree(leftover, ignore_errors=True)
    hidden = path.with_name(f".{path.name}.removed")
    path.rename(hidden)
    shutil.rmtree(hidden)
