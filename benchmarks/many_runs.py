"""What many validations in one process leave behind: ``python -m benchmarks.many_runs``.

The demo is validated again and again in one process, as a long-lived worker would. Goal: after 200 runs the resident
memory is within 2 % of that after 10, and no file descriptor and no thread is left over. Ends with 1 when missed.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from benchmarks.cpu import fresh_place
from ragval_pipeline.demo.workspace import build_demo

GOAL = 0.02
WARM = 10
INSIDE = "--inside"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", default="", help="groups, comma-separated (default: all)")
    parser.add_argument(INSIDE, type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside is not None:
        return _inside(options.inside, options.runs, options.only)
    with fresh_place() as (folder, environment):
        built = build_demo(folder / "demo")
        command = [sys.executable, "-m", "benchmarks.many_runs", INSIDE, str(built.suite_file)]
        command += ["--runs", str(options.runs), "--only", options.only]
        return subprocess.run(command, env=environment, check=False).returncode


def _inside(suite_file: Path, runs: int, only: str) -> int:
    from ragval_pipeline.orchestration.run import run_suite  # noqa: PLC0415
    from ragval_pipeline.suite.load import load_suite  # noqa: PLC0415

    groups = only.split(",") if only else None
    seen: dict[int, tuple[float, int, int]] = {}
    started = time.process_time()
    for number in range(1, runs + 1):
        report = run_suite(load_suite(suite_file), only=groups).report
        if report.verdict != "pass":
            raise SystemExit(f"run {number} ended with {report.verdict}")
        if number in {WARM, runs} or number % 25 == 0:
            gc.collect()
            seen[number] = _state()
            rss, files, threads = seen[number]
            cpu = (time.process_time() - started) / number
            print(
                f"after {number:3} runs: {rss:7.1f} MiB, {files} descriptors, {threads} threads, {cpu:.1f} s CPU a run"
            )
            sys.stdout.flush()
    (before, *left_before), (after, *left_after) = seen[WARM], seen[runs]
    growth = after / before - 1
    more = [now - then for now, then in zip(left_after, left_before, strict=True)]
    reached = growth <= GOAL and max(more) <= 0
    print(f"memory {growth:+.1%} (goal {GOAL:.0%}), descriptors {more[0]:+}, threads {more[1]:+}: ", end="")
    print("reached" if reached else "MISSED")
    return 0 if reached else 1


def _state() -> tuple[float, int, int]:
    """Resident memory in MiB, open file descriptors and living threads of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    memory = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return memory, len(list(Path("/proc/self/fd").iterdir())), threading.active_count()


if __name__ == "__main__":
    sys.exit(main())
