"""What many suites in one code location cost: ``python -m benchmarks.suites_cost``.

Measured is ``dagster definitions validate``, as CI runs it: CPU seconds and memory of the largest process,
with one suite and with many, and from that what each further suite costs. There is no goal but "small": a code server
that holds fifty suites should not be told from one that holds one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.cpu import fresh_place

SUITE = """\
suite: suite_{number}
profile: {profile}
qdrant:
  url: ${{QDRANT_URL}}
  collection: docs_{number}
source: {{sitemap: "https://docs-{number}.example.com/sitemap.xml", include: ["/docs/**"]}}
embedding: {{provider: cohere, api_key: "${{COHERE_API_KEY:-}}"}}
queries: queries.yaml
automation: {{after_asset: ingestion/docs_{number}, cron: "{minute} 6 * * *"}}
"""
#: Runs in a process of its own, whose children are then this validation alone.
CHILD = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""
VALIDATE = ["-m", "dagster", "definitions", "validate", "-m", "ragval_pipeline.definitions"]


def measure(suites: int, *, times: int) -> tuple[float, float]:
    """CPU seconds and MiB of validating a code location of ``suites`` suites: medians of ``times`` runs."""
    with fresh_place() as (folder, environment):
        for number in range(suites):
            text = SUITE.format(number=number, profile=PROFILES[number % len(PROFILES)], minute=number % 60)
            (folder / f"{number}.yaml").write_text(text, encoding="utf-8")
        environment["RAGVAL_SUITES"] = str(folder / "*.yaml")
        _validate(folder, environment)  # writes the byte code
        found = [_validate(folder, environment) for _ in range(times)]
    return statistics.median(cpu for cpu, _ in found), statistics.median(memory for _, memory in found)


PROFILES = ("null", "retrieval-pipeline-testing", "rag-validation", "rag-retrieval-testing")


def _validate(folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    command = [sys.executable, "-c", CHILD, sys.executable, *VALIDATE]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    cpu, memory = json.loads(done.stdout)
    return cpu, memory


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, default=50, help="how many (default 50)")
    parser.add_argument("--times", type=int, default=3, help="how often each is measured (default 3)")
    options = parser.parse_args()
    (one, one_mib), (many, many_mib) = (measure(count, times=options.times) for count in (1, options.suites))
    further = options.suites - 1
    print(f"1 suite:   {one:.2f} s of CPU, {one_mib:.0f} MiB")
    print(f"{options.suites} suites: {many:.2f} s of CPU, {many_mib:.0f} MiB")
    print(
        f"each suite above the first: {1000 * (many - one) / further:.0f} ms, {(many_mib - one_mib) / further:.2f} MiB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
