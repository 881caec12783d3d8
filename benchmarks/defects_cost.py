"""What a whole validation costs on large indexes: ``python -m benchmarks.defects_cost``.

Processor seconds of each asset and the peak memory of the process, over the generated handbook behind a stand-in for a
Qdrant server in a process of its own. Goals: at most 1 ms of CPU a chunk for all that is read and measured, growth of
CPU with an exponent of at most 1.05 between two sizes, and a peak of at most 1 GiB, at 200,000 chunks by a straight
line through two sizes. Importing and starting are printed, and no part of the goals. Ends with 1 when one is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cpu import fresh_place
from benchmarks.defects.generated import COLLECTION
from benchmarks.defects.large import write_large
from ragval_pipeline.demo.workspace import SUITE_FILE
from ragval_pipeline.measuring.progress import observed_by
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.sources.embedders.models import STATIC_DIMENSION
from ragval_pipeline.suite.load import load_suite

GOAL_MS, GOAL_EXPONENT, GOAL_BYTES, GOAL_CHUNKS = 1.0, 1.05, 2**30, 200_000
BETWEEN = "importing, Dagster, start"


@dataclass(frozen=True)
class Cost:
    """What one run cost.

    Attributes:
        chunks: Points of the collection.
        seconds: Processor seconds of each asset, child processes included.
        peaks: Most bytes that the process had held when each asset ended.
    """

    chunks: int
    seconds: dict[str, float]
    peaks: dict[str, int]

    @property
    def peak(self) -> int:
        """Most bytes that the process held."""
        return max(self.peaks.values())

    @property
    def measured(self) -> float:
        """Seconds of all that was read and measured."""
        return sum(spent for name, spent in self.seconds.items() if name != BETWEEN)


class Clock:
    """Processor seconds of each asset, told by the progress that a run reports."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.peaks: dict[str, int] = {}
        self._asset, self._since, self._ended = BETWEEN, time.process_time(), _children()

    def __call__(self, asset: str, done: int, total: int | None) -> None:
        """What has passed since the last call is this asset's when the last call was its own too."""
        now, ended = time.process_time(), _children()
        own = asset if asset == self._asset else BETWEEN
        self.seconds[own] += now - self._since
        # Workers serve several assets; those of a child whose seconds are known when it has ended count to the last.
        self.seconds[self._asset] += ended - self._ended
        self.peaks[own] = _peak()
        # Looking takes a millisecond, for each page and each question: the clock's own time is nobody's.
        self._asset, self._since, self._ended = asset, time.process_time(), ended


def _children() -> float:
    """Processor seconds of all child processes; where the system does not tell, only of those that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime + sum(map(_of_process, _alive()))


def _alive() -> list[str]:
    """Ids of the child processes that run, whichever thread started them."""
    found = []
    for thread in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found += thread.read_text(encoding="ascii").split()
    return found


def _of_process(number: str) -> float:
    """Processor seconds of a process and of its own children that have ended, by ``/proc``; 0 once it is gone."""
    with suppress(OSError):
        status = Path(f"/proc/{number}/stat").read_text(encoding="ascii", errors="replace")
        return sum(map(int, status.rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _peak() -> int:
    """Most bytes that this process has held.

    Linux hands ``ru_maxrss`` on from the process that started this one, which held the corpus; ``VmHWM`` begins anew.
    """
    with suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS counts in bytes


def main() -> int:
    """Build the corpora, validate each in a process of its own, and print what it cost; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    sizes = "one size or two, in chunks (default 20000 80000)"
    parser.add_argument("--chunks", type=int, nargs="+", default=[20_000, 80_000], help=sizes)
    parser.add_argument("--only", help="groups of measurements, with commas between (default all)")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--full", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        return _serve(options.serve, options.chunks[0])
    if options.measure is not None:
        return _measure(options.measure, options.only, full=options.full)
    costs = [_cost(chunks, options.only) for chunks in sorted(options.chunks)]
    reached = [_is_reached("CPU a chunk in ms", 1000 * costs[-1].measured / costs[-1].chunks, GOAL_MS)]
    if len(costs) == 1:
        reached.append(_is_reached("peak in MiB", costs[0].peak / 2**20, GOAL_BYTES / 2**20))
    else:
        first, last = costs[0], costs[-1]
        exponent = math.log(last.measured / first.measured) / math.log(last.chunks / first.chunks)
        each = (last.peak - first.peak) / (last.chunks - first.chunks)
        whole = last.peak + each * (GOAL_CHUNKS - last.chunks)
        print(f"{each / 1024:.2f} KiB more at the peak for each chunk")
        reached.append(_is_reached("exponent of growth", exponent, GOAL_EXPONENT))
        reached.append(_is_reached(f"peak at {GOAL_CHUNKS} chunks in MiB", whole / 2**20, GOAL_BYTES / 2**20))
    return 0 if all(reached) else 1


