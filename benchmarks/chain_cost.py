"""What the chain of a suite's steps costs when there is nothing to measure: ``python -m benchmarks.chain_cost``.

Two jobs run in fresh processes on a Dagster instance on disk: one empty asset, and a validation of a collection without
points, site or queries. Goal: at most 5 seconds of CPU more. Ends with 1 when missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from qdrant_client import QdrantClient, models

from benchmarks.cpu import take_turns

GOAL_S = 5.0
SUITE = "suite: empty\nqdrant: {path: ./index, collection: empty}\nembedding: {provider: static}\n"
RUN = """
import os, sys, tempfile, warnings
warnings.simplefilter("ignore")
os.chdir(sys.argv[1])
import dagster as dg
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}

def run(defs, name):
    with dg.DagsterInstance.local_temp(tempfile.mkdtemp(dir=".")) as instance:
        job = defs.resolve_job_def(name)
        done = job.execute_in_process(instance=instance, run_config=QUIET, raise_on_error=False)
        assert len(done.get_asset_materialization_events()) == len(job.graph.nodes), "a step failed"
"""
ONE = f"""{RUN}
@dg.asset
def nothing(): ...

run(dg.Definitions([nothing], jobs=[dg.define_asset_job("one", executor_def=dg.in_process_executor)]), "one")
"""
CHAIN = f"""{RUN}
from ragval_pipeline import build_validation_defs, load_suite

run(build_validation_defs(load_suite("ragval.yaml")), "empty_validation")
"""


def place(folder: Path) -> None:
    """An empty collection and its suite."""
    (folder / "ragval.yaml").write_text(SUITE, encoding="utf-8")
    client = QdrantClient(path=str(folder / "index"))
    space = models.VectorParams(size=256, distance=models.Distance.COSINE)
    client.create_collection("empty", vectors_config=space)
    client.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="how often both are measured (default 5)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ragval-benchmark-") as folder:
        place(Path(folder))
        pairs = take_turns(["-c", ONE, folder], ["-c", CHAIN, folder], pairs=options.pairs)
    print(f"one empty asset: {statistics.median(pairs.base):.2f} s of CPU (median of {len(pairs.base)})")
    print(f"an empty chain:  {statistics.median(pairs.measured):.2f} s of CPU, {pairs.difference:+.2f} s")
    print(f"goal at most {GOAL_S:+g} s: {'reached' if pairs.difference <= GOAL_S else 'MISSED'}")
    return 0 if pairs.difference <= GOAL_S else 1


if __name__ == "__main__":
    sys.exit(main())
