"""A file of points as a store: a Parquet file or folder with the columns ``id``, ``payload`` and ``vector``.

An export, a bug report, or what an ingestion is about to upsert. It is read as Qdrant would store it: cosine vectors
have length 1, ids are in Qdrant's order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.lazy import np, pa, pc, pq
from ragval_pipeline.rules.index.unreachable import RULE as INDEX_UNREACHABLE
from ragval_pipeline.sources.storage import is_elsewhere, told_by_store
from ragval_pipeline.sources.stores.points_held import HeldPayloads, HeldVectors, PointIds
from ragval_pipeline.sources.stores.qdrant.names import canonical_id

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from upath import UPath

ID, PAYLOAD, VECTOR = "id", "payload", "vector"
#: Key of the file's own metadata: JSON with the collection's ``name``, ``metadata`` and its ``distances`` by vector.
ABOUT = b"ragval"
#: How far the length of a cosine vector may be from 1 before it is normalised: rounding in float32.
_LENGTH = 1e-5
#: Rows read at once, and bytes of a column.
_BATCH, _BUFFER = 2048, 1 << 20
_COLUMNS = f"A file of points has the columns {ID}, {PAYLOAD} (JSON text) and {VECTOR} or {VECTOR}.NAME."


@dataclass(frozen=True, eq=False)
class StoredPoints:
    """The points of a file, in the order of their ids; their values are in temporary files.

    Attributes:
        place: The file, folder or URL.
        ids: As Qdrant writes them.
        payloads: The payload of each row of the file.
        held: The vectors of each row, by name; None is the name of the unnamed ones.
        about: What the file says about its collection.
    """

    place: str
    ids: PointIds
    payloads: HeldPayloads
    held: Mapping[str | None, HeldVectors]
    about: Mapping[str, Any]

    @property
    def names(self) -> tuple[str | None, ...]:
        """Names of the vectors; None for the unnamed one."""
        return tuple(self.held)

    def distance(self, name: str | None) -> str:
        """The distance of a vector: the file's own, else Cosine."""
        return _distance(self.about, name)

    def size(self, name: str | None) -> int:
        """Numbers in each vector with a name; 0 if no point has one."""
        return self.held[name].width

    def payload(self, number: int) -> dict[str, Any]:
        """The payload of the point with a number."""
        return next(self.payloads_of(np.array([number])))

    def payloads_of(self, numbers: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
        """The payloads of the points with some numbers."""
        return (json.loads(text) if text else {} for text in self.payloads.texts(self.ids.rows[numbers]))

    def having(self, name: str | None, numbers: NDArray[np.int64], *, finite: bool = False) -> NDArray[np.bool_]:
        """Whether each of some points has a vector with this name, or one of finite numbers."""
        return self.held[name].have(self.ids.rows[numbers], finite=finite)

    def vectors(self, name: str | None, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of some points that have one, row by row."""
        return self.held[name].take(self.ids.rows[numbers])


def _distance(about: Mapping[str, Any], name: str | None) -> str:
    return str(about.get("distances", {}).get(name or "", "Cosine"))


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
    read = _Read(uri)
    for file in _files(uri):
        read.file(file)
    return read.all()


class _Read:
    """Reads the rows of files one batch after another, and checks each."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._files: list[tuple[str, int]] = []
        self._rows = 0
        self._about: Mapping[str, Any] = {}
        self._schema: pa.Schema | None = None
        self._keys: list[Any] = []
        self._payloads = HeldPayloads()
        self._vectors: dict[str | None, HeldVectors] = {}
        self._first: dict[str | None, int] = {}

    def file(self, file: UPath) -> None:
        """Read a file."""
        with _opened(file) as parquet:
            _checked(parquet, str(file))
            self._about = self._about or _about(parquet)
            columns = _read_columns(parquet)
            self._agree(pa.schema([parquet.schema_arrow.field(name) for name in columns]))
            for name in map(_vector_name, filter(_is_vector, columns)):
                self._vectors.setdefault(name, HeldVectors()).skip(self._rows)
            self._files.append((str(file), self._rows))
            batches = parquet.iter_batches(batch_size=_BATCH, columns=columns)
            while batch := self._next(file, batches):
                self._batch(batch)

    @staticmethod
    def _next(file: UPath, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        with _reading(file):
            return next(batches, None)

    def all(self) -> StoredPoints:
        """All points.

        Raises:
            SuiteError: An id occurs twice.
        """
        ids = PointIds(self._keys)
        self._keys.clear()
        if twice := ids.repeated():
            row, following = twice
            remedy = "Write each point once: an upsert keeps the last of them."
            name = ids[int(np.flatnonzero(ids.rows == row)[0])]
            raise self._wrong(ID, following, f"{name} is also the id of {self._row(row)}", remedy)
        vectors = {name: held.skip(self._rows).closed() for name, held in self._vectors.items()}
        return StoredPoints(self._uri, ids, self._payloads.closed(), vectors, self._about)

    def _agree(self, schema: pa.Schema) -> None:
        """Check that the columns of a file fit those of the files before."""
        try:
            known = schema if self._schema is None else self._schema
            self._schema = pa.unify_schemas([known, schema], promote_options="permissive")
        except pa.ArrowException as error:
            raise SuiteError(
                f"its files have columns of different types: {error}",
                file=self._uri,
                remedy="Write them with one schema.",
            ) from None

    def _batch(self, batch: pa.RecordBatch) -> None:
        ids, payloads = batch.column(ID), batch.column(PAYLOAD).to_pylist()
        if ids.null_count:
            row = self._rows + pc.index(pc.is_null(ids), value=True).as_py()
            raise self._wrong(ID, row, "is empty", "Every point needs an id.")
        self._keys.append(PointIds.keys([canonical_id(value) for value in ids.to_pylist()]))
        for number, text in enumerate(payloads):
            if text is not None:
                self._check(text, self._rows + number)
        self._payloads.add(payloads)
        for column in filter(_is_vector, batch.schema.names):
            self._vector(_vector_name(column), column, batch.column(column))
        self._rows += len(batch)

    def _check(self, text: str, row: int) -> None:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            told = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
            raise self._wrong(PAYLOAD, row, f"is not JSON: {told}", "Write it with json.dumps(payload).") from None
        if not isinstance(found, dict):
            kind = "a list" if isinstance(found, list) else "a text" if isinstance(found, str) else "a single value"
            raise self._wrong(PAYLOAD, row, f"is {kind}, not an object", "Write it with json.dumps(payload).")

    def _vector(self, name: str | None, column: str, values: pa.Array) -> None:
        held = self._vectors[name]
        length = _numpy(pc.fill_null(pc.list_value_length(values), 0)).astype(np.int64)
        there = length > 0
        rows = np.flatnonzero(there)
        if len(rows):
            first = self._first.setdefault(name, self._rows + int(rows[0]))
            width = held.width or int(length[rows[0]])
            other = rows[length[rows] != width]
            if len(other):
                problem = f"has {length[other[0]]:,} numbers, and {self._row(first)} has {width:,}"
                raise self._wrong(column, self._rows + int(other[0]), problem, "Write the vectors of one model.")
            matrix = _numpy(pc.list_flatten(values)).astype(np.float32).reshape(-1, width)
            is_cosine = _distance(self._about, name) == "Cosine"
            held.add(there, _of_length_one(matrix) if is_cosine else matrix)
        else:
            held.add(there, np.empty((0, 0), np.float32))

    def _wrong(self, column: str, row: int, problem: str, remedy: str) -> SuiteError:
        """The error of one row, counted from 1 in its file."""
        file, number = self._place(row)
        return SuiteError(f"row {number:,}, column {column}: {problem}", file=file, remedy=remedy)

    def _row(self, row: int) -> str:
        """A row in words, with its file if there are several."""
        file, number = self._place(row)
        return f"row {number:,}" if len(self._files) == 1 else f"row {number:,} of {file}"

    def _place(self, row: int) -> tuple[str, int]:
        file, first = next((file, first) for file, first in reversed(self._files) if first <= row)
        return file, row - first + 1


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
        problem = str(error).splitlines()[0].rstrip(".") if str(error) else "it cannot be read"
        raise SuiteError(f"is not a whole Parquet file: {problem}", file=str(place), remedy="Write it again.") from None
    except Exception as error:
        if not is_elsewhere(place):
            if isinstance(error, OSError):
                problem = error.strerror or str(error)
                raise SuiteError(f"cannot be read: {problem}", file=str(place), remedy="Correct the path.") from None
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


@contextmanager
def _opened(file: UPath) -> Iterator[pq.ParquetFile]:
    """A Parquet file whose row groups are read a piece at a time."""
    with ExitStack() as stack:
        with _reading(file):
            source = stack.enter_context(file.open("rb")) if is_elsewhere(file) else str(file)
            parquet = stack.enter_context(pq.ParquetFile(source, buffer_size=_BUFFER, pre_buffer=False))
        yield parquet


def _checked(parquet: pq.ParquetFile, file: str) -> None:
    """Check the columns of a Parquet file."""
    schema: pa.Schema = parquet.schema_arrow
    lacking = [name for name in (ID, PAYLOAD) if name not in schema.names]
    if not any(map(_is_vector, schema.names)):
        lacking.append(VECTOR)
    if lacking:
        names = ", ".join(schema.names[:20]) or "none"
        raise SuiteError(
            f"has no column {' and no column '.join(lacking)}; it has: {names}", file=file, remedy=_COLUMNS
        )
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


def _numpy(array: pa.Array) -> NDArray[Any]:
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _of_length_one(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1, as a cosine collection stores them; zero vectors, and rows that have that length, as given."""
    norms = np.linalg.norm(rows, axis=1)
    off = (np.abs(norms - 1) > _LENGTH) & (norms > 0) & np.isfinite(norms)
    if off.any():
        rows[off] /= norms[off, None]
    return rows
