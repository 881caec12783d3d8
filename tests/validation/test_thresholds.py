"""The table of thresholds, and that no number decides anything outside of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragval_pipeline import validation
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.suite.criteria import all_criteria
from ragval_pipeline.validation import thresholds

ROOT = Path(validation.__file__).parent
#: Numbers that count, compare or halve, and decide nothing.
PLAIN = {0, 1, 2}
#: A number on a line that says so is how much is looked at, how much is shown, or a standard definition.
MARKED = re.compile(r"#.*\b(work|shown|definition)\b")
#: What a row may decide on besides findings and criteria.
COMMANDS = {"calibrate"}


def numbers_of(source: str) -> Iterator[tuple[int, float]]:
    """Lines and values of the numbers that are neither plain nor marked, nor digits of a rounding."""
    lines, tree = source.splitlines(), ast.parse(source)
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    digits = {id(call.args[1]) for call in named if ast.unparse(call.func) == "round" and len(call.args) > 1}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or type(node.value) not in {int, float} or node.value in PLAIN:
            continue
        if id(node) not in digits and not MARKED.search(lines[node.lineno - 1]):
            yield node.lineno, node.value


def test_a_number_that_decides_is_found_whether_it_has_a_name_or_not() -> None:
    source = "A = 0.7\nB = 7  # work\nif x > 12: y = round(x, 4)\nz = 1 - x\n"
    assert list(numbers_of(source)) == [(1, 0.7), (3, 12)]


@pytest.mark.parametrize("room", sorted({path.relative_to(ROOT).parts[0] for path in ROOT.rglob("*.py")}))
def test_every_deciding_number_is_in_the_table(room: str) -> None:
    files = [ROOT / room] if room.endswith(".py") else sorted((ROOT / room).rglob("*.py"))
    found = [(file.name, *number) for file in files if room != "thresholds.py"
             for number in numbers_of(file.read_text(encoding="utf-8"))]  # fmt: skip
    assert found == [], "put it into validation/thresholds.py, or mark it '# work', '# shown' or '# definition'"


def test_the_table_holds_at_most_sixty_rows_each_justified_and_about_something_known() -> None:
    criteria = {criterion.name for criterion in all_criteria([1])}
    known = {*CATALOGUE, *(code.split(".")[0] for code in CATALOGUE), *criteria, *COMMANDS}
    rows = thresholds.table()
    assert len(rows) <= 60
    assert [row.name for row in rows if not (row.unit and row.reason and row.evidence)] == []
    assert {code for row in rows for code in row.codes} <= known
    assert [row.name for row in rows if getattr(thresholds, row.name) != row.value] == []
