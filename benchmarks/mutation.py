"""How many small faults of the code its tests notice: ``python -m benchmarks.mutation --count 60 --seed 116``.

A sample of mutants of ``findings``, ``suite`` and ``validation``, drawn by the seed: a comparison, an operator, a
number, a condition or a returned value is another one. Each is run against the tests that reach its line, in a copy of
the repository. Which these are is read from the data of::

    pytest --cov --cov-context=test -m "not slow" tests/findings tests/suite tests/text tests/validation

A mutant that no test can tell from the code counts as a survivor too. Goal: 85 %; ends with 1 when missed.
"""

from __future__ import annotations

import argparse
import ast
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from coverage import CoverageData

from benchmarks.cpu import ROOT

ROOMS = ("findings", "suite", "validation")
GOAL = 0.85
#: A mutant that makes a test run for ever is noticed.
PATIENCE_S = 600
COMPARED: Mapping[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COUNTED: Mapping[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=116)
    parser.add_argument("--data", type=Path, default=ROOT / ".coverage", help="what the command above has written")
    asked = parser.parse_args()
    reached = tests_by_line(asked.data)
    files = sorted(file for room in ROOMS for file in (ROOT / "ragval_pipeline" / room).rglob("*.py"))
    mutants = [(file, number) for file in files for number, _ in enumerate(sites(ast.parse(file.read_text())))]
    random.Random(asked.seed).shuffle(mutants)
    with tempfile.TemporaryDirectory(prefix="ragval-mutants-") as folder:
        copy = Path(folder)
        shutil.copytree(ROOT, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*", "__pycache__", "dist"))
        noticed = [_noticed(copy, file, number, reached) for file, number in mutants[: asked.count]]
    print(f"{len(mutants):,} possible, {len(noticed)} tried, {sum(noticed)} noticed: {sum(noticed) / len(noticed):.0%}")
    return 0 if sum(noticed) >= GOAL * len(noticed) else 1


def sites(tree: ast.AST) -> Iterator[ast.AST]:
    """What can be mutated in the functions of a module, in one order each time."""
    inside = {
        id(node) for part in ast.walk(tree) if isinstance(part, ast.FunctionDef | ast.Lambda) for node in ast.walk(part)
    }
    for node in ast.walk(tree):
        if id(node) in inside and mutated(node, dry=True):
            yield node


def mutated(node: ast.AST, *, dry: bool = False) -> bool:
    """Change a node where there is a way; ``dry``: only say so."""
    match node:
        case ast.Compare(ops=[first, *_]) if type(first) in COMPARED:
            change = ("ops", [COMPARED[type(first)](), *node.ops[1:]])
        case ast.BoolOp():
            change = ("op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
        case ast.BinOp() if type(node.op) in COUNTED and not isinstance(node.left, ast.JoinedStr):
            change = ("op", COUNTED[type(node.op)]())
        case ast.Constant(value=bool(value)):
            change = ("value", not value)
        case ast.Constant(value=int(value)):
            change = ("value", value + 1)
        case ast.If() | ast.IfExp():
            change = ("test", ast.UnaryOp(ast.Not(), node.test))
        case ast.Return(value=ast.AST() as value) if not isinstance(value, ast.Constant):
            change = ("value", ast.Constant(None))
        case _:
            return False
    if not dry:
        setattr(node, *change)
    return True


def tests_by_line(data: Path) -> dict[tuple[str, int], set[str]]:
    """The tests that reach each line, by file below the package and line."""
    read, found = CoverageData(str(data)), {}
    read.read()
    for file in read.measured_files():
        name = file.rpartition("ragval_pipeline/")[2]
        for line, contexts in read.contexts_by_lineno(file).items():
            found[name, line] = {context.partition("|")[0].partition("[")[0] for context in contexts if context}
    return found


def _noticed(copy: Path, file: Path, number: int, reached: Mapping[tuple[str, int], set[str]]) -> bool:
    name, code = file.relative_to(ROOT / "ragval_pipeline").as_posix(), file.read_text(encoding="utf-8")
    tree = ast.parse(code)
    node = list(sites(tree))[number]
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    tests = sorted(set().union(*(reached.get((name, line), set()) for line in lines)))
    shown = (ast.get_source_segment(code, node) or "").partition("\n")[0]
    mutated(node)
    target = copy / file.relative_to(ROOT)
    target.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
    killed = bool(tests) and _fails(copy, tests)
    target.write_text(code, encoding="utf-8")
    print(
        f"{'noticed ' if killed else 'SURVIVED'} {len(tests):4} tests  {name}:{node.lineno}  {shown[:70]}", flush=True
    )
    return killed


def _fails(copy: Path, tests: list[str]) -> bool:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow",
        *tests,
    ]
    try:
        return subprocess.run(command, cwd=copy, capture_output=True, timeout=PATIENCE_S, check=False).returncode != 0
    except subprocess.TimeoutExpired:
        return True


if __name__ == "__main__":
    sys.exit(main())
