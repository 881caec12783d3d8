"""From stored points to rows of the snapshot, with the kind of each value before a typed column hides it."""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any, Literal, get_args

from ragval_pipeline.lazy import np, pa, pc
from ragval_pipeline.sources.arrow import array_from, array_of
from ragval_pipeline.sources.payload_paths import NUMBERED, lookup
from ragval_pipeline.sources.snapshot.embedded import Template, fields_read, text_of_payload
from ragval_pipeline.sources.snapshot.manifest import (
    INTEGER_FIELDS,
    LIST_FIELDS,
    TEXT_FIELDS,
    arrow_schema,
    kind_column,
)
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.text.characters import encodable, is_blank

Kind = Literal[
    "absent", "null", "blank", "empty", "bool", "int", "float", "str", "strings", "list", "object",
]  # fmt: skip

KINDS: tuple[Kind, ...] = get_args(Kind)
#: Present but empty: null, "", only blanks or zero-width characters, [], {}.
EMPTY_KINDS: frozenset[Kind] = frozenset({"null", "blank", "empty"})


def kind_of(present: bool, value: Any) -> Kind:
    """The kind of one payload value; 0, 0.0 and false are not empty."""
    if not present:
        return "absent"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "str" if not is_blank(value) else "blank"
    if not value:
        return "empty"
    if isinstance(value, list):
        if all(isinstance(entry, str) and is_blank(entry) for entry in value):
            return "empty"
        return "strings" if all(isinstance(entry, str) for entry in value) else "list"
    return "object"


#: Characters of a value that are displayed.
_SHOWN = 200


