"""Regular expressions of the package under every Python that it runs with."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ragval_pipeline

PACKAGE = Path(ragval_pipeline.__file__).parent
#: ``(?:...)++``: Python before 3.11.5 matches too much by it (python/cpython#106052); ``(?>(?:...)+)`` is right.
REPEATED_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")
#: Characters that stay as they are in an address, and no pattern.
SAFE = "/~@:!$&()*+,;="


def texts(tree: ast.AST) -> Iterator[str]:
    """The strings of a module, f-strings as one with their values left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def found(source: str) -> list[str]:
    return [text for text in texts(ast.parse(source)) if text != SAFE and REPEATED_GROUP.search(text)]


@pytest.mark.parametrize("quantifier", ["++", "*+", "?+", "{2,3}+"])
def test_a_possessive_group_is_found(quantifier: str):
    assert found(f'A = r"(?:b|c){quantifier}"')
    assert found('A = rf"(?:{B}|c)*+"')
    assert not found(rf'A = r"[^a]{quantifier}\){quantifier}"')


def test_no_pattern_repeats_a_group_possessively():
    modules = sorted(PACKAGE.rglob("*.py"))
    assert len(modules) > 100
    assert {path.name: texts for path in modules if (texts := found(path.read_text(encoding="utf-8")))} == {}
