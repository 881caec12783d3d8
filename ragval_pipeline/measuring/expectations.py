"""Great Expectations in a process of its own: started early, because loading takes seconds, and asked once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ragval_pipeline.findings.factory import SHOWN
from ragval_pipeline.lazy import pa
from ragval_pipeline.sources.site.inventory import Addresses
from ragval_pipeline.sources.workers import WorkerError
from ragval_pipeline.validation.payload.expectations import build_expectations, read_results
from ragval_pipeline.validation.payload.levels import PayloadLevels

#: Processes that are loading Great Expectations and have no task yet.
_LOADING: list[subprocess.Popen[bytes]] = []
#: Ids of the processes with a task.
_ASKED: list[int] = []


@contextmanager
def loading_expectations(only: Collection[str] | None = None) -> Iterator[None]:
    """Load Great Expectations in a separate process in the background, for the next ``run_expectations``.

    Nothing to do if this process has already loaded them, or an outer block has started to; a process with further
    validations loads them itself once, instead of starting a process each time.

    Args:
        only: Groups of measurements of the run: not needed without ``metadata``. None: all.
    """
    wanted = only is None or "metadata" in only
    process = _start() if wanted and not _LOADING and not _judges_here() else None
    if process is not None:
        _LOADING.append(process)
    try:
        yield
    finally:
        if process is not None and process in _LOADING:
            _LOADING.remove(process)
            _end(process)


def run_expectations(
    levels: PayloadLevels, *, fields: Mapping[str, str], required: Sequence[str], addresses: Addresses
) -> dict[str, Any]:
    """Have Great Expectations judge the same levels.

    Fields, required names and addresses as in ``derive_levels``.

    Returns:
        ``{engine, version, success, evaluated, unsuccessful, results}``; each result has ``level``, ``field``,
        ``severity``, ``expectation``, ``success``, ``unexpected_count``, ``element_count``, ``point_ids`` (the first
        ``SHOWN``) and ``exception``. Results are in suite order.

    Raises:
        RuntimeError: Great Expectations could not be run, or its counts differ.
        WorkerError: Its process was killed.
    """
    suite = build_expectations(fields, required, addresses=addresses)
    return read_results(levels, suite, _ask(levels, suite))


def _ask(levels: PayloadLevels, suite: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if _judges_here() and not _LOADING:
        from ragval_pipeline.measuring.gx_process import judge

        return judge(levels.columns, expectations=suite, shown=SHOWN)
    request = json.dumps({"expectations": suite, "shown": SHOWN})
    table = levels.columns.replace_schema_metadata({"asked": request})
    process = _LOADING.pop() if _LOADING else _start()
    _ASKED.append(process.pid)
    try:
        # A dead process reads nothing; its last output says why.
        with suppress(BrokenPipeError), pa.ipc.new_stream(process.stdin, table.schema) as stream:
            stream.write_table(table)
        answer, errors = process.communicate()
    finally:
        _end(process)
    if process.returncode < 0:
        raise WorkerError(
            "the process of Great Expectations was killed, most often because the machine ran out of memory",
            "Give the run more memory.",
        )
    if process.returncode:
        last = (errors.decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
        raise RuntimeError(f"Great Expectations ended with {process.returncode}: {last}")
    judged: dict[str, Any] = json.loads(answer)
    return judged


def _judges_here() -> bool:
    return "great_expectations" in sys.modules or bool(_ASKED)


def _start() -> subprocess.Popen[bytes]:
    # -P: modules in the working directory must not shadow libraries.
    return subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", "-m", "ragval_pipeline.measuring.gx_process"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with process:  # closes its pipes and waits for it
        pass
