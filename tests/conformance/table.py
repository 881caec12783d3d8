"""The conformance table: what the five seed documents ask for, and the test that proves each of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
PAGE = FOLDER.parents[1] / "docs" / "evidence" / "conformance.md"
KINDS = ("field", "rule", "default", "setting", "status", "formula", "criterion", "relationship", "flow")
_INTRO = """# The five validators, field by field
<!-- Written by python -m tests.conformance.table. -->

Five profiles reproduce five existing RAG validators. The tables list each field, rule, default, setting, status,
formula, criterion, relationship and data-flow step of their specifications, how ragval implements it, and the test
in `tests/` that proves it. Fields are compared by value and type in one run per profile: a site over HTTP, a Qdrant
server, an embedding service, and only the validator's own variables, set in a `.env`. If a rule contradicts itself
or cannot hold, the row says what was corrected.
"""


@dataclass(frozen=True)
class Row:
    """One line of the table; ``test`` is a node id below ``tests/``."""

    seed: str
    section: str
    item: str
    kind: str
    how: str
    test: str


def seeds() -> list[dict[str, Any]]:
    """The files as they are written, in the order of their seeds."""
    return [yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(FOLDER.glob("seed*.yaml"))]


def rows(seed: dict[str, Any]) -> Iterator[Row]:
    """The rows of a file: a list of items is one row each, and so are the fields of ``Entity: one, two``."""
    for section, items, kind, how, test in seed["rows"]:
        file, _, name = test.partition("::")
        for item in _items(items) if kind == "field" else items if isinstance(items, list) else [items]:
            yield Row(seed["seed"], section, item, kind, how, f"{seed['files'].get(file, file)}::{name}")


def _items(written: str) -> list[str]:
    entity, colon, names = written.partition(": ")
    return [f"{entity}.{name}" for name in names.split(", ")] if colon else [written]


def page() -> str:
    """The page of the docs."""
    lines = [_INTRO]
    for seed in seeds():
        lines += [f"## Profile `{seed['profile']}`", ""]
        lines += ["| section | item | kind | how | test |", "|---|---|---|---|---|"]
        for row in rows(seed):
            lines.append(f"| {row.section} | {row.item} | {row.kind} | {row.how} | `{row.test}` |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