def shown(value: Any) -> str:
    """A value as JSON text for display, cut at ``_SHOWN`` characters; what JSON cannot hold is named by type."""
    if isinstance(value, str):
        value = value[:_SHOWN]  # encode only the start of a text of megabytes
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):  # numbers of thousands of digits, keys that are not texts, depth
        text = f"({type(value).__name__})"
    return encodable(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def whole_number(value: Any) -> int | None:
    """The value as a 64-bit integer; integral floats count, booleans and texts do not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not value.is_integer():  # also excludes NaN and infinity
        return None
    whole = int(value)
    return whole if -(2**63) <= whole < 2**63 else None


class _Absent:
    """Marks a name that a payload does not have."""


_ABSENT = _Absent()
#: Characters that make a name a path into a payload.
_REACHES = frozenset({".", "#", NUMBERED})
_PLAIN = frozenset(string.ascii_letters + string.digits)
_BEGINNING = itemgetter(slice(1))
_CODES = {kind: code for code, kind in enumerate(KINDS)}
_OF_TYPE: dict[type, Kind] = {_Absent: "absent", type(None): "null", bool: "bool", int: "int", float: "float"}
_NONE: frozenset[Kind] = frozenset({"absent", "null"})
#: Kinds of values that Arrow converts directly.
_USUAL: dict[str, frozenset[Kind]] = {
    **dict.fromkeys(TEXT_FIELDS, _NONE | {"str", "blank"}),
    **dict.fromkeys(INTEGER_FIELDS, _NONE | {"int"}),
    **dict.fromkeys(LIST_FIELDS, _NONE | {"strings"}),
}


class RecordMapper:
    """Turns points into Arrow record batches.

    Args:
        fields: Canonical name to payload name.
        tracked: Payload names whose kinds are kept: all mapped and all required ones.
        page_key: Canonical form of a source URL.
        pages: In-scope sitemap pages by canonical form, as written in the sitemap.
        flavour: The framework that wrote the points; None: not known.
        template: The suite's template of the embedded text; None: none.
        extra: Payload paths of further fields, by the name that they have in the column ``extra``.
        labels: Payload paths of fields with short values, for the column ``labels``.
        beside: Payload paths of fields with short texts, or lists of them, for the column ``beside``.
    """

    def __init__(
        self,
        *,
        fields: Mapping[str, str],
        tracked: Sequence[str],
        page_key: Callable[[str], str],
        pages: Mapping[str, str],
        flavour: str | None = None,
        template: Template | None = None,
        extra: Mapping[str, str] | None = None,
        labels: Sequence[str] = (),
        beside: Sequence[str] = (),
    ) -> None:
        self._beside = tuple(beside)
        self._labels = {path: path for path in labels}
        self._extra = dict(extra or {})
        self._fields = dict(fields)
        self._tracked = tuple(tracked)
        self._page_key = page_key
        self._pages = pages
        self._flavour = flavour
        self._template = template
        self._places: dict[str | None, tuple[str | None, str | None]] = {}
        self.schema = arrow_schema(self._tracked)

    def batch(self, points: Sequence[Point]) -> pa.RecordBatch:
        """One record batch of the snapshot's schema, one row per point, in order.

        A column whose values are all of the usual type is converted as a whole; any other value by value.
        """
        payloads = [point.payload for point in points]
        names = set().union(*payloads)
        held = {name: _values(payloads, name, names) for name in self._tracked}
        kinds = {name: _kinds(values) for name, values in held.items()}
        columns: dict[str, Any] = {kind_column(name): _coded(found, len(points)) for name, found in kinds.items()}
        odd: dict[int, dict[str, str]] = {}
        for name, path in self._fields.items():
            columns[name], strange = _typed_column(name, held[path], kinds[path], self.schema.field(name).type)
            for row in strange:
                odd.setdefault(row, {})[path] = shown(held[path][row])
        columns["point_id"] = array_of([point.id for point in points], pa.string())
        columns |= self._derived(columns, payloads)
        if self._extra:
            columns["extra"] = array_of([_extra_of(payload, self._extra) for payload in payloads], pa.string())
        if self._labels:
            columns["labels"] = array_of([_extra_of(payload, self._labels) for payload in payloads], pa.string())
        if self._beside:
            columns["beside"] = array_of(
                [_texts_of(payload, self._beside) for payload in payloads], pa.list_(pa.string())
            )
        if odd:
            odd_texts = [json.dumps(odd[row], ensure_ascii=False) if row in odd else None for row in range(len(points))]
            columns["odd"] = array_of(odd_texts, pa.string())
        arrays = [
            pa.nulls(len(points), entry.type) if columns.get(entry.name) is None else columns[entry.name]
            for entry in self.schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _derived(self, columns: Mapping[str, Any], payloads: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        text = pa.nulls(len(payloads), pa.string()) if columns.get("text") is None else columns["text"]
        found = {"text_sha256": _hashes(text), "text_chars": pc.utf8_length(text).cast(pa.int64())}
        if columns.get("source_url") is not None:
            # The few addresses of a page are looked up once for all its chunks.
            urls = columns["source_url"].dictionary_encode()
            known = self._places
            places = [known.get(url) or self._place(url) for url in urls.dictionary.to_pylist()]
            for name, each in zip(("page_key", "page_url"), zip(*places, strict=True), strict=False):
                found[name] = array_of(each, pa.string()).take(urls.indices)
        if self._template is not None or fields_read(self._flavour):
            told = zip(payloads, text.to_pylist(), strict=True)
            found["embedded_text"] = array_of([self._embedded(*pair) for pair in told], pa.string())
        return found

    def _place(self, url: str | None) -> tuple[str | None, str | None]:
        """Canonical form and in-scope page of a source URL, cached: a page has several chunks."""
        key = self._page_key(url) if url is not None and not is_blank(url) else None
        place = self._places[url] = (key, None if key is None else self._pages.get(key))
        return place

    def _embedded(self, payload: Mapping[str, Any], text: str | None) -> str | None:
        found = text_of_payload(payload, self._flavour, self._template)
        return None if found is None or found == text else encodable(found)


def _extra_of(payload: Mapping[str, Any], fields: Mapping[str, str]) -> str | None:
    """JSON of the fields that a payload has, by their name; None without any."""
    found = {name: lookup(payload, path) for name, path in fields.items()}
    held = {name: value for name, (present, value) in found.items() if present}
    return encodable(json.dumps(held, ensure_ascii=False, default=str)) if held else None


def _texts_of(payload: Mapping[str, Any], paths: Sequence[str]) -> list[str] | None:
    """The texts of some fields of a payload, each once; None without any."""
    found = (text for path in paths for text in texts_in(lookup(payload, path)[1]))
    return [encodable(text) for text in dict.fromkeys(found)] or None


def texts_in(value: Any) -> Iterator[str]:
    """The texts of a value: itself, or the entries of a list and the values of objects in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for entry in value:
            yield from texts_in(list(entry.values()) if isinstance(entry, Mapping) else entry)


def _values(payloads: Sequence[Mapping[str, Any]], name: str, names: Collection[str]) -> list[Any]:
    """The value of a payload name in each payload; ``_ABSENT`` where there is none.

    ``names`` are all names at the top of any of the payloads.
    """
    if _REACHES.isdisjoint(name):
        if name not in names:
            return [_ABSENT] * len(payloads)
        try:
            return list(map(itemgetter(name), payloads))
        except KeyError:
            return [payload.get(name, _ABSENT) for payload in payloads]
    found = (lookup(payload, name) for payload in payloads)
    return [value if present else _ABSENT for present, value in found]


def _hashes(texts: pa.Array) -> pa.Array:
    """SHA-256 of each text, hex, computed from the column's UTF-8 bytes."""
    _, offsets, content = texts.buffers()
    if content is None:
        return pa.nulls(len(texts), pa.string())
    held, ends = memoryview(content), memoryview(offsets).cast("i")[: len(texts) + 1]
    hashes: list[str | None] = [hashlib.sha256(held[start:end]).hexdigest() for start, end in pairwise(ends)]
    if texts.null_count:
        hashes = [found if known else None for found, known in zip(hashes, texts.is_valid().to_pylist(), strict=True)]
    return array_of(hashes, pa.string())


def _kinds(values: Sequence[Any]) -> Sequence[Kind] | Kind:
    """The kind of each value, or a single kind for all, as in most columns."""
    types = set(map(type, values))
    if len(types) == 1:
        [only] = types
        if only in _OF_TYPE:
            return _OF_TYPE[only]
        # Most texts begin with an ASCII letter or digit, so they are not blank.
        if only is str and _PLAIN.issuperset(map(_BEGINNING, values)):
            return "str"
        if (
            only is list
            and all(values)
            and set(map(type, chain.from_iterable(values))) == {str}
            and _PLAIN.issuperset(_BEGINNING(value[0]) for value in values)
        ):
            return "strings"
    return ["absent" if value is _ABSENT else kind_of(True, value) for value in values]


def _coded(kinds: Sequence[Kind] | Kind, rows: int) -> pa.DictionaryArray:
    if isinstance(kinds, str):
        return _coded_alike(kinds, rows)
    codes = np.fromiter((_CODES[kind] for kind in kinds), dtype=np.int8, count=rows)
    return pa.DictionaryArray.from_arrays(array_from(codes), array_of(KINDS, pa.string()))


@lru_cache(maxsize=4 * len(KINDS))  # nearly all pages of points have the same length
def _coded_alike(kind: Kind, rows: int) -> pa.DictionaryArray:
    codes = np.full(rows, _CODES[kind], dtype=np.int8)
    return pa.DictionaryArray.from_arrays(array_from(codes), array_of(KINDS, pa.string()))


def _typed_column(
    name: str, values: Sequence[Any], kinds: Sequence[Kind] | Kind, kind_of_column: pa.DataType
) -> tuple[pa.Array, list[int]]:
    """A canonical field's column, and the rows whose value it cannot hold."""
    if isinstance(kinds, str) and kinds in _NONE:
        return pa.nulls(len(values), kind_of_column), []
    if _USUAL[name].issuperset({kinds} if isinstance(kinds, str) else kinds):
        usual = values if isinstance(kinds, str) else [None if value is _ABSENT else value for value in values]
        try:
            return array_of(usual, kind_of_column), []
        except (UnicodeEncodeError, OverflowError, pa.ArrowException):
            pass  # a lone surrogate, or a number of more than 64 bits
    typed = [None if value is _ABSENT else typed_value(name, value) for value in values]
    each = [kinds] * len(values) if isinstance(kinds, str) else kinds
    strange = [row for row, value in enumerate(typed) if value is None and each[row] not in EMPTY_KINDS | {"absent"}]
    return array_of(typed, kind_of_column), strange


def tracked_fields(fields: Mapping[str, str], required: Iterable[str]) -> tuple[str, ...]:
    """Payload names whose kinds the snapshot keeps: mapped and required ones, without duplicates."""
    return tuple(dict.fromkeys([*fields.values(), *required]))


def typed_value(name: str, value: Any) -> Any:
    """The value of a canonical field in its column's type; None if that is impossible."""
    if value is None:
        return None
    if name in INTEGER_FIELDS:
        return whole_number(value)
    if name in TEXT_FIELDS:
        if isinstance(value, str):
            return encodable(value)
        # Ids and modules may be written as numbers.
        return _digits(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return _texts(value)


def _digits(number: float) -> str | None:
    try:
        return str(number)
    except ValueError:  # Python does not print integers of more than 4300 digits
        return None


def _texts(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return [encodable(value)]
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return [encodable(entry) for entry in value]
    return None
