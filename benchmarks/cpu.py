"""Measuring what a fresh Python process costs, in seconds of CPU: user and system, children included.

What lives here: running code in processes of their own, in pairs. What does not: what is compared, and the goals.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: What a process may see: nothing that changes what ragval does, and Python's own switches.
_KEPT = ("PATH", "LANG", "SYSTEMROOT", "TMPDIR")


@dataclass(frozen=True)
class Pairs:
    """CPU seconds of two kinds of processes that took turns.

    Args:
        base: Seconds of each base process.
        measured: Seconds of the process that ran right after it.
    """

    base: tuple[float, ...]
    measured: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Median of the ratios within pairs: what else the machine does at the time hits both halves of a pair."""
        return statistics.median(one / other for one, other in zip(self.measured, self.base, strict=True))

    @property
    def difference(self) -> float:
        """Median of the differences within pairs, in seconds."""
        return statistics.median(one - other for one, other in zip(self.measured, self.base, strict=True))


@contextmanager
def fresh_place() -> Iterator[tuple[Path, dict[str, str]]]:
    """An empty working folder, and an environment that keeps byte code, as an installation has it."""
    with tempfile.TemporaryDirectory(prefix="ragval-benchmark-") as folder:
        (Path(folder) / "work").mkdir()
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= {
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": str(Path(folder) / "byte_code"),
            "PYTHONHASHSEED": "0",
            "NO_COLOR": "1",
        }
        yield Path(folder) / "work", environment


def cpu_seconds(arguments: Sequence[str], folder: Path, environment: dict[str, str]) -> float:
    """CPU seconds of ``python ARGUMENTS``.

    Raises:
        SystemExit: The process failed; with what it wrote.
    """
    before = os.times()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    after = os.times()
    if done.returncode:
        raise SystemExit(f"python {' '.join(arguments)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return after.children_user + after.children_system - before.children_user - before.children_system


def take_turns(base: Sequence[str], measured: Sequence[str], *, pairs: int) -> Pairs:
    """Run two kinds of processes in turns, after one of each that writes the byte code."""
    found: list[tuple[float, float]] = []
    with fresh_place() as (folder, environment):
        for _ in range(pairs + 1):
            found.append((cpu_seconds(base, folder, environment), cpu_seconds(measured, folder, environment)))
    return Pairs(base=tuple(one for one, _ in found[1:]), measured=tuple(other for _, other in found[1:]))


def report(name: str, base: str, pairs: Pairs, *, goal: float) -> bool:
    """Print one comparison; true when the goal is reached."""
    reached = pairs.ratio <= goal
    print(f"{base}: {statistics.median(pairs.base):.2f} s of CPU (median of {len(pairs.base)})")
    print(f"{name}: {statistics.median(pairs.measured):.2f} s of CPU, {pairs.difference:+.3f} s")
    print(f"ratio: {pairs.ratio:.3f}, goal at most {goal:g}: {'reached' if reached else 'MISSED'}")
    return reached
