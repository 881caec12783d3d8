"""The suite's log of real questions: how often each was asked, without the personal data that people type."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from ragval_pipeline.errors import SuiteError, all_in_one
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.queries.files import read_entries
from ragval_pipeline.suite.queries.model import TEXT_NAMES
from ragval_pipeline.text.personal import mask_personal
from ragval_pipeline.text.printing import printable
from ragval_pipeline.text.times import parse_time

KIND = "log of questions"
#: Names of each column, as logs have them.
TEXTS = (*TEXT_NAMES, "prompt", "message")
_COUNTS = ("count", "n", "hits", "frequency")
_TIMES = ("time", "timestamp", "asked_at", "created_at", "date")
_FILTER = "filter"


@dataclass(frozen=True, slots=True)
class AskedText:
    """A question of the log.

    Attributes:
        text: As typed, with personal data masked and blanks folded.
        count: How often it was asked.
        filter: Payload equality that the assistant set, by field; JSON text with sorted keys, empty without any. Its
            values are those of the index, which only a search sees: ``shown_filter`` is for everything else.
    """

    text: str
    count: float
    filter: str = ""


@dataclass(frozen=True)
class Log:
    """A log of real questions.

    Attributes:
        questions: Each text once for each filter, most asked first.
        masked: How often each kind of personal data was masked.
        first: When the first question was asked, aware UTC; None without times.
        last: When the last one was.
    """

    questions: tuple[AskedText, ...]
    masked: Mapping[str, int] = field(default_factory=dict)
    first: datetime | None = None
    last: datetime | None = None

    @property
    def asked(self) -> float:
        """How often a question was asked."""
        return sum(question.count for question in self.questions)


def load_traffic(suite: Suite) -> Log | None:
    """The log of a suite's ``traffic``; None if it has none.

    Personal data is masked here: nothing that is read of a log leaves this function as it was written, but values of
    filters, which a search needs.

    Raises:
        SuiteError: The file cannot be read, or an entry is wrong; a question's text is never repeated.
    """
    if suite.traffic is None:
        return None
    counts: dict[tuple[str, str], float] = {}
    masked: Counter[str] = Counter()
    times: list[datetime] = []
    errors: list[SuiteError] = []
    file = suite.file if isinstance(suite.traffic, tuple) else suite.folder / suite.traffic
    for where, content in _entries(suite, file):
        try:
            text, count, time, only = _read(content)
        except _WrongError as wrong:
            key = f"{where}, {wrong.key}" if wrong.key else where
            errors.append(SuiteError(wrong.problem, file=file, key=key, remedy=wrong.remedy))
            continue
        shown, found = mask_personal(" ".join(text.split()))
        counts[shown, only] = counts.get((shown, only), 0) + count
        masked.update(found)
        masked.update(_masked(only)[1])
        if time is not None:
            times = [min(time, *times), max(time, *times)] if times else [time]
    if errors:
        raise all_in_one(errors)
    if not counts:
        raise SuiteError("has no questions", file=file, key="traffic", remedy="Add some, or remove the key traffic.")
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    questions = tuple(AskedText(text, count, only) for (text, only), count in ordered)
    return Log(questions, dict(masked), *((times[0], times[-1]) if times else (None, None)))


def shown_filter(only: str) -> str:
    """A filter as reports show it: personal data in its values is masked."""
    return _masked(only)[0]


@cache
def _masked(only: str) -> tuple[str, Counter[str]]:
    found: Counter[str] = Counter()
    shown: dict[str, Any] = {}
    for name, value in json.loads(only).items() if only else ():
        masked, kinds = mask_personal(str(value))
        shown[name] = masked if kinds else value
        found.update(kinds)
    return (_filter_text(shown) if found else only), found


def _filter_text(only: Mapping[str, Any]) -> str:
    return json.dumps(only, sort_keys=True, ensure_ascii=False)


class _WrongError(Exception):
    """What is wrong with an entry, at one of its keys."""

    def __init__(self, problem: str, remedy: str, key: str = "") -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.key = problem, remedy, key


def _entries(suite: Suite, file: Path | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(suite.traffic, tuple):
        for number, entry in enumerate(suite.traffic):
            yield f"traffic[{number}]", {"text": entry} if isinstance(entry, str) else entry
        return
    assert file is not None
    if file.suffix.lower() == ".parquet":
        yield from _rows(file)
        return
    yield from ((entry.where, entry.content) for entry in read_entries(file, kind=KIND))


def _rows(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as table:
            wanted = {*TEXTS, *_COUNTS, *_TIMES, _FILTER}
            columns = [name for name in table.schema_arrow.names if name.casefold() in wanted]
            if not set(TEXTS).intersection(map(str.casefold, columns)):
                names = printable(", ".join(table.schema_arrow.names))
                raise SuiteError(f"has no column of questions, only {names}", file=file, remedy=_NAME_IT)
            number = 0
            for batch in table.iter_batches(columns=columns):
                for row in batch.to_pylist(maps_as_pydicts="lossy"):
                    number += 1
                    if isinstance(only := row.get(_FILTER), dict):  # a struct has the fields of all rows
                        row[_FILTER] = {name: value for name, value in only.items() if value is not None}
                    yield f"row {number}", row
    except FileNotFoundError:
        raise SuiteError("does not exist", file=file, key="traffic", remedy="Correct the path.") from None
    except (OSError, pa.ArrowException) as error:
        problem = printable(str(error).split("\n", 1)[0])
        raise SuiteError(f"is not a readable Parquet file: {problem}", file=file, key="traffic") from None


_NAME_IT = f"Name the column of the questions {', '.join(TEXTS[:-1])} or {TEXTS[-1]}."


def _read(content: Mapping[str, Any]) -> tuple[str, float, datetime | None, str]:
    """Text, count, time and filter of an entry.

    Raises:
        _WrongError: One of them is wrong.
    """
    # Columns of a spreadsheet are written as headings.
    content = {name.casefold(): value for name, value in content.items()}
    name = next((name for name in TEXTS if content.get(name) is not None), None)
    if name is None:
        raise _WrongError("has no text", _NAME_IT)
    text = content[name]
    if not isinstance(text, str) or not text.strip():
        raise _WrongError("must be a text that is not blank", "Write the question as it was asked.", name)
    return text, _count(content), _time(content), _filter(content)


def _count(content: Mapping[str, Any]) -> float:
    name = next((name for name in _COUNTS if content.get(name) is not None), None)
    if name is None:
        return 1
    value = content[name]
    if isinstance(value, str) and _THOUSANDS_OR_FRACTION.fullmatch(value.strip()):
        raise _WrongError("may be thousands or a fraction", "Write a whole number without separators.", name)
    try:
        count = float(_without_groups(value)) if not isinstance(value, bool) else -1.0
    except (TypeError, ValueError):
        count = -1.0
    if not 0 < count < float("inf"):
        raise _WrongError("must be a number above 0", "Write how often the question was asked, or leave it out.", name)
    return int(count) if count.is_integer() else count


#: Of a text nobody can tell whether 1.234 or 1,234 is more than a thousand: that depends on the writer's language.
_THOUSANDS_OR_FRACTION = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
#: Groups of thousands, of which there are two, or whose separator begins no fraction.
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:([.,'\u2019 \u00a0\u202f])\d{3})(?:\1\d{3})*")


def _without_groups(value: Any) -> Any:
    if isinstance(value, str) and _GROUPED.fullmatch(value.strip()):
        return re.sub(r"\D", "", value)
    return value


def _time(content: Mapping[str, Any]) -> datetime | None:
    name = next((name for name in _TIMES if content.get(name) is not None), None)
    if name is None:
        return None
    value = content[name]
    moment = parse_time(value.isoformat() if hasattr(value, "isoformat") else str(value))
    if moment is None:
        raise _WrongError("is not a time", "Write ISO 8601 or Unix seconds, or leave it out.", name)
    return moment


def _filter(content: Mapping[str, Any]) -> str:
    value = content.get(_FILTER)
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else None
        except ValueError:
            value = value or "wrong"
    if value is None or value == {}:
        return ""
    if not isinstance(value, Mapping) or not all(isinstance(each, str | int) for each in value.values()):
        raise _WrongError(
            "must be payload fields with texts, whole numbers or truth values",
            "Write {field: value}, or leave it out.",
            _FILTER,
        )
    return _filter_text(dict(value))
