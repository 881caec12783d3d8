"""What all detectors cost on a large index: ``python -m benchmarks.defects_cost``.

Processor seconds of each asset and the peak memory of the process, which holds the embedded Qdrant as well. Goals on
10,000 chunks: at most 60 s for all detectors on the snapshot, and 1 GiB. Searches, and reading the collection and the
pages, are counted apart. Ends with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

# Before numpy is imported: processor seconds, not threads, are compared.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.defects.large import large_corpus
from ragval_pipeline.orchestration import names
from ragval_pipeline.orchestration.progress import observed_by
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.suite.load import load_suite

GOAL_SECONDS, GOAL_BYTES = 60.0, 2**30
#: Assets that judge what was read. Every other asset reads the world or asks it.
DETECTORS = (
    names.COVERAGE_REPORT, names.METADATA_EXPECTATIONS, names.CHUNK_STRUCTURE, names.CONTENT_INTEGRITY,
    names.VECTOR_HEALTH, names.INDEX_HEALTH, names.GOLDEN_SET, names.QUALITY_METRICS,
)  # fmt: skip
SEARCHES = (names.QUERY_VALIDATION_RESULTS, names.SELF_RETRIEVAL, names.LATENCY_PROFILE)
BETWEEN = "reading the pages, Dagster, start"


class Clock:
    """Processor seconds of each asset, told by the progress that a run reports."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._asset, self._since = BETWEEN, time.process_time()

    def __call__(self, asset: str, done: int, total: int | None) -> None:
        """What has passed since the last call is this asset's when the last call was its own too."""
        now = time.process_time()
        self.seconds[asset if asset == self._asset else BETWEEN] += now - self._since
        self._asset, self._since = asset, now


def main() -> int:
    """Build the corpus, validate it in a process of its own, and print what it cost; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000, help="at least so many (default 10000)")
    parser.add_argument("--only", help="groups of measurements, with commas between (default all)")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        return _measured(options.measure, options.only)
    with tempfile.TemporaryDirectory(prefix="ragval-cost-") as folder:
        corpus = large_corpus(Path(folder), chunks=options.chunks)
        print(f"{len(corpus.scope_urls)} pages, {len(corpus.points)} chunks", flush=True)
        suite = corpus.write()
        command = [sys.executable, "-m", "benchmarks.defects_cost", "--measure", str(suite)]
        command += ["--only", options.only] if options.only else []
        return subprocess.run(command, check=False).returncode


def _measured(suite: Path, only: str | None) -> int:
    clock = Clock()
    with observed_by(clock):
        report = run_suite(load_suite(suite), only=only.split(",") if only else None).report
    clock(BETWEEN, 1, 1)
    # Linux counts in KiB, macOS in bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    loud = sorted({finding.code for finding in report.findings if finding.severity != "info"})
    print(f"verdict {report.verdict}; errors and warnings: {', '.join(loud) or 'none'}")
    return 0 if _reported(clock.seconds, peak) else 1


def _reported(seconds: Mapping[str, float], peak: int) -> bool:
    detectors = sum(seconds.get(asset, 0.0) for asset in DETECTORS)
    for title, assets in (("detectors", DETECTORS), ("searches", SEARCHES)):
        print(f"{title}: {sum(seconds.get(asset, 0.0) for asset in assets):.1f} s of CPU")
        for asset in assets:
            print(f"    {asset:28} {seconds.get(asset, 0.0):6.1f}")
    rest = {asset: spent for asset, spent in seconds.items() if asset not in (*DETECTORS, *SEARCHES)}
    print(f"reading, writing the report and Dagster: {sum(rest.values()):.1f} s of CPU")
    for asset, spent in sorted(rest.items()):
        print(f"    {asset:28} {spent:6.1f}")
    print(f"detectors {detectors:.1f} s, goal at most {GOAL_SECONDS:g}: {_word(detectors <= GOAL_SECONDS)}")
    print(f"peak memory {peak / 2**20:.0f} MiB, goal at most {GOAL_BYTES / 2**20:.0f}: {_word(peak <= GOAL_BYTES)}")
    return detectors <= GOAL_SECONDS and peak <= GOAL_BYTES


def _word(reached: bool) -> str:
    return "reached" if reached else "MISSED"


if __name__ == "__main__":
    sys.exit(main())
