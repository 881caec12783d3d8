"""The tools that can be run: each is one file in `adapters/`, which states its environment and its names."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

ADAPTERS = Path(__file__).with_name("adapters")
#: An adapter's file must not have the name of the package that it imports.
PREFIX = "audit_"
_BLOCK = re.compile(r"^# /// script\n((?:#.*\n)+?)# ///$", re.MULTILINE)


@dataclass(frozen=True)
class Tool:
    """A tool as its adapter describes it.

    Attributes:
        name: Name of the adapter's file, without its prefix.
        title: How the tables call it.
        tiers: The inputs that it can use.
        names: The families that each of its codes names.
        dependencies: What its environment holds.
        python: An interpreter that has the tool already; None if there is none.
    """

    name: str
    title: str
    tiers: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]
    dependencies: tuple[str, ...]
    python: Path | None = None

    @property
    def claims(self) -> frozenset[str]:
        """Families that it can name."""
        return frozenset(family for families in self.names.values() for family in families)

    def best(self, tiers: tuple[str, ...]) -> str:
        """The highest tier that it can use."""
        return max(self.tiers, key=tiers.index)


@functools.cache
def tools() -> dict[str, Tool]:
    """All adapters by name."""
    return {path.stem.removeprefix(PREFIX): _tool(path) for path in sorted(ADAPTERS.glob(f"{PREFIX}*.py"))}


def _tool(path: Path) -> Tool:
    block = _BLOCK.search(path.read_text(encoding="utf-8"))
    if block is None:
        raise ValueError(f"{path} has no script metadata")
    stated = tomllib.loads("".join(line[2:] or "\n" for line in block[1].splitlines(keepends=True)))
    own = stated["tool"]["indexdefects"]
    names = {code: tuple(families) for code, families in own.get("names", {}).items()}
    python = (path.parent / own["python"]).absolute() if "python" in own else None
    return Tool(
        path.stem.removeprefix(PREFIX),
        own["title"],
        tuple(own["tiers"]),
        names,
        tuple(stated["dependencies"]),
        python if python and python.exists() else None,
    )


class Session:
    """A running adapter that answers one job after another."""

    def __init__(self, tool: Tool, python: str | None = None) -> None:
        """Start the adapter with ``python``, its own interpreter, or one that uv sets up for it."""
        chosen = python or (str(tool.python) if tool.python else None)
        command = [chosen] if chosen else [sys.executable, "-m", "uv", "run", "--quiet", "--script"]
        environment = {**os.environ, "PYTHONPATH": "", "OPENBLAS_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
        self._process = subprocess.Popen(
            [*command, str(ADAPTERS / f"{PREFIX}{tool.name}.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:  # all its answers are there
            self._process.kill()

    def audit(self, world: Path, tier: str, result: Path, scratch: Path) -> dict[str, Any]:
        """Run the tool on a world.

        Raises:
            RuntimeError: The adapter ended without an answer.
        """
        result.parent.mkdir(parents=True, exist_ok=True)
        job = {"world": str(world), "tier": tier, "result": str(result), "scratch": str(scratch)}
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the adapter has no pipes")
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith('{"done"'):
                answer: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
                return answer
        raise RuntimeError(f"the adapter ended with {self._process.wait()}; start it by hand to see why")
