"""Writing a collection into a file of points, which ``points`` of a suite reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from ragval_pipeline.lazy import pa, pq
from ragval_pipeline.sources.storage import Filled, write_whole
from ragval_pipeline.sources.stores.points_file import ABOUT, ID, PAYLOAD, VECTOR

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
    from ragval_pipeline.sources.stores.qdrant.protocol import Point, Reader
    from ragval_pipeline.sources.stores.redaction import Redactor


@dataclass
class Exported:
    """What was written: facts of the collection, and the number of points so far."""

    facts: CollectionFacts
    points: int = 0


def export_points(
    reader_of: Callable[..., Reader],
    target: UPath,
    *,
    redactor: Redactor | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Exported:
    """Write every point with all its dense vectors; the file appears when it is whole.

    Args:
        reader_of: Makes readers of the collection; ``vector_name`` names the vector to read.
        target: The Parquet file.
        redactor: Replaces the texts of payloads; None: they are written as stored.
        on_progress: Called with the points written, and with all.

    Raises:
        SystemFailure: The collection cannot be read.
        OSError: The file cannot be written.
    """
    reader = reader_of()
    exported = Exported(reader.facts())
    vectors = {vector.name: reader_of(vector_name=vector.name) for vector in exported.facts.vectors}

    def fill(file: IO[bytes]) -> None:
        exported.points = 0
        schema = _schema(exported.facts, redactor)
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            for page in _pages(reader, exported.facts):
                writer.write_table(_table(page, vectors, schema, redactor))
                exported.points += len(page)
                if on_progress is not None:
                    on_progress(exported.points, exported.facts.points_count)

    write_whole(target, Filled(fill))
    return exported


def _pages(reader: Reader, facts: CollectionFacts) -> Iterator[list[Point]]:
    return (page for page in reader.scan(None, reader.way(facts), points=facts.points_count) if page)


def _schema(facts: CollectionFacts, redactor: Redactor | None) -> pa.Schema:
    about = {
        "name": facts.name,
        "metadata": facts.metadata if redactor is None else redactor.metadata(facts.metadata),
        "redacted": facts.redacted or redactor is not None,
        "distances": {vector.name or "": vector.distance for vector in facts.vectors},
    }
    columns = [pa.field(_column(vector.name), pa.list_(pa.float32())) for vector in facts.vectors]
    fields = [pa.field(ID, pa.string()), pa.field(PAYLOAD, pa.string()), *columns]
    return pa.schema(fields, metadata={ABOUT: json.dumps(about).encode()})


def _column(name: str | None) -> str:
    return VECTOR if name is None else f"{VECTOR}.{name}"


def _table(
    page: list[Point], vectors: dict[str | None, Reader], schema: pa.Schema, redactor: Redactor | None
) -> pa.Table:
    ids = [point.id for point in page]
    payloads = (point.payload if redactor is None else redactor.payload(point.payload) for point in page)
    columns: list[Any] = [ids, [_as_json(payload) for payload in payloads]]
    for reader in vectors.values():
        found = {name: row for batch in reader.vectors(ids) for name, row in zip(batch.ids, batch.matrix, strict=True)}
        columns.append([found.get(name) for name in ids])
    arrays = [pa.array(values, column.type) for values, column in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _as_json(payload: dict[str, Any]) -> str:
    text = json.dumps(payload, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold and UTF-8 cannot
        return json.dumps(payload)
    return text
