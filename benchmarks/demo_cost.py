"""What ``ragval demo`` costs over importing what it stands on: ``python -m benchmarks.demo_cost``.

Goals: at most 1.4 times the CPU of importing Dagster, Great Expectations and qdrant-client, and at most 0.7 times the
time on two cores, because Great Expectations is loaded beside the rest. Ends with 1 when one is missed.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.cpu import report, take_timed_turns

GOAL, WALL_GOAL = 1.4, 0.7
BASE = "import dagster, great_expectations, qdrant_client"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="how often both are measured (default 5)")
    demo = ["-m", "ragval_pipeline", "demo"]
    used, passed = take_timed_turns(["-c", BASE], demo, pairs=parser.parse_args().pairs)
    reached = report("ragval demo", BASE, used, goal=GOAL)
    in_time = report("ragval demo", BASE, passed, goal=WALL_GOAL, of="time")
    return 0 if reached and in_time else 1


if __name__ == "__main__":
    sys.exit(main())
