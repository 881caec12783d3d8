"""Query files: YAML, JSON, JSONL and CSV, each to a list of plain mappings with where they stand.

What lives here: formats. What does not: what a query may hold (``model``), and the formats of test collections
(``beir``, ``trec``, ``qrels``).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.printing import printable
from ragval_pipeline.suite.queries.entries import Entry
from ragval_pipeline.suite.yaml_file import parse_yaml, read_text

#: CSV columns that hold lists: a JSON list, or values separated by ``;`` or ``|``.
_LISTS = frozenset({"relevant_urls", "acceptable_urls", "expected_keywords", "expected_topics"})
_JSON = frozenset({"expected_results", "metadata", "parameters", "embedding", "judgements"})
_TRUE = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_entries(file: Path, *, kind: str = "query file") -> list[Entry]:
    """Read the entries of a file, by its ending; an empty file has none.

    Raises:
        SuiteError: The file is not there, is no list of mappings, or its format is not known.
    """
    text = read_text(file, kind=kind)
    ending = file.suffix.lower()
    if ending in {".yaml", ".yml"}:
        return _mappings(parse_yaml(text, file=file), file)
    if ending == ".json":
        return _mappings(_json(text, file, "") if text.strip() else None, file)
    if ending in {".jsonl", ".ndjson"}:
        return _json_lines(text, file)
    if ending in {".csv", ".tsv"}:
        return _csv(text, file, delimiter="\t" if ending == ".tsv" else _delimiter(text))
    raise SuiteError(
        f"has the ending {printable(ending) or '(none)'}, which is no known format of a {kind}",
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
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        place = where or f"line {error.lineno}, column {error.colno}"
        raise SuiteError(f"is not readable JSON at {place}: {error.msg}", file=file) from None
    except RecursionError:
        raise SuiteError("is nested too deeply", file=file, key=where or None) from None
    except ValueError as error:
        raise SuiteError(str(error), file=file, key=where or None) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {printable(twice)} stands twice in one mapping")
    return content


def _json_lines(text: str, file: Path) -> list[Entry]:
    numbered = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [
        Entry(f"line {number}", _mapping(_json(line, file, f"line {number}"), f"line {number}", file))
        for number, line in numbered
    ]


def _delimiter(text: str) -> str:
    # Spreadsheets in half of Europe write semicolons.
    header = text.split("\n", 1)[0]
    return ";" if ";" in header and "," not in header else ","


def _csv(text: str, file: Path, *, delimiter: str) -> list[Entry]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    entries: list[Entry] = []
    try:
        header = _header(next(reader, []), file)
        first = reader.line_num + 1
        for row in reader:
            where, first = f"line {first}", reader.line_num + 1
            entries.extend(_row(row, header, file, where))
    except csv.Error as error:
        raise SuiteError(f"is not readable CSV at line {reader.line_num}: {error}", file=file) from None
    return entries


def _header(cells: Sequence[str], file: Path) -> list[str]:
    names = [cell.strip() for cell in cells]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise SuiteError(f"has two columns called {printable(twice)}", file=file, key="line 1")
    return names


def _row(row: Sequence[str], header: Sequence[str], file: Path, where: str) -> Iterable[Entry]:
    if any(cell.strip() for cell in row[len(header) :]):
        raise SuiteError("has more cells than the header", file=file, key=where, remedy="Quote the commas.")
    cells = {name: cell for name, cell in zip(header, row, strict=False) if cell.strip()}
    if cells:
        yield Entry(where, {name: _cell(name, cell, file, where) for name, cell in cells.items()})


def _cell(name: str, cell: str, file: Path, where: str) -> Any:
    text = cell.strip()
    if name in _JSON or (name in _LISTS and text.startswith("[")):
        return _json(text, file, f"{where}, {name}")
    if name in _LISTS:
        return [part.strip() for part in text.replace("|", ";").split(";") if part.strip()]
    if name in {"negative", "critical"}:
        return _TRUE.get(text.lower(), text)
    return cell
