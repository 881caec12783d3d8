"""The levels as a Great Expectations suite: evidence, and a second count of what the criterion rests on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ragval_pipeline.findings.factory import SHOWN
from ragval_pipeline.sources.site.inventory import Addresses
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

#: The level that each kind of expectation rules out.
_RULED_OUT: Mapping[str, Level] = {
    "present": "missing", "non_empty": "empty", "type": "wrong_type", "rule": "invalid",
}  # fmt: skip
#: Processes that load Great Expectations, and that nobody has asked yet.
_LOADING: list[subprocess.Popen[bytes]] = []
#: Ids of the processes that were asked.
_ASKED: list[int] = []


@contextmanager
def loading_expectations(only: Collection[str] | None = None) -> Iterator[None]:
    """Load Great Expectations in a process of its own meanwhile, for the next ``run_expectations``.

    Where this process has loaded them already, or somebody around has begun to, there is nothing to do; and one that
    validates again loads them itself, once, instead of paying for a process each time.

    Args:
        only: Groups of measurements that a run is limited to: without ``metadata`` nobody will ask. None: all.
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

    Args:
        levels: Of the whole collection.
        fields: Canonical name to payload name.
        required: Payload names that every point must hold.
        addresses: What ``source_url`` may hold.

    Returns:
        ``{engine, version, success, evaluated, unsuccessful, results}``; each result has ``level``, ``field``,
        ``severity``, ``expectation``, ``success``, ``unexpected_count``, ``element_count``, ``point_ids`` (the first
        ``SHOWN``) and ``exception``. Results are in suite order.

    Raises:
        RuntimeError: Great Expectations could not be run, or counts otherwise.
    """
    suite = build_expectations(fields, required, addresses=addresses)
    return read_results(levels, suite, _ask(levels, suite))


def read_results(
    levels: PayloadLevels, suite: Sequence[Mapping[str, Any]], judged: Mapping[str, Any]
) -> dict[str, Any]:
    """What Great Expectations said of each expectation, once it agrees with the own count; as ``run_expectations``."""
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

    Presence and emptiness are ``critical`` and asked of fields that every point must hold; type and rule are
    ``warning`` and asked of every mapped field that has them.
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
    """Both count the same; an expectation that raised counts nothing.

    Raises:
        RuntimeError: They do not; with both figures.
    """
    for result in results:
        own = len(levels.offenders.get(_RULED_OUT[result["level"]], {}).get(result["field"], ()))
        if result["exception"] is None and (result["unexpected_count"] != own or result["success"] is not (own == 0)):
            raise RuntimeError(
                f"Great Expectations counts {result['unexpected_count']} points of {result['element_count']} for "
                f"{result['field']} ({result['level']}), ragval {own:,} of {levels.points:,}"
            )


def _ask(levels: PayloadLevels, suite: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    import pyarrow as pa

    if _judges_here() and not _LOADING:
        from ragval_pipeline.validation.payload.gx_process import judge

        return judge(levels.columns, expectations=suite, shown=SHOWN)
    asked = json.dumps({"expectations": suite, "shown": SHOWN})
    table = levels.columns.replace_schema_metadata({"asked": asked})
    process = _LOADING.pop() if _LOADING else _start()
    _ASKED.append(process.pid)
    try:
        # One that has died reads nothing; why, its last words tell.
        with suppress(BrokenPipeError), pa.ipc.new_stream(process.stdin, table.schema) as stream:
            stream.write_table(table)
        answer, told = process.communicate()
    finally:
        _end(process)
    if process.returncode:
        last = (told.decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
        raise RuntimeError(f"Great Expectations ended with {process.returncode}: {last}")
    judged: dict[str, Any] = json.loads(answer)
    return judged


def _judges_here() -> bool:
    return "great_expectations" in sys.modules or bool(_ASKED)


def _start() -> subprocess.Popen[bytes]:
    # -P: what lies in the working directory does not stand in for a library there that it does not stand in for here.
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
