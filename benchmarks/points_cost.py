"""A file of points beside the same points in an embedded Qdrant: ``python -m benchmarks.points_cost``.

Processor seconds of whole runs over the generated handbook, each in a process of its own, without what importing,
starting and reading the points cost. Goal: at most 1.1 times as many for the file. Ends with 1 when it is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml
from qdrant_client import QdrantClient, models
from upath import UPath

from benchmarks.cpu import fresh_place
from benchmarks.defects.generated import COLLECTION
from benchmarks.defects.large import write_large
from benchmarks.defects_cost import BETWEEN
from ragval_pipeline.demo.workspace import SUITE_FILE
from ragval_pipeline.sources.embedders.models import STATIC_DIMENSION
from ragval_pipeline.sources.stores.export import export_points
from ragval_pipeline.sources.stores.opening import opened_store
from ragval_pipeline.suite.load import load_suite

GOAL = 1.1
#: Assets whose cost is that of reading the points.
READING = frozenset({BETWEEN, "payload_snapshot"})


def main() -> int:
    """Build the corpus twice, validate each, and print what it cost; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000, help="chunks at least (default 100000)")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build is not None:
        return _build(options.build, options.chunks)
    with fresh_place() as (folder, environment):
        environment["OPENBLAS_NUM_THREADS"] = "1"
        command = [
            sys.executable,
            "-m",
            "benchmarks.points_cost",
            "--build",
            str(folder),
            "--chunks",
            str(options.chunks),
        ]
        print(subprocess.check_output(command, env=environment, text=True).strip(), flush=True)
        spent = {}
        for name in ("embedded", "file"):
            measure = [sys.executable, "-m", "benchmarks.defects_cost", "--measure", str(folder / f"{name}.yaml")]
            measure += ["--full"]  # the second would read what the first has left
            lines = subprocess.check_output(measure, env=environment, text=True).splitlines()
            seconds: dict[str, float] = json.loads(lines[-1])[0]
            spent[name] = sum(each for asset, each in seconds.items() if asset not in READING)
            read = seconds.get("payload_snapshot", 0.0)
            print(f"{name:9} {spent[name]:6.1f} s, and {read:.1f} s for reading", flush=True)
    ratio = spent["file"] / spent["embedded"]
    print(f"file / embedded {ratio:.2f}, goal at most {GOAL}: {'reached' if ratio <= GOAL else 'MISSED'}")
    return 0 if ratio <= GOAL else 1


def _build(folder: Path, chunks: int) -> int:
    """Write the corpus into an embedded Qdrant and into a file, with a suite for each."""
    place = folder / "qdrant"
    with closing(QdrantClient(path=str(place))) as client:
        space = models.VectorParams(size=STATIC_DIMENSION, distance=models.Distance.COSINE)
        client.create_collection(COLLECTION, vectors_config=space)

        def upsert(points: list[dict[str, Any]]) -> None:
            client.upsert(COLLECTION, [models.PointStruct(**point) for point in points])

        points = write_large(folder, "http://unused.example", chunks=chunks, upsert=upsert)
    settings = yaml.safe_load((folder / SUITE_FILE).read_text(encoding="utf-8"))
    own = {**settings["qdrant"], "path": str(place)}
    own.pop("url")
    _write(folder / "embedded.yaml", {**settings, "qdrant": own})
    suite = load_suite(folder / "embedded.yaml")
    with opened_store(suite.qdrant, policy=suite.retry) as reader_of:
        export_points(reader_of, UPath(folder / "points.parquet"))
    own.pop("path")
    _write(folder / "file.yaml", {**settings, "qdrant": own, "points": str(folder / "points.parquet")})
    print(f"{points} chunks")
    return 0


def _write(file: Path, settings: dict[str, Any]) -> None:
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
