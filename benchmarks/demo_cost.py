"""What ``ragval demo`` costs over importing what it stands on: ``python -m benchmarks.demo_cost``.

Goal: at most 2.5 times the CPU of importing Dagster, Great Expectations and qdrant-client. Ends with 1 when missed.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.cpu import report, take_turns

GOAL = 2.5
BASE = "import dagster, great_expectations, qdrant_client"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="how often both are measured (default 5)")
    pairs = take_turns(["-c", BASE], ["-m", "ragval_pipeline", "demo"], pairs=parser.parse_args().pairs)
    return 0 if report("ragval demo", BASE, pairs, goal=GOAL) else 1


if __name__ == "__main__":
    sys.exit(main())
