"""Annotations for GitHub at the lines of the suite file that a run failed by.

usage: annotate.py SUITE REPORT STDERR
"""

import json
import re
import sys
from pathlib import Path


def line_of(suite: list[str], *keys: str) -> int:
    """The first line, from 1, on which one of the keys is written, the best first; 1 if none is."""
    for key in keys:
        wanted = re.compile(rf"\s*(?:-\s*)?[\"']?{re.escape(key)}[\"']?\s*:|.*[{{,]\s*{re.escape(key)}\s*:")
        found = next((number for number, line in enumerate(suite, 1) if wanted.match(line)), None)
        if found is not None:
            return found
    return 1


def escaped(text: str) -> str:
    """A text as the data of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def told(path: str, report: str, stderr: str) -> list[tuple[int, str, str]]:
    """Line, title and text of each annotation."""
    suite = Path(path).read_text(encoding="utf-8").splitlines() if Path(path).is_file() else []
    if Path(report).is_file():
        failed = [
            entry
            for entry in json.loads(Path(report).read_text(encoding="utf-8")).get("criteria", ())
            if entry["required"] and entry["verdict"] == "not_met"
        ]
        return [
            (line_of(suite, entry["name"], "criteria", "profile"), entry["name"], entry["reason"] or "not met")
            for entry in failed
        ]
    lines = [
        line
        for line in Path(stderr).read_text(encoding="utf-8", errors="replace").splitlines()
        if line.startswith("ragval: ")
    ]
    if not lines:
        return []
    message = lines[-1].removeprefix("ragval: ")
    named = re.search(r": ([a-z_][a-z_0-9.\[\]]*): ", message)
    keys = named[1].split(".")[::-1] if named else []
    return [(line_of(suite, *keys), "suite", message)]


def main() -> None:
    """Print the annotations."""
    path, report, stderr = sys.argv[1:]
    for line, title, text in told(path, report, stderr):
        print(f"::error file={path},line={line},title=ragval: {title}::{escaped(text)}")  # noqa: T201


if __name__ == "__main__":
    main()
