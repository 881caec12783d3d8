"""Measuring what a fresh Python process costs, in seconds of CPU: user and system, children included."""

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
    """Seconds of two kinds of processes that took turns.

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
    """CPU seconds of ``python ARGUMENTS``; raises as ``seconds``."""
    return seconds(arguments, folder, environment)[0]


def seconds(arguments: Sequence[str], folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds of CPU, and seconds that passed, of ``python ARGUMENTS``.

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
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, after.elapsed - before.elapsed


def take_turns(base: Sequence[str], measured: Sequence[str], *, pairs: int) -> Pairs:
    """CPU seconds of two kinds of processes in turns, after one of each that writes the byte code."""
    return take_timed_turns(base, measured, pairs=pairs)[0]


def take_timed_turns(base: Sequence[str], measured: Sequence[str], *, pairs: int) -> tuple[Pairs, Pairs]:
    """As ``take_turns``; then the seconds that passed."""
    found = []
    with fresh_place() as (folder, environment):
        for _ in range(pairs + 1):
            found.append((seconds(base, folder, environment), seconds(measured, folder, environment)))
    used, passed = (
        Pairs(base=tuple(one[kind] for one, _ in found[1:]), measured=tuple(other[kind] for _, other in found[1:]))
        for kind in (0, 1)
    )
    return used, passed


def report(name: str, base: str, pairs: Pairs, *, goal: float, of: str = "CPU") -> bool:
    """Print one comparison; true when the goal is reached."""
    reached = pairs.ratio <= goal
    print(f"{base}: {statistics.median(pairs.base):.2f} s of {of} (median of {len(pairs.base)})")
    print(f"{name}: {statistics.median(pairs.measured):.2f} s of {of}, {pairs.difference:+.3f} s")
    print(f"ratio: {pairs.ratio:.3f}, goal at most {goal:g}: {'reached' if reached else 'MISSED'}")
    return reached
