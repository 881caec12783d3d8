"""The page of messages quotes what the code says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text(encoding="utf-8")
#: A value that is put into a message.
VALUE = "…"


def messages() -> set[str]:
    """Every text of the code, with a sign where a value is put in."""
    found = set()
    for file in (ROOT / "ragval_pipeline").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = [str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values]
                found.add("".join(parts))
    return found


def test_every_quoted_message_is_one_of_the_code() -> None:
    known = messages()
    headings = [heading for heading in re.findall(r"^### (.*)$", PAGE, re.MULTILINE) if heading.startswith("`")]
    quoted = [quote for heading in headings for quote in re.findall(r"`([^`]+)`", heading) if " " in quote]
    assert len(quoted) > 15
    strange = []
    for quote in quoted:
        parts = [part.strip() for part in quote.split(VALUE) if part.strip()]
        if not any(re.search(".*".join(map(re.escape, parts)), message) for message in known):
            strange.append(quote)
    assert strange == []
