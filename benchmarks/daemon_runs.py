"""What many runs leave under a live Dagster: ``python -m benchmarks.daemon_runs``.

``dagster dev`` (webserver, daemon, one code server with the demo's suite) launches the suite's job again and again.
Told are the bytes that each run adds to the event log, and the resident memory and open descriptors of all processes of
Dagster after the first ten runs and after the last. Goals: the log grows by the same bytes a run (5 %), memory by at
most 5 %, and no descriptor is left over. Ends with 1 when one is missed.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu import fresh_place
from ragval_pipeline.demo.workspace import build_demo
from tests.orchestration.live import Live, dagster_dev

WARM = 10
#: How much the log, a run, and the memory may grow from the first ten runs to the last.
GROWTH = 0.05
_DONE = {"SUCCESS", "FAILURE", "CANCELED"}


@dataclass(frozen=True)
class State:
    """Of everything that ``dagster dev`` started and that still lives.

    Args:
        log: Bytes of all events so far.
        memory: Resident, MiB, of webserver, daemon and code servers together.
        descriptors: Open files of the same.
    """

    log: int
    memory: float
    descriptors: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    runs = parser.parse_args().runs
    with fresh_place() as (folder, _):
        built = build_demo(folder / "demo")
        environ = {"RAGVAL_SUITES": str(built.suite_file)}
        with dagster_dev(folder / "live", environ=environ) as live:
            job = f"{built.collection}_validation"
            states = {0: _state(folder / "live", live)}
            for number in range(1, runs + 1):
                _run(live, job, number)
                if number in {WARM, runs} or number % 10 == 0:
                    states[number] = _state(folder / "live", live)
                    print(f"after {number:3} runs: {_told(states[number], number)}", flush=True)
    first, last = states[WARM], states[runs]
    per_first, per_last = first.log / WARM, (last.log - first.log) / (runs - WARM)
    grown = per_last / per_first - 1, last.memory / first.memory - 1
    more = last.descriptors - first.descriptors
    print(f"event log a run {per_first:,.0f} then {per_last:,.0f} bytes ({grown[0]:+.1%}), ", end="")
    print(f"memory {grown[1]:+.1%}, descriptors {more:+}: ", end="")
    reached = max(grown) <= GROWTH and more <= 0
    print("reached" if reached else "MISSED")
    return 0 if reached else 1


def _run(live: Live, job: str, number: int) -> None:
    live.launch("ragval", job)
    runs = live.until(lambda: ended if len(ended := _ended(live, job)) == number else [])
    if runs[0] != "SUCCESS":
        raise SystemExit(f"run {number} ended with {runs[0]}")


def _ended(live: Live, job: str) -> list[str]:
    """States of the runs that have ended, the latest first."""
    return [run["status"] for run in live.runs(job) if run["status"] in _DONE]


def _state(folder: Path, live: Live) -> State:
    processes = _family(live.process_id)
    pages = sum(int(_read(each, "statm").split()[1]) for each in processes)
    files = sum(len(list(Path(f"/proc/{each}/fd").iterdir())) for each in processes)
    return State(_logged(folder / "home"), pages * os.sysconf("SC_PAGE_SIZE") / 2**20, files)


def _logged(home: Path) -> int:
    """Bytes of the rows of all runs' events."""
    total = 0
    for file in (home / "history" / "runs").glob("*.db"):
        if file.stem != "index":
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as log:
                tables = log.execute("select name from sqlite_master where name = 'event_logs'").fetchall()
                if tables:
                    total += log.execute("select coalesce(sum(length(event)), 0) from event_logs").fetchone()[0]
    return total


def _family(root: int) -> list[int]:
    """A process and all that it and its children started."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(_read(int(entry.name), "stat").rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found = [root]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def _read(process: int, name: str) -> str:
    return Path(f"/proc/{process}/{name}").read_text(encoding="utf-8", errors="replace")


def _told(state: State, runs: int) -> str:
    return f"{state.log / runs:,.0f} bytes a run, {state.memory:,.0f} MiB, {state.descriptors} descriptors"


if __name__ == "__main__":
    sys.exit(main())
