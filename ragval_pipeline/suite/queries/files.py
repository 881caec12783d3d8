"""Query files (YAML, JSON, JSONL, CSV), TREC topics and BEIR folders, read as mappings with their locations."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.queries.golden_sets import entries_in, listed
from ragval_pipeline.suite.queries.model import TEXT_NAMES, THRESHOLD_NAMES, TestQuery
from ragval_pipeline.suite.queries.qrels import GROUND_TRUTH, Qrels, read_qrels
from ragval_pipeline.suite.yaml_file import parse_yaml, read_text
from ragval_pipeline.text.printing import printable

_TABLES = frozenset({".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".csv"})
_TOPIC = re.compile(r"<(top|topic)\b([^>]*)>(.*?)(?=</\1\s*>|<\1\b|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"""\b(?:number|num|id)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
# Old topics have no closing tags: a field ends where the next tag begins.
_FIELD = re.compile(r"<(\w+)[^>]*>([^<]*)")
_LABEL = re.compile(r"^\s*(?:number|topic|title|description|narrative)\s*:", re.IGNORECASE)
#: Fields that hold a topic's query, best first: only some years of TREC-4 and CAsT have no title.
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
        raise SuiteError("contains no <top> or <topic>", file=file, remedy="Use TREC topics, TSV, CSV or JSONL.")


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


#: CSV columns that hold lists: a JSON list, or values separated by ``;``, ``|`` or, before a URL, blanks.
_LISTS = frozenset({"relevant_urls", "acceptable_urls", "expected_keywords", "expected_topics"})
_BETWEEN = re.compile(r"[;|]|\s+(?=https?://)", re.IGNORECASE)
_JSON = frozenset({"expected_results", "actual_results", "metadata", "parameters", "embedding", "judgements"})
_TRUE = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_entries(file: Path, *, kind: str = "query file") -> list[Entry]:
    """Read the entries of a file, by its extension; an empty file has none.

    Raises:
        SuiteError: The file does not exist, is not a list of mappings, or has an unknown format.
    """
    text = read_text(file, kind=kind)
    ending = file.suffix.lower()
    if ending in {".yaml", ".yml"}:
        return _mappings(parse_yaml(text, file=file), file, kind)
    if ending == ".json":
        return _mappings(_json(text, file, "") if text.strip() else None, file, kind)
    if ending in {".jsonl", ".ndjson"}:
        return _json_lines(text, file)
    if ending in {".csv", ".tsv"}:
        return _csv(text, file, kind, delimiter="\t" if ending == ".tsv" else _delimiter(text))
    raise SuiteError(
        f"has the ending {printable(ending) or '(none)'}, which is not a known format of a {kind}",
        file=file,
        remedy="Use .yaml, .json, .jsonl or .csv.",
    )


def _mappings(content: Any, file: Path, kind: str) -> list[Entry]:
    if kind == GROUND_TRUTH and isinstance(content, dict) and all(map(_are_pages, content.values())):
        pages = {str(query): urls for query, urls in content.items()}
        return [Entry(printable(query), {"query": query, "relevant_urls": urls}) for query, urls in pages.items()]
    content = entries_in(content)
    if content is None:
        return []
    if not isinstance(content, list):
        entry = "- {query: ..., relevant_urls: [...]}" if kind == GROUND_TRUTH else "- query_text: ..."
        raise SuiteError("is not a list of queries", file=file, remedy=f"Write one entry per query: {entry}")
    return [Entry(f"[{index}]", _mapping(entry, f"[{index}]", file)) for index, entry in enumerate(content)]


def _are_pages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, str) for entry in value)


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
        raise ValueError(f"the key {printable(twice)} occurs twice in one mapping")
    return content


def _json_lines(text: str, file: Path) -> list[Entry]:
    numbered = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [
        Entry(f"line {number}", _mapping(_json(line, file, f"line {number}"), f"line {number}", file))
        for number, line in numbered
    ]


def _delimiter(text: str) -> str:
    # Spreadsheets in half of Europe write semicolons, and what is copied from one has tabs.
    header = text.split("\n", 1)[0]
    return next((each for each in ",;\t" if each in header), ",")


def _csv(text: str, file: Path, kind: str, *, delimiter: str) -> list[Entry]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    entries: list[Entry] = []
    try:
        header = _header(next(reader, []), file, kind)
        first = reader.line_num + 1
        for row in reader:
            where, first = f"line {first}", reader.line_num + 1
            entries.extend(_row(row, header, file, where))
    except csv.Error as error:
        raise SuiteError(f"is not readable CSV at line {reader.line_num}: {error}", file=file) from None
    return entries


def _header(cells: Sequence[str], file: Path, kind: str) -> list[str]:
    names = [_column(cell.strip()) for cell in cells]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise SuiteError(f"has two columns called {printable(twice)}", file=file, key="line 1")
    if names and kind == "query file" and not {*TEXT_NAMES, "template"}.intersection(names):
        found = printable(", ".join(names))
        remedy = f"Name the column of the questions {', '.join(TEXT_NAMES[:-1])} or {TEXT_NAMES[-1]}."
        raise SuiteError(f"has no column of questions, only {found}", file=file, key="line 1", remedy=remedy)
    return names


