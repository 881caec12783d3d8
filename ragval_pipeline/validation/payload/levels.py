"""The level of each field of each point: missing, empty, wrong type, invalid or ok; and the rules of fields."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, get_args

from ragval_pipeline.lazy import np, pa, pc
from ragval_pipeline.sources.arrow import array_from, array_of, constant, numbers_of, without_nulls
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.site.inventory import Addresses
from ragval_pipeline.sources.site.urls import is_file_path
from ragval_pipeline.sources.snapshot.manifest import INTEGER_FIELDS, kind_column
from ragval_pipeline.sources.snapshot.records import EMPTY_KINDS, Kind
from ragval_pipeline.text.times import parse_time
from ragval_pipeline.validation.thresholds import CLOCK_SKEW, FEW

if TYPE_CHECKING:
    import numpy.typing as npt


_TEXT: frozenset[Kind] = frozenset({"str"})
_NAME: frozenset[Kind] = frozenset({"str", "int"})
_WHOLE: frozenset[Kind] = frozenset({"int"})


@dataclass(frozen=True)
class FieldRule:
    """The rule of a canonical field.

    Attributes:
        kinds: Kinds of the right type.
        minimum: Smallest integer, for number fields.
        invalid_kinds: Kinds of the right type whose value is always invalid.
        valid: Whether a value of the right type is valid, given the time of the run; None: always.
        says: Description of a valid value.
    """

    kinds: frozenset[Kind]
    says: str
    minimum: int | None = None
    invalid_kinds: frozenset[Kind] = frozenset()
    valid: Callable[[str, datetime], bool] | None = None


#: What Python writes as text for a value that is not there. A page may be named null or undefined.
_NOTHING = frozenset({"None", "nan"})


def _is_value(value: str, now: datetime) -> bool:
    return value not in _NOTHING


#: No text was embedded before: earlier times are the zero of a clock, such as 1970, 1980 or the year 1.
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)  # definition


def _is_time_of_embedding(value: str, now: datetime) -> bool:
    moment = parse_time(value)
    return moment is not None and _EARLIEST <= moment <= now + CLOCK_SKEW


RULES: dict[str, FieldRule] = {
    "text": FieldRule(_TEXT, "a text"),
    "source_url": FieldRule(_TEXT, "an http(s) URL", valid=lambda value, _: is_http_url(value)),
    "title": FieldRule(_TEXT, "a title", valid=_is_value),
    "module": FieldRule(_NAME, "a name", valid=_is_value),
    "chapter": FieldRule(_NAME, "a name", valid=_is_value),
    "chunk_id": FieldRule(_NAME, "an id"),
    "parent_id": FieldRule(_NAME, "an id"),
    "text_hash": FieldRule(_TEXT, "a hash"),
    "model": FieldRule(_TEXT, "the name of a model", valid=_is_value),
    "embedded_at": FieldRule(
        frozenset({"str", "int", "float"}), "a time since 2000 that is not in the future", valid=_is_time_of_embedding
    ),
    "token_count": FieldRule(_WHOLE, "a whole number from 1", minimum=1),
    "chunk_index": FieldRule(_WHOLE, "a whole number from 0", minimum=0),
    "original_length": FieldRule(_WHOLE, "a whole number from 1", minimum=1),
    "headings": FieldRule(frozenset({"strings", "list"}), "a list of headings", invalid_kinds=frozenset({"list"})),
}


def canonical_of(fields: Mapping[str, str]) -> dict[str, str]:
    """Payload name to its canonical field; the first if a name is used for several."""
    return {name: canonical for canonical, name in reversed(list(fields.items())) if canonical in RULES}


def value_rule(
    canonical: str, *, addresses: Addresses, names_page: Callable[[str], bool] | None = None
) -> Callable[[str, datetime], bool] | None:
    """Whether a text is valid, given the time of the run; ``None``: always.

    ``names_page`` says whether a text without a host names a page of the site.
    """
    if canonical != "source_url" or (addresses == "urls" and names_page is None):
        return RULES[canonical].valid
    if addresses == "ids":
        return None
    named = names_page or (lambda _: False)
    return lambda value, _: is_http_url(value) or named(value) or (addresses == "files" and is_file_path(value))


def has_value_rule(canonical: str, *, addresses: Addresses) -> bool:
    """Whether values of the right type can be invalid."""
    rule = RULES[canonical]
    return (
        rule.minimum is not None or bool(rule.invalid_kinds) or value_rule(canonical, addresses=addresses) is not None
    )


Level = Literal["missing", "empty", "wrong_type", "invalid", "ok"]
LEVELS: tuple[Level, ...] = get_args(Level)
_MISSING, _EMPTY, _WRONG_TYPE, _INVALID, _OK = range(len(LEVELS))
#: Canonical fields that some points have none of by their nature: a parent has no parent.
OF_SOME = frozenset({"parent_id"})
#: Represents integers beyond 64 bits.
_BEYOND = -(2**63)  # definition


@dataclass(frozen=True)
class PayloadLevels:
    """The levels of a collection's points.

    Attributes:
        columns: One row per point: ``point_id``; ``level:<field>``, one of ``LEVELS``; ``number:<field>``, the integer
            value of a field with a minimum, except counts of no text.
        incomplete: Rows of the points without some required field, or with an empty one.
        offenders: Rows by level and payload name, if any: missing and empty for ``present_fields``, missing also for
            mapped fields that almost all points have (``FEW``), wrong types and invalid values for mapped fields.
        kinds: Number of points by payload name and kind.
    """

    columns: pa.Table
    incomplete: npt.NDArray[np.int64]
    offenders: Mapping[Level, Mapping[str, npt.NDArray[np.int64]]]
    kinds: Mapping[str, Mapping[str, int]]

    @property
    def points(self) -> int:
        """Number of points of the collection."""
        return int(self.columns.num_rows)

    @property
    def complete(self) -> int:
        """Number of points with every required field present and not empty."""
        return self.points - len(self.incomplete)


def level_column(field: str) -> str:
    """Column with the level of a payload field."""
    return f"level:{field}"


def number_column(field: str) -> str:
    """Column with the integer value of a payload field."""
    return f"number:{field}"


def needed_columns(fields: Mapping[str, str], required: Sequence[str]) -> list[str]:
    """Snapshot columns that ``derive_levels`` reads."""
    judged = dict.fromkeys(name for name in canonical_of(fields).values() if name != "text")
    return ["point_id", *judged, *map(kind_column, dict.fromkeys([*fields.values(), *required]))]


def present_fields(fields: Mapping[str, str], required: Sequence[str], *, paged: bool = False) -> list[str]:
    """Payload names that every point must have and not leave empty: required ones, the text, and the page.

    Without its text a point is useless, and without its page it cannot be compared. The page only if points are
    compared with pages (``paged``).
    """
    always = ("text", "source_url") if paged else ("text",)
    return list(dict.fromkeys([*required, *(fields[name] for name in always if name in fields)]))


def derive_levels(
    batches: Iterable[pa.RecordBatch],
    *,
    fields: Mapping[str, str],
    required: Sequence[str],
    now: datetime,
    addresses: Addresses,
    names_page: Callable[[str], bool] | None = None,
) -> PayloadLevels:
    """Derive the levels.

    Args:
        batches: Rows of the snapshot with ``needed_columns``.
        fields: Canonical name to payload name.
        required: Payload names that every point must have.
        now: Time of the run, for times in the future.
        addresses: What ``source_url`` may hold.
        names_page: Whether a text without a host names a page of the site.
    """
    names = list(dict.fromkeys([*fields.values(), *required]))
    canonical, present = canonical_of(fields), present_fields(fields, required, paged=addresses != "ids")
    ruled = {key: value_rule(key, addresses=addresses, names_page=names_page) for key in canonical.values()}
    valid = {key: _at(now, rule) for key, rule in ruled.items() if rule is not None}
    kinds: dict[str, Counter[str]] = {name: Counter() for name in names}
    offenders: defaultdict[Level, defaultdict[str, list[npt.NDArray[np.int64]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    tables: list[pa.RecordBatch] = []
    level_names = array_of(LEVELS, pa.string())
    usual = {name for name, key in canonical.items() if key not in OF_SOME and name not in present}
    points, incomplete = 0, [np.zeros(0, dtype=np.int64)]
    for batch in batches:
        columns: dict[str, pa.Array] = {"point_id": batch.column("point_id")}
        lacking = np.zeros(batch.num_rows, dtype=bool)
        textless = _without_text(batch, fields)
        for name in names:
            key = canonical.get(name)
            stored = batch.column(kind_column(name))
            kinds[name].update({entry["values"]: entry["counts"] for entry in stored.value_counts().to_pylist()})
            of_kind = [_level_of(kind, key, addresses) for kind in stored.dictionary.to_pylist()]
            levels = np.array(of_kind, dtype=np.int8)[numbers_of(stored.indices)]
            if key is not None and key != "text":
                numbers = _judge_values(levels, stored, batch.column(key), key, textless, valid.get(key))
                if numbers is not None:
                    columns[number_column(name)] = numbers
            columns[level_column(name)] = pa.DictionaryArray.from_arrays(array_from(levels), level_names)
            if name in required:
                lacking |= levels <= _EMPTY
            asked = (_MISSING, _EMPTY) if name in present else (_MISSING,) if name in usual else ()
            for level in asked + ((_WRONG_TYPE, _INVALID) if key else ()):
                if len(rows := np.flatnonzero(levels == level)):
                    offenders[LEVELS[level]][name].append(rows + points)
        tables.append(pa.record_batch(columns))
        incomplete.append(np.flatnonzero(lacking) + points)
        points += batch.num_rows
    for name in usual - {name for name in usual if _lacking(kinds[name]) <= FEW * points}:
        offenders["missing"].pop(name, None)
    return PayloadLevels(
        pa.Table.from_batches(tables) if tables else pa.table({"point_id": array_of([], pa.string())}),
        incomplete=np.concatenate(incomplete),
        offenders={
            level: {n: np.concatenate(rows) for n, rows in found.items()} for level, found in offenders.items() if found
        },
        kinds=kinds,
    )


def _lacking(kinds: Mapping[str, int]) -> int:
    """Points without a value, by kind of value."""
    return sum(count for kind, count in kinds.items() if kind == "absent" or kind in EMPTY_KINDS)


def _at(now: datetime, rule: Callable[[str, datetime], bool]) -> Callable[[str], bool]:
    return lambda value: rule(value, now)


def _judge_values(
    levels: npt.NDArray[np.int8],
    kinds: pa.DictionaryArray,
    values: pa.Array,
    canonical: str,
    textless: npt.NDArray[np.bool_],
    valid: Callable[[str], bool] | None,
) -> pa.Array | None:
    """Check the values themselves, and correct ``levels``, which are based on kinds.

    Returns:
        The integer values of a field with a minimum.
    """
    if canonical in INTEGER_FIELDS:
        # Integral floats are integers: JSON makes no difference.
        whole = pc.and_(pc.equal(kinds.dictionary_decode(), constant("float")), values.is_valid())
        levels[numbers_of(whole)] = _OK
    if (minimum := RULES[canonical].minimum) is not None:
        numbers = numbers_of(without_nulls(values, _BEYOND))
        # Without text 0 is the correct count.
        true = (numbers == 0) & textless if canonical == "token_count" else np.zeros_like(textless)
        levels[(levels == _OK) & (numbers < minimum) & ~true] = _INVALID
        return array_from(numbers, missing=(levels < _INVALID) | true)
    if valid is not None:
        # Values repeat within a page: each is judged once.
        rows = np.flatnonzero(levels == _OK)
        known = values.take(array_from(rows)).dictionary_encode()
        wrong = np.array([not valid(value) for value in (*known.dictionary.to_pylist(), "")], dtype=bool)
        places = numbers_of(without_nulls(known.indices, len(known.dictionary)))
        levels[rows[wrong[places]]] = _INVALID
    return None


def _without_text(batch: pa.RecordBatch, fields: Mapping[str, str]) -> npt.NDArray[np.bool_]:
    """The rows that have no text."""
    if "text" not in fields:
        return np.zeros(batch.num_rows, dtype=bool)
    kinds = batch.column(kind_column(fields["text"]))
    empty = np.array([kind == "absent" or kind in EMPTY_KINDS for kind in kinds.dictionary.to_pylist()], dtype=bool)
    found: npt.NDArray[np.bool_] = empty[numbers_of(kinds.indices)]
    return found


def _level_of(kind: str, canonical: str | None, addresses: Addresses) -> int:
    """The level of a kind, before checking the value itself."""
    if kind == "absent":
        return _MISSING
    if kind in EMPTY_KINDS:
        return _EMPTY
    if canonical is None:
        return _OK
    # Document ids used instead of URLs may be numbers.
    is_id = kind == "int" and canonical == "source_url" and addresses == "ids"
    if kind not in RULES[canonical].kinds and not is_id:
        return _WRONG_TYPE
    return _INVALID if kind in RULES[canonical].invalid_kinds else _OK
