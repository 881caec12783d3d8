"""The levels as a Great Expectations suite: evidence, and a second count for the criterion."""

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
from ragval_pipeline.validation.payload.levels import (
    LEVELS,
    RULES,
    Level,
    PayloadLevels,
    canonical_of,
    has_value_rule,
    level_column,
    number_column,
    present_fields,
)

#: The level excluded by each kind of expectation.
_RULED_OUT: Mapping[str, Level] = {
    "present": "missing", "non_empty": "empty", "type": "wrong_type", "rule": "invalid",
}  # fmt: skip
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


def read_results(
    levels: PayloadLevels, suite: Sequence[Mapping[str, Any]], judged: Mapping[str, Any]
) -> dict[str, Any]:
    """Great Expectations' results, checked against ragval's own counts; as ``run_expectations``."""
    results = [
        {"level": asked["level"], "field": asked["field"], "severity": asked["severity"], **result}
        for asked, result in zip(suite, judged["results"], strict=True)
    ]
    _agree(levels, results)
    return {
        "engine": "great_expectations",
        "version": judged["version"],
        "success": all(result["success"] for result in results),
        "evaluated": len(results),
        "unsuccessful": sum(not result["success"] for result in results),
        "results": results,
    }


def build_expectations(
    fields: Mapping[str, str], required: Sequence[str], *, addresses: Addresses
) -> list[dict[str, Any]]:
    """The expectations as data, in the order present, non-empty, type, rule for each field.

    Presence and emptiness are ``critical`` and only for required fields; type and rule are ``warning`` and for every
    mapped field that has them.
    """
    canonical, present = canonical_of(fields), present_fields(fields, required, paged=addresses != "ids")
    suite = []
    for name in dict.fromkeys([*present, *fields.values()]):
        key = canonical.get(name)
        ruled = key is not None and has_value_rule(key, addresses=addresses)
        asked = (["present", "non_empty"] if name in present else []) + (["type"] if key else [])
        for level in asked + (["rule"] if ruled else []):
            suite.append(_expectation(name, level, RULES[key].minimum if key is not None else None))
    return suite


def _expectation(name: str, level: str, minimum: int | None) -> dict[str, Any]:
    kind, column = "ExpectColumnValuesToBeInSet", level_column(name)
    arguments: dict[str, Any] = {"value_set": [other for other in LEVELS if other != _RULED_OUT[level]]}
    if level == "rule" and minimum is not None:
        kind, column, arguments = "ExpectColumnValuesToBeBetween", number_column(name), {"min_value": minimum}
    severity = "critical" if level in {"present", "non_empty"} else "warning"
    asked = {"level": level, "field": name, "severity": severity}
    return {**asked, "type": kind, "column": column, "arguments": arguments}


def _agree(levels: PayloadLevels, results: Sequence[Mapping[str, Any]]) -> None:
    """Check that both counts are equal; expectations that raised are ignored.

    Raises:
        RuntimeError: They differ; with both figures.
    """
    for result in results:
        own = len(levels.offenders.get(_RULED_OUT[result["level"]], {}).get(result["field"], ()))
        if result["exception"] is None and (result["unexpected_count"] != own or result["success"] is not (own == 0)):
            raise RuntimeError(
                f"Great Expectations counts {result['unexpected_count']} points of {result['element_count']} for "
                f"{result['field']} ({result['level']}), ragval {own:,} of {levels.points:,}"
            )


def _ask(levels: PayloadLevels, suite: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if _judges_here() and not _LOADING:
        from ragval_pipeline.validation.payload.gx_process import judge

        return judge(levels.columns, expectations=suite, shown=SHOWN)
    asked = json.dumps({"expectations": suite, "shown": SHOWN})
    table = levels.columns.replace_schema_metadata({"asked": asked})
    process = _LOADING.pop() if _LOADING else _start()
    _ASKED.append(process.pid)
    try:
        # A dead process reads nothing; its last output says why.
        with suppress(BrokenPipeError), pa.ipc.new_stream(process.stdin, table.schema) as stream:
            stream.write_table(table)
        answer, told = process.communicate()
    finally:
        _end(process)
    if process.returncode < 0:
        raise WorkerError(
            "the process of Great Expectations was killed, most often because the machine ran out of memory",
            "Give the run more memory.",
        )
    if process.returncode:
        last = (told.decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
        raise RuntimeError(f"Great Expectations ended with {process.returncode}: {last}")
    judged: dict[str, Any] = json.loads(answer)
    return judged


def _judges_here() -> bool:
    return "great_expectations" in sys.modules or bool(_ASKED)


def _start() -> subprocess.Popen[bytes]:
    # -P: modules in the working directory must not shadow libraries.
    return subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", "-m", "ragval_pipeline.validation.payload.gx_process"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with process:  # closes its pipes and waits for it
        pass
