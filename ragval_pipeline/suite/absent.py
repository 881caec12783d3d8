"""What no point may hold and no search return: the suite's list of addresses, ids and phrases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from ragval_pipeline.errors import SuiteError, all_in_one
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.yaml_file import parse_yaml, read_text
from ragval_pipeline.text.folding import words_of

AbsentKind = Literal["url", "id", "phrase"]

_FILE = "list of what must be absent"
_STRUCTURED = frozenset({".yaml", ".yml", ".json"})
_ID = re.compile(r"\d+|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)
_URL = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_SHAPE = "Write an address, a point id or a phrase, or say which it is: {phrase: ...}."


@dataclass(frozen=True)
class AbsentEntry:
    """One entry of the list.

    Attributes:
        kind: An address of a page, an id of a point or document, or words that follow each other in a text.
        value: What is searched for. Phrases may be what nobody may read: it is never shown.
        name: As in findings: the address or id, for a phrase only its number in the list.
    """

    kind: AbsentKind
    value: str = field(repr=False)
    name: str


def load_absent(suite: Suite) -> tuple[AbsentEntry, ...]:
    """The entries of a suite's ``absent``, each once; none if it has no list.

    Texts that are http(s) addresses are addresses; UUIDs and whole numbers are ids; all others are phrases, and the id
    of a point or document that is spelt like them. A text file has an entry per line, with ``#`` for comments.

    Raises:
        SuiteError: The file cannot be read, or an entry is not one of these; an entry's text is never repeated.
    """
    if suite.absent is None:
        return ()
    file, given = suite.file, suite.absent
    entries: list[tuple[str, Any]]
    if isinstance(given, Path):
        file = suite.folder / given
        entries = list(_entries_in(file))
    else:
        entries = [(f"absent[{number}]", entry) for number, entry in enumerate(given)]
    if not entries:
        raise SuiteError("has no entries", file=file, key="absent", remedy="Add some, or remove the key absent.")
    read: dict[tuple[str, str], AbsentEntry] = {}
    errors: list[SuiteError] = []
    for number, (place, entry) in enumerate(entries, start=1):
        try:
            made = _entry(entry, number)
        except ValueError as error:
            errors.append(SuiteError(str(error), file=file, key=place, remedy=_SHAPE))
        else:
            read.setdefault((made.kind, made.value), made)
    if errors:
        raise all_in_one(errors)
    return tuple(read.values())


def _entries_in(file: Path) -> Iterator[tuple[str, Any]]:
    text = read_text(file, kind=_FILE)
    if file.suffix.lower() in _STRUCTURED:
        content = parse_yaml(text, file=file)
        if not isinstance(content, list):
            raise SuiteError("must be a list", file=file, remedy=_SHAPE)
        yield from ((f"[{number}]", entry) for number, entry in enumerate(content))
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if (entry := line.strip()) and not entry.startswith("#"):
            yield f"line {number}", entry


def _entry(given: Any, number: int) -> AbsentEntry:
    kind, value = _told(given)
    if kind == "phrase" and not words_of(value):
        raise ValueError("is a phrase without a word")
    if not value:
        raise ValueError("is empty")
    return AbsentEntry(kind, value, f"phrase {number}" if kind == "phrase" else value)


def _told(given: Any) -> tuple[AbsentKind, str]:
    if isinstance(given, Mapping):
        for kind in get_args(AbsentKind):
            if given.keys() == {kind}:
                return kind, _text(given[kind])
        raise ValueError(f"must have one key of {', '.join(get_args(AbsentKind))}")
    value = _text(given)
    if _URL.match(value):
        return "url", value
    return ("id" if _ID.fullmatch(value) else "phrase"), value


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("must be a text")
    return str(value).strip()
