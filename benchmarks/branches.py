"""How many branches of ``findings``, ``suite`` and ``validation`` the tests take: ``python -m benchmarks.branches``.

Reads the data that ``pytest --cov`` has written, and names the files that leave branches out, the emptiest first.
Goal: 95 % in each of the three; ends with 1 when missed. ``make test-all`` ends with it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coverage import Coverage

from benchmarks.cpu import ROOT
from benchmarks.mutation import ROOMS

GOAL = 0.95
NAMED = 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / ".coverage", help="what pytest --cov has written")
    files = _files(parser.parse_args().data)
    shares = {room: share_taken(files, room) for room in ROOMS}
    for room, share in shares.items():
        print(f"{room}: {share:.1%} of branches")
    left = sorted(((entry["summary"]["missing_branches"], name) for name, entry in files.items()), reverse=True)
    for missing, name in left[:NAMED]:
        if missing:
            print(f"  {missing} not taken in {name}: {_lines(files[name])}")
    return 0 if min(shares.values()) >= GOAL else 1


def share_taken(files: Mapping[str, Any], room: str) -> float:
    """Branches taken of those in the files of a room; raises ZeroDivisionError for a room without any."""
    own = [entry["summary"] for name, entry in files.items() if Path(name).parts[:2] == ("ragval_pipeline", room)]
    return sum(entry["covered_branches"] for entry in own) / sum(entry["num_branches"] for entry in own)


def _files(data: Path) -> dict[str, Any]:
    coverage = Coverage(data_file=str(data), config_file=str(ROOT / "pyproject.toml"))
    coverage.load()
    include = [str(ROOT / "ragval_pipeline" / room / "*") for room in ROOMS]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        coverage.json_report(outfile=str(report), include=include)
        return dict(json.loads(report.read_text(encoding="utf-8"))["files"])


def _lines(entry: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{start} to {end}" if end > 0 else f"{start} to the end" for start, end in entry["missing_branches"]
    )


if __name__ == "__main__":
    raise SystemExit(main())
