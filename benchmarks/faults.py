"""Every fault of ``tests/faults`` and how a run ended on it: ``python -m benchmarks.faults [WORD ...]``.

Ends with 1 when a row ended otherwise than it must. With words: the rows whose place or name holds one of them.
"""

from __future__ import annotations

import re
import sys

from tests.faults.fault import Fault
from tests.faults.stage import Seen
from tests.faults.table import ROWS, seen_of


def main(words: list[str]) -> int:
    rows = [row for row in ROWS if not words or any(word in f"{row.where} {row.name}" for word in words)]
    bad = 0
    print(f"{'where':22} {'fault':46} {'exit':>4} {'verdict':12} {'CPU s':>6} {'MiB':>5}  what is told")
    for row in rows:
        seen = seen_of(row)
        wrong = faults_of(row, seen)
        bad += bool(wrong)
        told = re.search(row.words, seen.told, re.DOTALL)
        line = _line(seen.told, told.start()) if told else ""
        print(
            f"{row.where[:22]:22} {row.name[:46]:46} {seen.code:4} {seen.verdict or '-':12}"
            f" {seen.seconds:6.1f} {seen.mib:5.0f}  {line[:120]}"
        )
        for problem in wrong:
            print(f"    NOT AS IT MUST: {problem}")
        sys.stdout.flush()
    print(f"{len(rows)} faults, {len(rows) - bad} end as they must")
    return 1 if bad else 0


def faults_of(row: Fault, seen: Seen, *, slack: float = 1.0) -> list[str]:
    """How a run ended otherwise than it must; ``slack`` times its CPU is let pass where the machine is shared."""
    found = []
    if (seen.code, seen.verdict) != (row.code, row.verdict):
        found.append(f"{seen.code} {seen.verdict}, not {row.code} {row.verdict}: {seen.told[-1500:]}")
    if not re.search(row.words, seen.told, re.DOTALL):
        found.append(f"nobody reads {row.words!r}: {seen.told[-1500:]}")
    if seen.seconds > slack * row.seconds:
        found.append(f"{seen.seconds:.1f} s of CPU, limit {row.seconds:g}")
    if seen.mib > row.mib:
        found.append(f"{seen.mib:.0f} MiB more, limit {row.mib:g}")
    lost = set(filter(None, row.met.split(","))) - seen.met
    if lost:
        found.append(f"not met any more: {', '.join(sorted(lost))}")
    if seen.left:
        found.append(f"left behind: {', '.join(seen.left)}")
    return found


def _line(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    return text[start:].partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
