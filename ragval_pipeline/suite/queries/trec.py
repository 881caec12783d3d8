"""TREC topics: the markup of the TREC tracks, ``id<TAB>text``, and ragval's own formats."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.queries.files import Entry, of_collection, read_entries
from ragval_pipeline.suite.queries.model import TEXT_NAMES
from ragval_pipeline.suite.yaml_file import read_text

_TABLES = frozenset({".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".csv"})
_TOPIC = re.compile(r"<(top|topic)\b([^>]*)>(.*?)(?=</\1\s*>|<\1\b|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"""\b(?:number|num|id)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
# Old topics close none of their fields: a field ends where the next tag begins.
_FIELD = re.compile(r"<(\w+)[^>]*>([^<]*)")
_LABEL = re.compile(r"^\s*(?:number|topic|title|description|narrative)\s*:", re.IGNORECASE)
#: What a topic is asked as, the best first: only some years of TREC-4 and of CAsT have no title.
_ASKED = ("title", "query", "raw_utterance", "question", "desc", "description")


def read_topics(file: Path) -> list[Entry]:
    """Read topics, each with an id and a text.

    Raises:
        SuiteError: The file is not there or malformed; a topic without number or text is named by its line.
    """
    if file.suffix.lower() in _TABLES:
        return [_checked(of_collection(entry), file) for entry in read_entries(file, kind="topics file")]
    text = read_text(file, kind="topics file")
    if text.lstrip().startswith("<"):
        return [_checked(entry, file) for entry in _marked_up(text, file)]
    if _has_header(text):
        return [_checked(of_collection(entry), file) for entry in read_entries(file, kind="topics file")]
    return list(_tab_separated(text, file))


def _marked_up(text: str, file: Path) -> Iterator[Entry]:
    line, seen = 1, 0
    for match in _TOPIC.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        yield Entry(f"line {line}", _topic(match.group(2), match.group(3)))
    if not seen and not _TOPIC.match(text.lstrip()):
        raise SuiteError("holds no <top> or <topic>", file=file, remedy="Use TREC topics, TSV, CSV or JSONL.")


def _topic(attributes: str, body: str) -> dict[str, Any]:
    fields: dict[str, str] = {}
    for field in _FIELD.finditer(body):
        fields.setdefault(field.group(1).lower(), _plain(field.group(2)))
    numbered = _NUMBER.search(attributes)
    asked = next((name for name in _ASKED if fields.get(name)), "")
    content: dict[str, Any] = {
        "id": numbered.group(1) if numbered else fields.get("num"),
        "query_text": fields.get(asked),
    }
    description = fields.get("desc") or fields.get("description")
    if description and asked not in {"desc", "description"}:
        content["description"] = description
    return content


def _plain(text: str) -> str:
    return " ".join(html.unescape(_LABEL.sub("", text)).split())


def _has_header(text: str) -> bool:
    cells = {cell.strip().lower() for cell in text.split("\n", 1)[0].split("\t")}
    return bool(cells & {*TEXT_NAMES, "title"}) and bool(cells & {"id", "_id", "qid", "query_id", "query-id"})


def _tab_separated(text: str, file: Path) -> Iterator[Entry]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, asked = line.partition("\t")
        entry = Entry(f"line {number}", {"id": name.strip(), "query_text": asked.strip()})
        yield _checked(entry, file)


def _checked(entry: Entry, file: Path) -> Entry:
    for name, says in (("id", "number"), ("query_text", "text")):
        value = entry.content.get(name)
        if value is None or not str(value).strip():
            raise SuiteError(
                f"the topic has no {says}", file=file, key=entry.where, remedy="Write id, a tab, and the text."
            )
    return entry
