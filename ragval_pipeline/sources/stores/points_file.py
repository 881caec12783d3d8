"""A file of points as a store: a Parquet file or folder with the columns ``id``, ``payload`` and ``vector``.

An export, a bug report, or what an ingestion is about to upsert. It is read as Qdrant would store it: cosine vectors
have length 1, ids are in Qdrant's order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.lazy import np, pa, pc, pq
from ragval_pipeline.rules.index.unreachable import RULE as INDEX_UNREACHABLE
from ragval_pipeline.sources.storage import is_elsewhere, told_by_store
from ragval_pipeline.sources.stores.qdrant.names import canonical_id, id_order

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from upath import UPath

ID, PAYLOAD, VECTOR = "id", "payload", "vector"
#: Key of the file's own metadata: JSON with the collection's ``name``, ``metadata`` and its ``distances`` by vector.
ABOUT = b"ragval"
#: How far the length of a cosine vector may be from 1 before it is normalised: rounding in float32.
_LENGTH = 1e-5
_COLUMNS = f"A file of points has the columns {ID}, {PAYLOAD} (JSON text) and {VECTOR} or {VECTOR}.NAME."


@dataclass(frozen=True, eq=False)
class StoredPoints:
    """The points of a file, in the order of their ids.

    Attributes:
        place: The file, folder or URL.
        ids: As Qdrant writes them.
        rows: Of each point, its row in ``table``.
        table: The columns as read.
        files: The Parquet files, each with its first row in ``table``.
        about: What the file says about its collection.
        read: Vectors read so far, by name.
    """

    place: str
    ids: list[str]
    rows: NDArray[np.int64]
    table: pa.Table
    files: tuple[tuple[str, int], ...]
    about: Mapping[str, Any]
    read: dict[str | None, tuple[NDArray[np.int64], NDArray[np.float32]]] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str | None, ...]:
        """Names of the vectors; None for the unnamed one."""
        return tuple(_vector_name(column) for column in self.table.column_names if _is_vector(column))

    def distance(self, name: str | None) -> Any:
        """The distance of a vector: the file's own, else Cosine."""
        return self.about.get("distances", {}).get(name or "", "Cosine")

    def check(self) -> None:
        """Check what reading the points would otherwise stumble over one by one.

        Raises:
            SuiteError: A payload is no JSON object, or the vectors of a column have different lengths.
        """
        texts = (text for batch in self.table.column(PAYLOAD).chunks for text in batch.to_pylist())
        for row, text in enumerate(texts):
            self._parsed(text, row)
        for name in self.names:
            self._lengths(name)

    def payload(self, number: int) -> dict[str, Any]:
        """The payload of the point with a number."""
        row = int(self.rows[number])
        return self._parsed(self.table.column(PAYLOAD)[row].as_py(), row)

    def _parsed(self, text: str | None, row: int) -> dict[str, Any]:
        if text is None:
            return {}
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            told = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
            raise self.wrong(PAYLOAD, row, f"is not JSON: {told}", "Write it with json.dumps(payload).") from None
        if not isinstance(found, dict):
            kind = "a list" if isinstance(found, list) else "a text" if isinstance(found, str) else "a single value"
            raise self.wrong(PAYLOAD, row, f"is {kind}, not an object", "Write it with json.dumps(payload).")
        return found

    def vectors(self, name: str | None) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The numbers of the points that have this vector, and their vectors, row by row."""
        if name not in self.read:
            self.read[name] = self._read(name)
        return self.read[name]

    def _read(self, name: str | None) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        length = self._lengths(name)
        held = np.flatnonzero(length)
        if not len(held):
            return np.empty(0, np.int64), np.empty((0, 0), np.float32)
        chunks = self.table.column(_column(name)).chunks
        values = [_numpy(pc.list_flatten(chunk)).astype(np.float32) for chunk in chunks]
        matrix = np.concatenate(values).reshape(-1, length[held[0]])
        place = np.full(len(length), -1, np.int64)
        place[held] = np.arange(len(held))
        of_point = place[self.rows]
        numbers = np.flatnonzero(of_point >= 0)
        matrix = matrix[of_point[numbers]]
        return numbers, _of_length_one(matrix) if self.distance(name) == "Cosine" else matrix

    def _lengths(self, name: str | None) -> NDArray[np.int64]:
        """Numbers in the vector of each row, 0 without one; all others are equal."""
        column = _column(name)
        found = [pc.fill_null(pc.list_value_length(chunk), 0) for chunk in self.table.column(column).chunks]
        length = np.concatenate([_numpy(chunk).astype(np.int64) for chunk in found]) if found else np.empty(0, np.int64)
        held = np.flatnonzero(length)
        other = held[length[held] != length[held[0]]] if len(held) else held
        if len(other):
            first = f"{self.row(int(held[0]))} has {length[held[0]]:,}"
            told = f"has {length[other[0]]:,} numbers, and {first}"
            raise self.wrong(column, int(other[0]), told, "Write the vectors of one model.")
        return length

    def wrong(self, column: str, row: int, problem: str, remedy: str) -> SuiteError:
        """The error of one row, counted from 1 in its file."""
        file, number = self._place(row)
        return SuiteError(f"row {number:,}, column {column}: {problem}", file=file, remedy=remedy)

    def row(self, row: int) -> str:
        """A row in words, with its file if there are several."""
        file, number = self._place(row)
        return f"row {number:,}" if len(self.files) == 1 else f"row {number:,} of {file}"

    def _place(self, row: int) -> tuple[str, int]:
        file, first = next((file, first) for file, first in reversed(self.files) if first <= row)
        return file, row - first + 1


def open_points(uri: str) -> StoredPoints:
    """The points of a Parquet file, of all Parquet files of a folder, or of those at an fsspec URL.

    Raises:
        SuiteError: There is no such file, it is not Parquet, a column is missing or of the wrong type, an id is missing
            or occurs twice, a payload is no JSON object, or vectors of a column have different lengths.
        SystemFailure: The store that holds it does not answer.
    """
    kept = _kept.get()
    if kept is None:
        return _open(uri)
    if uri not in kept:
        kept[uri] = _open(uri)
    return kept[uri]


_kept: ContextVar[dict[str, StoredPoints] | None] = ContextVar("_kept", default=None)


@contextmanager
def keeping_points() -> Iterator[None]:
    """A file that is read meanwhile is read once."""
    token = _kept.set({} if (kept := _kept.get()) is None else kept)
    try:
        yield
    finally:
        _kept.reset(token)


def check_points(uri: str) -> None:
    """Check every row of a file on this machine: ids, payloads and the lengths of vectors.

    Raises:
        SuiteError: As ``open_points``.
    """
    if not is_elsewhere(uri):
        open_points(uri)


def _open(uri: str) -> StoredPoints:
    tables, files, about, rows = [], [], dict[str, Any](), 0
    for file in _files(uri):
        parquet = _opened(file)
        _checked(parquet, str(file))
        about = about or _about(parquet)
        with _reading(file):
            table = parquet.read(columns=_read_columns(parquet))
        files.append((str(file), rows))
        tables.append(table.replace_schema_metadata())
        rows += table.num_rows
    try:
        table = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise SuiteError(
            f"its files have columns of different types: {error}", file=uri, remedy="Write them with one schema."
        ) from None
    points = StoredPoints(uri, [], np.empty(0, np.int64), table, tuple(files), about)
    ids = _ids(points)
    order = sorted(range(len(ids)), key=lambda row: id_order(ids[row]))
    for row, following in pairwise(order):
        if ids[row] == ids[following]:
            remedy = "Write each point once: an upsert keeps the last of them."
            raise points.wrong(ID, following, f"{ids[row]} is also the id of {points.row(row)}", remedy)
    numbers = np.array(order, dtype=np.int64)
    points = StoredPoints(uri, [ids[row] for row in order], numbers, table, tuple(files), about)
    points.check()
    return points


def _files(uri: str) -> list[UPath]:
    """The Parquet files of a place, by name."""
    from upath import UPath

    try:
        place = UPath(uri)
    except (ImportError, ValueError) as error:
        raise SuiteError(str(error).rstrip("."), key="points", remedy="Name a file or a supported store.") from None
    with _reading(place):
        if not place.exists():
            raise SuiteError(f"there is no file or folder {uri}", key="points", remedy="Correct the path.")
        if not place.is_dir():
            return [place]
        files = sorted((file for file in place.glob("**/*.parquet") if file.is_file()), key=str)
    if not files:
        raise SuiteError(f"the folder {uri} holds no file *.parquet", key="points", remedy=_COLUMNS)
    return files


@contextmanager
def _reading(place: UPath) -> Iterator[None]:
    """Turn what a file or a remote store raises into an error that names it."""
    try:
        yield
    except (SuiteError, SystemFailure):
        raise
    except pa.ArrowInvalid as error:
        told = str(error).splitlines()[0].rstrip(".") if str(error) else "it cannot be read"
        raise SuiteError(f"is not a whole Parquet file: {told}", file=str(place), remedy="Write it again.") from None
    except Exception as error:
        if not is_elsewhere(place):
            if isinstance(error, OSError):
                told = error.strerror or str(error)
                raise SuiteError(f"cannot be read: {told}", file=str(place), remedy="Correct the path.") from None
            raise
        if type(error).__module__ == "builtins" and not isinstance(error, OSError):  # a defect of ours
            raise
        raise SystemFailure(
            f"cannot be read: {told_by_store(error)}",
            code=INDEX_UNREACHABLE.code,
            system="store of points",
            subject=str(place),
            remedy="Check the key points, and the credentials and the network of that store.",
        ) from error


def _opened(file: UPath) -> pq.ParquetFile:
    with _reading(file):
        return pq.ParquetFile(file.open("rb") if is_elsewhere(file) else str(file), memory_map=not is_elsewhere(file))


def _checked(parquet: pq.ParquetFile, file: str) -> None:
    """Check the columns of a Parquet file."""
    schema: pa.Schema = parquet.schema_arrow
    lacking = [name for name in (ID, PAYLOAD) if name not in schema.names]
    if not any(map(_is_vector, schema.names)):
        lacking.append(VECTOR)
    if lacking:
        held = ", ".join(schema.names[:20]) or "none"
        raise SuiteError(f"has no column {' and no column '.join(lacking)}; it has: {held}", file=file, remedy=_COLUMNS)
    wanted = {ID: (_is_id, "integers or texts"), PAYLOAD: (_is_text, "JSON texts")}
    for name in _read_columns(parquet):
        suits, told = wanted.get(name, (_is_numbers, "lists of numbers"))
        kind = schema.field(name).type
        if not suits(kind):
            raise SuiteError(f"column {name} holds {kind}, not {told}", file=file, remedy=_COLUMNS)


def _read_columns(parquet: pq.ParquetFile) -> list[str]:
    return [name for name in parquet.schema_arrow.names if name in {ID, PAYLOAD} or _is_vector(name)]


def _is_vector(column: str) -> bool:
    return column == VECTOR or column.startswith(f"{VECTOR}.")


def _column(name: str | None) -> str:
    return VECTOR if name is None else f"{VECTOR}.{name}"


def _vector_name(column: str) -> str | None:
    return column.partition(".")[2] or None


def _is_id(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or _is_text(kind)


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_numbers(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(is_list and (pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type)))


def _about(parquet: pq.ParquetFile) -> dict[str, Any]:
    try:
        found = json.loads((parquet.schema_arrow.metadata or {}).get(ABOUT, b"{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _ids(points: StoredPoints) -> list[str]:
    """The ids, row by row.

    Raises:
        SuiteError: One is missing.
    """
    column = points.table.column(ID)
    if column.null_count:
        row = pc.index(pc.is_null(column), value=True).as_py()
        raise points.wrong(ID, row, "is empty", "Every point needs an id.")
    return [canonical_id(value) for value in column.to_pylist()]


def _numpy(array: pa.Array) -> NDArray[Any]:
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _of_length_one(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1, as a cosine collection stores them; zero vectors, and rows that have that length, as given."""
    norms = np.linalg.norm(rows, axis=1)
    off = (np.abs(norms - 1) > _LENGTH) & (norms > 0) & np.isfinite(norms)
    if off.any():
        rows[off] /= norms[off, None]
    return rows