_COLUMNS = frozenset({*TestQuery.model_fields, *TEXT_NAMES, *THRESHOLD_NAMES, "template", "parameters"})


def _column(cell: str) -> str:
    """The field of a column, written ``Relevant URLs`` as well; other names are unchanged."""
    folded = re.sub(r"[\s-]+", "_", cell.lower())
    return folded if folded in _COLUMNS else cell


def _row(row: Sequence[str], header: Sequence[str], file: Path, where: str) -> Iterable[Entry]:
    if any(cell.strip() for cell in row[len(header) :]):
        raise SuiteError("has more cells than the header", file=file, key=where, remedy="Quote the commas.")
    cells = {name: cell for name, cell in zip(header, row, strict=False) if cell.strip()}
    if cells:
        yield Entry(where, {name: _cell(name, cell, file, where) for name, cell in cells.items()})


def _cell(name: str, cell: str, file: Path, where: str) -> Any:
    text = cell.strip()
    if name in _LISTS and isinstance(written := listed(text), list) and text.startswith("["):
        return written
    if name in _JSON or (name in _LISTS and text.startswith("[")):
        return _json(text, file, f"{where}, {name}")
    if name in _LISTS:
        return [part.strip() for part in _BETWEEN.split(text) if part.strip()]
    if name in {"negative", "critical"}:
        return _TRUE.get(text.lower(), text)
    return cell


_IDS = ("id", "_id", "qid", "query_id", "query-id", "topic_id", "topic", "number", "num")
_TEXTS = (*TEXT_NAMES, "title")


class Entry(NamedTuple):
    """One entry of a query file.

    Attributes:
        where: Its location, ``[3]`` or ``line 4``.
        content: Its keys and values.
        names: The key of the file by ragval's name, where these differ.
        kept: Keys that ragval keeps but does not use.
    """

    where: str
    content: dict[str, Any]
    names: Mapping[str, str] = MappingProxyType({})
    kept: Sequence[str] = ()

    def key(self, name: str) -> str:
        """The location of a field, for errors: ``[3].query_text``, ``line 4, query_text``."""
        return f"{self.where}{self.joint}{self.names.get(name, name)}"

    @property
    def joint(self) -> str:
        """The separator between the entry's location and a field name."""
        return "." if self.where.endswith("]") else ", "


def of_collection(entry: Entry) -> Entry:
    """An entry of a test collection under ragval's names: ``_id`` and the like become ``id``.

    Unknown fields are kept under ``metadata``.
    """
    content = dict(entry.content)
    known: dict[str, Any] = {}
    for name, spellings in (("id", _IDS), ("query_text", _TEXTS)):
        spelled = next((spelling for spelling in spellings if content.get(spelling) not in (None, "")), None)
        if spelled is not None:
            known[name] = content.pop(spelled)
    metadata = content.pop("metadata", None)
    extra = {key: value for key, value in content.items() if key not in TestQuery.model_fields}
    known.update((key, value) for key, value in content.items() if key in TestQuery.model_fields)
    kept = {**(metadata if isinstance(metadata, Mapping) else {}), **extra}
    return Entry(entry.where, {**known, "metadata": kept} if kept else known)


def read_beir(folder: Path) -> tuple[list[Entry], Qrels, Path]:
    """Read a BEIR folder.

    It contains ``queries.jsonl`` (``_id``, ``text``, ``metadata``) and ``qrels/test.tsv``, or one other split.

    Returns:
        The queries that are judged, in file order; the judgements; and the file that holds them.

    Raises:
        SuiteError: A file is missing or malformed, there are several splits and none is called test, or no query is
            judged.
    """
    file = folder / "queries.jsonl"
    if not file.is_file():
        raise SuiteError(
            "is a folder without queries.jsonl, so it is not a BEIR folder",
            file=folder,
            remedy="Choose a query file in it.",
        )
    qrels_file = _qrels_file(folder / "qrels")
    qrels = read_qrels(qrels_file)
    entries = [of_collection(entry) for entry in read_entries(file)]
    judged = [entry for entry in entries if str(entry.content.get("id")) in qrels]
    if entries and not judged:
        raise SuiteError(f"judges none of the {len(entries):,} queries of {file}", file=qrels_file)
    return judged, qrels, qrels_file


def _qrels_file(folder: Path) -> Path:
    test = folder / "test.tsv"
    if test.is_file():
        return test
    splits = sorted(folder.glob("*.tsv"))
    if len(splits) == 1:
        return splits[0]
    found = (
        f"several splits ({', '.join(split.name for split in splits)}) and no test.tsv" if splits else "no .tsv file"
    )
    raise SuiteError(f"holds {found}", file=folder, remedy="Write {topics: queries.jsonl, qrels: qrels/SPLIT.tsv}.")
