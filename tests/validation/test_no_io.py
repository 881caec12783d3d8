"""``validation/`` reads and writes nothing itself: files, processes and the network belong to ``sources/`` and above.

The import contract forbids the modules that do; this test finds what needs no import of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ragval_pipeline.validation

ROOM = Path(ragval_pipeline.validation.__file__).parent
#: Methods of paths, files and Parquet that touch a disk, whatever they are called on.
METHODS = frozenset(
    {
        "exists", "glob", "is_dir", "is_file", "iterdir", "mkdir", "open", "read_bytes", "read_parquet", "read_table",
        "read_text", "rglob", "rmdir", "to_parquet", "touch", "unlink", "write_bytes", "write_table", "write_text",
        "ParquetFile", "ParquetWriter",
    }
)  # fmt: skip
#: A method of ours of the same name: it opens a new group of wordings.
OURS = {("traffic/wording.py", "open")}


def touches(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of each call that reads or writes, and of each name by which Parquet files are read."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"open", "__import__"}:
            yield node.lineno, node.func.id
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            yield node.lineno, node.func.attr
        if isinstance(node, ast.ImportFrom) and node.module == "ragval_pipeline.lazy":
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name == "pq")


@pytest.mark.parametrize("file", sorted(ROOM.rglob("*.py")), ids=lambda file: file.relative_to(ROOM).as_posix())
def test_a_file_of_validation_reads_and_writes_nothing(file: Path) -> None:
    name = file.relative_to(ROOM).as_posix()
    found = [entry for entry in touches(ast.parse(file.read_text("utf-8"))) if (name, entry[1]) not in OURS]
    assert found == []


@pytest.mark.parametrize(
    "code",
    ["open(path)", "(folder / name).open('rb')", "pq.ParquetFile(file)", "from ragval_pipeline.lazy import pa, pq",
     "UPath(folder).exists()", "pq.write_table(table, file)", "path.read_text()"],
)  # fmt: skip
def test_what_reads_or_writes_is_found(code: str) -> None:
    assert list(touches(ast.parse(code)))
