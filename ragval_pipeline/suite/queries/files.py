"""Query files: YAML, JSON, JSONL and CSV, each to a list of plain mappings with where they stand.

What lives here: formats. What does not: what a query may hold (``model``).
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.yaml_file import parse_yaml, read_text


class Entry(NamedTuple):
    """One entry of a query file: where it stands (``[3]`` or ``line 4``) and its content."""

    where: str
    content: dict[str, Any]


#: CSV columns that hold lists: a JSON list, or values separated by ``;`` or ``|``.
_LISTS = frozenset({"relevant_urls", "acceptable_urls", "expected_keywords", "expected_topics"})
_JSON = frozenset({"expected_results", "metadata", "parameters", "embedding"})
_TRUE = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_entries(file: Path, *, kind: str = "query file") -> list[Entry]:
    """Read the entries of a file, by its ending.

    Raises:
        SuiteError: The file is not there, is no list of mappings, or its format is not known.
    """
    text = read_text(file, kind=kind)
    ending = file.suffix.lower()
    if ending in {".yaml", ".yml"}:
        return _mappings(parse_yaml(text, file=file) if text.strip() else [], file)
    if ending == ".json":
        return _mappings(_json(text, file, "") if text.strip() else [], file)
    if ending in {".jsonl", ".ndjson"}:
        return _json_lines(text, file)
    if ending in {".csv", ".tsv"}:
        return _csv(text, file, delimiter="\t" if ending == ".tsv" else ",")
    raise SuiteError(
        f"has the ending {ending or '(none)'}, which is no known format of a {kind}",
        file=file,
        remedy="Use .yaml, .json, .jsonl or .csv.",
    )


def _mappings(content: Any, file: Path) -> list[Entry]:
    if isinstance(content, dict) and len(content) == 1:
        # {"queries": [...]}, {"test_queries": [...]}: the usual wrapping.
        content = next(iter(content.values()))
    if content is None:
        return []
    if not isinstance(content, list):
        raise SuiteError("is not a list of queries", file=file, remedy="Write one entry per query: - query_text: ...")
    return [Entry(f"[{index}]", _mapping(entry, f"[{index}]", file)) for index, entry in enumerate(content)]


def _mapping(entry: Any, where: str, file: Path) -> dict[str, Any]:
    if isinstance(entry, str):
        return {"query_text": entry}
    if not isinstance(entry, dict):
        raise SuiteError("is not a mapping", file=file, key=where, remedy="Write query_text: ...")
    return {str(key): value for key, value in entry.items()}


def _json(text: str, file: Path, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = where or f"line {error.lineno}, column {error.colno}"
        raise SuiteError(f"is not readable JSON at {place}: {error.msg}", file=file) from None
    except RecursionError:
        raise SuiteError("is nested too deeply", file=file) from None


def _json_lines(text: str, file: Path) -> list[Entry]:
    numbered = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [
        Entry(f"line {number}", _mapping(_json(line, file, f"line {number}"), f"line {number}", file))
        for number, line in numbered
    ]


def _csv(text: str, file: Path, *, delimiter: str) -> list[Entry]:
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    entries = []
    try:
        for row in reader:
            where = f"line {reader.line_num}"
            if None in row:
                raise SuiteError("has more cells than the header", file=file, key=where, remedy="Quote the commas.")
            cells = {str(name).strip(): cell for name, cell in row.items() if cell is not None and cell.strip()}
            if cells:
                entries.append(Entry(where, {name: _cell(name, cell, file, where) for name, cell in cells.items()}))
    except csv.Error as error:
        raise SuiteError(f"is not readable CSV at line {reader.line_num}: {error}", file=file) from None
    return entries


def _cell(name: str, cell: str, file: Path, where: str) -> Any:
    text = cell.strip()
    if name in _JSON or (name in _LISTS and text.startswith("[")):
        return _json(text, file, where)
    if name in _LISTS:
        return [part.strip() for part in text.replace("|", ";").split(";") if part.strip()]
    if name in {"negative", "critical"}:
        return _TRUE.get(text.lower(), text)
    return cell
