"""A whole run over a million chunks from a file of points: ``python -m benchmarks.million``.

The generated handbook in many editions is written as site and Parquet file, an edition at a time, and validated with
one worker and with two. Goals: at most 15 minutes of CPU a million chunks with one worker, and at most 1.5 GiB in any
process. Needs about 10 KB of disk a chunk. Ends with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from benchmarks.cpu import fresh_place
from benchmarks.defects.generated import COLLECTION
from benchmarks.defects.large import write_large
from ragval_pipeline.demo.workspace import SUITE_FILE

CHUNKS, GOAL_S, GOAL_BYTES = 1_000_000, 15 * 60, 1.5 * 2**30
POINTS = "points.parquet"


def main() -> int:
    """Build the corpus, validate it, and print what it cost; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=CHUNKS, help=f"chunks at least (default {CHUNKS})")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="one run each (default 1 2)")
    parser.add_argument("--folder", type=Path, help="where the corpus is, or is built and stays (default: nowhere)")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build is not None:
        return _build(options.build, options.chunks)
    if options.measure is not None:
        return _measure(options.measure)
    with ExitStack() as stack:
        place, environment = stack.enter_context(fresh_place())
        # Processor seconds, not threads, are compared.
        environment["OPENBLAS_NUM_THREADS"] = "1"
        folder = (options.folder or place).absolute()
        if not (folder / SUITE_FILE).exists():
            command = ["--build", str(folder), "--chunks", str(options.chunks)]
            subprocess.check_call([sys.executable, "-m", "benchmarks.million", *command], env=environment)
        chunks = _points(folder)
        print(f"{chunks} chunks", flush=True)
        reached = [_told(folder, environment, workers, chunks) for workers in options.workers]
    return 0 if all(reached) else 1


def _told(folder: Path, environment: dict[str, str], workers: int, chunks: int) -> bool:
    """Validate with some workers in a process of its own, and print what it cost; whether the goals are reached."""
    plain = yaml.safe_load((folder / SUITE_FILE).read_text(encoding="utf-8"))
    suite = folder / f"workers-{workers}.yaml"
    suite.write_text(yaml.safe_dump({**plain, "scale": {"workers": workers}}), encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.million", "--measure", str(suite)]
    lines = subprocess.check_output(command, env=environment, text=True).splitlines()
    cost: dict[str, Any] = json.loads(lines[-1])
    print("\n".join(lines[:-1]))
    for asset, spent in sorted(cost["seconds"].items(), key=lambda entry: -entry[1]):
        held = cost["peaks"].get(asset, 0) / 2**20
        print(f"    {asset:28} {spent:6.1f} s   {1000 * spent / chunks:6.3f} ms a chunk   {held:5.0f} MiB by its end")
    spent, peak = sum(cost["seconds"].values()), max(*cost["peaks"].values(), cost["worker_peak"])
    goal = GOAL_S * chunks / CHUNKS
    print(f"workers {workers}: {spent:.1f} s of CPU, {cost['wall']:.1f} s of wall", end="")
    print(f", at most {peak / 2**20:.0f} MiB in a process (workers {cost['worker_peak'] / 2**20:.0f} MiB)")
    # Two workers take more CPU, for less wall.
    is_cheap, is_small = spent <= goal or workers > 1, peak <= GOAL_BYTES
    print(f"    goals {goal:.0f} s of CPU: {'reached' if spent <= goal else 'MISSED'}", end="")
    print(f", {GOAL_BYTES / 2**20:.0f} MiB: {'reached' if is_small else 'MISSED'}", flush=True)
    return is_cheap and is_small


def _points(folder: Path) -> int:
    import pyarrow.parquet as pq  # noqa: PLC0415

    return int(pq.ParquetFile(folder / POINTS).metadata.num_rows)


def _build(folder: Path, chunks: int) -> int:
    """Write site, points and suite."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    about = json.dumps({"name": COLLECTION, "distances": {"": "Cosine"}}).encode()
    columns = [("id", pa.string()), ("payload", pa.string()), ("vector", pa.list_(pa.float32()))]
    schema = pa.schema(columns, metadata={b"ragval": about})
    with pq.ParquetWriter(folder / POINTS, schema, compression="zstd") as writer:

        def write(points: list[dict[str, Any]]) -> None:
            payloads = [json.dumps(point["payload"], ensure_ascii=False) for point in points]
            values = [[point["id"] for point in points], payloads, [point["vector"] for point in points]]
            writer.write_table(pa.table(values, schema=schema))

        write_large(folder, "http://unused.example", chunks=chunks, upsert=write)
    settings = yaml.safe_load((folder / SUITE_FILE).read_text(encoding="utf-8"))
    settings["qdrant"].pop("url")
    content = {**settings, "points": str(folder / POINTS)}
    (folder / SUITE_FILE).write_text(yaml.safe_dump(content), encoding="utf-8")
    return 0


def _measure(suite: Path) -> int:
    from benchmarks.defects_cost import BETWEEN, Clock  # noqa: PLC0415
    from ragval_pipeline.measuring.progress import observed_by  # noqa: PLC0415
    from ragval_pipeline.orchestration.run import run_suite  # noqa: PLC0415
    from ragval_pipeline.suite.load import load_suite  # noqa: PLC0415

    clock, started = Clock(), time.perf_counter()
    watch, begun = _Workers(), set[str]()

    def tell(asset: str, done: int, total: int | None) -> None:
        if asset not in begun:
            begun.add(asset)
            held = max(clock.peaks.values(), default=0) / 2**20
            print(f"{time.perf_counter() - started:7.0f} s  {held:6.0f} MiB  {asset}", file=sys.stderr, flush=True)
        clock(asset, done, total)

    with observed_by(tell), watch:
        report = run_suite(load_suite(suite), full=True).report
    clock(BETWEEN, 1, 1)
    loud = sorted({finding.code for finding in report.findings if finding.severity != "info"})
    print(f"verdict {report.verdict}; errors and warnings: {', '.join(loud) or 'none'}")
    wall = time.perf_counter() - started
    print(json.dumps({"seconds": clock.seconds, "peaks": clock.peaks, "wall": wall, "worker_peak": watch.peak}))
    return 0


class _Workers:
    """The most that a child process has held, looked at once a second while the run goes on."""

    def __init__(self) -> None:
        self.peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(1):
            for children in Path("/proc/self/task").glob("*/children"):
                for number in children.read_text(encoding="ascii").split():
                    self.peak = max(self.peak, _peak_of(number))


def _peak_of(number: str) -> int:
    try:
        status = Path(f"/proc/{number}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    held = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return 1024 * int(held[0]) if held else 0


if __name__ == "__main__":
    sys.exit(main())