def _is_reached(what: str, value: float, goal: float) -> bool:
    print(f"{what} {value:.2f}, goal at most {goal:g}: {'reached' if value <= goal else 'MISSED'}")
    return value <= goal


@contextmanager
def served_corpus(chunks: int) -> Iterator[tuple[Path, dict[str, str], int]]:
    """Suite file of a generated corpus behind a stand-in, environment of those who measure it, and its chunks."""
    with fresh_place() as (folder, environment):
        # Processor seconds, not threads, are compared.
        environment["OPENBLAS_NUM_THREADS"] = "1"
        command = [sys.executable, "-m", "benchmarks.defects_cost", "--serve", str(folder), "--chunks", str(chunks)]
        with _served(command, environment) as told:
            points = int(told)
            print(f"{points} chunks", flush=True)
            yield folder / SUITE_FILE, environment, points


def _cost(chunks: int, only: str | None) -> Cost:
    with served_corpus(chunks) as (suite, environment, points):
        measure = [sys.executable, "-m", "benchmarks.defects_cost", "--measure", str(suite)]
        measure += ["--full", *(["--only", only] if only else [])]
        # The first run compiles what it imports, as an installation has done.
        lines = [subprocess.check_output(measure, env=environment, text=True) for _ in range(2)][-1].splitlines()
        cost = Cost(points, *json.loads(lines[-1]))
        print("\n".join(lines[:-1]))
        for asset, spent in sorted(cost.seconds.items(), key=lambda entry: -entry[1]):
            held = cost.peaks[asset] / 2**20
            print(
                f"    {asset:28} {spent:6.1f} s   {1000 * spent / points:6.3f} ms a chunk   {held:5.0f} MiB by its end"
            )
        print(f"    {'all but the start':28} {cost.measured:6.1f} s   peak {cost.peak / 2**20:.0f} MiB", flush=True)
        return cost


@contextmanager
def _served(command: Sequence[str], environment: dict[str, str]) -> Iterator[str]:
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def _serve(folder: Path, chunks: int) -> int:
    """Build the corpus and serve its collection until nobody wants it any more; prints how many points it has."""
    from tests.support.qdrant_server import QdrantStandIn  # noqa: PLC0415  not where it is measured

    with QdrantStandIn() as server:
        path = f"/collections/{COLLECTION}"
        server.engine.answer("PUT", path, {"vectors": {"size": STATIC_DIMENSION, "distance": "Cosine"}})

        def upsert(points: list[dict[str, Any]]) -> None:
            server.engine.answer("PUT", f"{path}/points", {"points": points})

        print(write_large(folder, server.url, chunks=chunks, upsert=upsert), flush=True)
        threading.Event().wait()
    return 0


def _measure(suite: Path, only: str | None, *, full: bool) -> int:
    clock = Clock()
    with observed_by(clock):
        report = run_suite(load_suite(suite), only=only.split(",") if only else None, full=full).report
    clock(BETWEEN, 1, 1)
    loud = sorted({finding.code for finding in report.findings if finding.severity != "info"})
    print(f"verdict {report.verdict}; errors and warnings: {', '.join(loud) or 'none'}")
    print(json.dumps([clock.seconds, clock.peaks]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
