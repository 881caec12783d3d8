"""What loading the code location costs over ``import dagster``: ``python -m benchmarks.import_cost``.

Goals: at most 1.15 times the CPU of ``import dagster``, and no heavy package loaded. Ends with 1 when one is missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from benchmarks.cpu import fresh_place, report, take_turns

GOAL = 1.15
BASE, MEASURED = "import dagster", "import ragval_pipeline.definitions"
#: Ends at once: what Python looks through at its end is no part of loading.
_LOADED = "{}; import os; os._exit(0)"
#: Packages that only a run needs. The first four are those that the project promises; the rest keeps it so.
HEAVY = (
    "great_expectations", "cohere", "scipy", "qdrant_client",
    "httpx", "numpy", "pandas", "pyarrow", "rich", "safetensors", "selectolax", "tenacity",
    "tokenizers", "typer", "yarl",
)  # fmt: skip


def heavy_modules() -> list[str]:
    """The heavy packages that loading the definitions adds to what Dagster itself has loaded."""
    code = f"import sys, dagster; before = set(sys.modules); {MEASURED}; print(*set(sys.modules) - before)"
    with fresh_place() as (folder, environment):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
    return sorted(set(HEAVY) & set(done.stdout.split()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15, help="how often both are measured (default 15)")
    pairs = take_turns(["-c", _LOADED.format(BASE)], ["-c", _LOADED.format(MEASURED)], pairs=parser.parse_args().pairs)
    reached = report(MEASURED, BASE, pairs, goal=GOAL)
    heavy = heavy_modules()
    print(f"heavy packages loaded: {', '.join(heavy) or 'none'}")
    return 0 if reached and not heavy else 1


if __name__ == "__main__":
    sys.exit(main())
