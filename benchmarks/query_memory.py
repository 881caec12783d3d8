"""What a test query adds to the peak memory and the CPU of a run: ``python -m benchmarks.query_memory``.

The demo's index is asked few and many of its own questions, each numbered, by ``ragval run`` in a process of its own.
Goal: at most 20 KB a query, the texts of its hits included. Ends with 1 when missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from itertools import cycle
from pathlib import Path

from benchmarks.cpu import fresh_place
from ragval_pipeline.demo.workspace import build_demo
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.suite.queries.load import load_queries

GOAL_KB = 20
RUN = """
import resource, sys
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.orchestration.run import run_suite
finished = run_suite(load_suite(sys.argv[1]), only=["queries"])
assert finished.report.total_queries == int(sys.argv[2]), finished.report
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_maxrss, used.ru_utime + used.ru_stime)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, nargs=2, default=(500, 5000), help="few and many (default 500 5000)")
    few, many = sorted(parser.parse_args().queries)
    with fresh_place() as (folder, environment):
        (low, quick), (high, slow) = [_cost(folder, environment, number) for number in (few, many)]
    each = (high - low) / (many - few)
    print(f"peak with {few:,} queries {low / 1024:.0f} MiB, with {many:,} {high / 1024:.0f} MiB")
    print(f"CPU {quick:.0f} s and {slow:.0f} s: {1000 * (slow - quick) / (many - few):.2f} ms a query")
    print(f"{each:.1f} KB a query, goal at most {GOAL_KB}: {'reached' if each <= GOAL_KB else 'MISSED'}")
    return 0 if each <= GOAL_KB else 1


def _cost(folder: Path, environment: dict[str, str], queries: int) -> tuple[int, float]:
    """Peak in KB and CPU seconds of a run."""
    built = build_demo(folder / f"demo_{queries}")
    given = cycle([query.as_given() for query in load_queries(load_suite(built.suite_file))])
    asked = (
        {**query, "id": f"q{number}", "query_text": f"{query['query_text']} {number}"}
        for number, query in zip(range(queries), given, strict=False)
    )
    (built.home / "queries.jsonl").write_text("".join(f"{json.dumps(query)}\n" for query in asked))
    text = built.suite_file.read_text().replace("queries: queries.yaml", "queries: queries.jsonl")
    built.suite_file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(built.suite_file), str(queries)],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    *_, peak, seconds = done.stdout.split()
    return int(peak), float(seconds)


if __name__ == "__main__":
    sys.exit(main())
