"""The rows of a bucket as Arrow tables, and back."""

from __future__ import annotations

import inspect
import re
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any

from ragval_pipeline.lazy import pa, pc
from ragval_pipeline.sources.arrow import array_of, numbers_of
from ragval_pipeline.validation.facts.damage import Passage
from ragval_pipeline.validation.facts.furniture import Phrase
from ragval_pipeline.validation.facts.rows import BlockFacts, ChunkFacts, Edge, PageFacts, Replaced
from ragval_pipeline.validation.facts.texts import Stray, TextFacts

#: In the metadata of each Parquet file: the minor version rises when columns are added, the major when one is removed
#: or changed.
FACTS_VERSION = "2.5"
#: Columns of a page's row with many hashes.
_OF_PAGES = ("beside", "anchors")
#: Columns whose values hardly repeat, and those with hashes.
UNIQUE, HASHES = ("point_id", "excerpt", "stored_hash", "url"), (
    "shingles", "probes", "beside", "anchors", "digest",
)  # fmt: skip


def chunk_schema() -> pa.Schema:
    """Arrow schema of a chunk's row: ``ChunkFacts``, and ``TextFacts`` of the same point."""
    edge = pa.struct({"word": pa.string(), "missing": pa.int32(), "replaced": pa.int32(), "strange": pa.string()})
    words = pa.list_(pa.string())
    types = {
        **dict.fromkeys(("point_id", "page_key", "page_url"), pa.string()),
        **dict.fromkeys(("compared", "repeated"), pa.bool_()),
        "chunk_index": pa.int64(),
        "depth": pa.int32(),
        **dict.fromkeys(("embedded_at", "model"), pa.string()),
        **dict.fromkeys(("letters", "found", "words", "changed", "surely", "longest", "outside"), pa.int32()),
        **dict.fromkeys(("starts", "places", "lengths", "again"), pa.list_(pa.int32())),
        **dict.fromkeys(("openings", "closings"), pa.list_(edge)),
        "replaced": pa.list_(pa.struct({"words": pa.string(), "page": pa.string()})),
        **dict.fromkeys(("inserted", "joins"), words),
        "probes": pa.list_(pa.uint64()),
        "claimed": pa.int64(),
        **dict.fromkeys(("characters", "parts", "marks"), pa.int32()),
        "script": pa.string(),
        **dict.fromkeys(("tokens", "added", "exact"), pa.int32()),
        "digest": pa.uint64(),
        "blank": pa.bool_(),
        "body": pa.float64(),
        "excerpt": pa.string(),
        "shingles": pa.list_(pa.uint32()),
        "strays": pa.list_(pa.struct({"character": pa.string(), "count": pa.int32(), "place": pa.string()})),
        "damaged": pa.list_(pa.struct({"before": pa.string(), "after": pa.string(), "words": words})),
        **dict.fromkeys(("stored_hash", "hashed_as"), pa.string()),
        **dict.fromkeys(("begins", "ends"), words),
        **dict.fromkeys(("begins_held", "ends_held"), pa.int32()),
        "phrases": pa.list_(pa.struct({"words": pa.string(), "sure": pa.bool_()})),
        "markup": pa.int32(),
        "raw": pa.bool_(),
    }
    return pa.schema(list(types.items()), {"schema_version": FACTS_VERSION})


def page_schema() -> pa.Schema:
    """Arrow schema of ``PageFacts``."""
    block = pa.struct(
        {
            "kind": pa.string(), "letters": pa.int32(), "held": pa.int32(), "start": pa.int32(), "digest": pa.uint64(),
            "text": pa.string(), "cut": pa.int32(), "weight": pa.float32(),
        }
    )  # fmt: skip
    types = {
        **dict.fromkeys(("page_key", "url", "state", "problem", "unfit", "target"), pa.string()),
        "scripted": pa.bool_(),
        **dict.fromkeys(("chunks", "textless"), pa.int32()),
        "blocks": pa.list_(block),
        **dict.fromkeys(("beside", "anchors"), pa.list_(pa.uint64())),
        "damaged": pa.list_(pa.string()),
    }
    return pa.schema(list(types.items()), {"schema_version": FACTS_VERSION})


def facts_schema() -> dict[str, Any]:
    """The columns of ``evidence/facts/``: by table, each with name, Arrow type and description."""
    tables = {"chunks": (chunk_schema(), (ChunkFacts, TextFacts)), "pages": (page_schema(), (PageFacts,))}
    return {
        f"{name}-*.parquet": [
            {"column": entry.name, "type": str(entry.type), "holds": _holds(kinds, entry.name)} for entry in schema
        ]
        for name, (schema, kinds) in tables.items()
    }


#: Class of the entries of list columns.
_ENTRIES: Mapping[str, type] = {
    "replaced": Replaced, "openings": Edge, "closings": Edge, "blocks": BlockFacts, "strays": Stray, "phrases": Phrase,
}  # fmt: skip


def _holds(kinds: Sequence[type], name: str) -> str:
    """The descriptions of an attribute, and of the attributes of a list's entries, from docstrings."""
    told = next(attributes[name] for kind in kinds if name in (attributes := _attributes(kind)))
    entries = Passage if name == "damaged" and TextFacts in kinds else _ENTRIES.get(name)
    if entries is not None:
        told += " " + " ".join(f"`{entry}`: {means}" for entry, means in _attributes(entries).items())
    return told


def _attributes(kind: type) -> dict[str, str]:
    """The attributes of a class, from its docstring."""
    section = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")[2]
    found = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", section, re.MULTILINE)
    return {name: " ".join(means.split()) for name, means in found}


def chunk_table(chunks: Iterable[ChunkFacts], texts: Iterable[TextFacts]) -> pa.Table:
    """A row for each text, with its comparison with the page; texts without letters are not compared."""
    by_id = {chunk.point_id: chunk for chunk in chunks}
    described = list(texts)
    placed = [
        by_id.get(text.point_id) or ChunkFacts(text.point_id, text.page_key, model=text.model) for text in described
    ]
    return _table(chunk_schema(), lambda name: placed if name in ChunkFacts.__slots__ else described)


def page_table(pages: Iterable[PageFacts]) -> pa.Table:
    """A row for each page."""
    held = list(pages)
    return _table(page_schema(), lambda name: held)


def _table(schema: pa.Schema, rows_of: Callable[[str], Sequence[Any]]) -> pa.Table:
    columns = [array_of(list(map(attrgetter(entry.name), rows_of(entry.name))), entry.type) for entry in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def chunks_of(batch: pa.RecordBatch) -> Iterator[ChunkFacts]:
    """The chunks of a table's rows."""
    lists = dict.fromkeys(("starts", "places", "lengths", "inserted", "joins", "probes", "again"), tuple)
    kinds = {"replaced": Replaced, "openings": Edge, "closings": Edge}
    entries = {name: partial(_entries, kind) for name, kind in kinds.items()}
    return (ChunkFacts(**row) for row in _rows(batch, {**_SHARED, **lists, **entries}))


def texts_of(batch: pa.RecordBatch) -> Iterator[TextFacts]:
    """The texts of a table's rows; some columns may be missing."""
    kinds = {"strays": Stray, "damaged": Passage, "phrases": Phrase}
    entries = {name: partial(_entries, kind) for name, kind in kinds.items()}
    return (TextFacts(**row) for row in _rows(batch, {**_SHARED, **entries, "begins": _words, "ends": _words}))


def _rows(batch: pa.RecordBatch, made: Mapping[str, Callable[[Any], Any]]) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    columns = [batch.column(name).to_pylist() for name in names]
    made_columns = (map(made[name], own) if name in made else own for name, own in zip(names, columns, strict=True))
    return (dict(zip(names, values, strict=True)) for values in zip(*made_columns, strict=True))


def _entries(kind: Callable[..., Any], entries: Iterable[Mapping[str, Any]]) -> tuple[Any, ...]:
    return tuple(kind(**entry) for entry in entries) if entries else ()


def _words(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(sys.intern, words))


def _once(text: str | None) -> str | None:
    return text if text is None else sys.intern(text)


#: Repeated values are shared, since all rows may be in memory at the same time.
_SHARED: Mapping[str, Callable[[Any], Any]] = dict.fromkeys(
    ("point_id", "page_key", "page_url", "model", "embedded_at", "script"), _once
)


def pages_of(batch: pa.RecordBatch) -> Iterator[PageFacts]:
    """The pages of a table's rows; columns of hashes may be missing."""
    entries = batch.column("blocks").flatten()
    # Field by field: converting the blocks as mappings would take several times as long.
    blocks = tuple(map(BlockFacts, *(pc.struct_field(entries, name).to_pylist() for name in BlockFacts._fields)))
    named = [name for name in _OF_PAGES if name in batch.schema.names]
    hashes = (
        _cut(array("Q", numbers_of(batch.column(name).flatten()).tobytes()), batch.column(name)) for name in named
    )
    lists = zip(_cut(blocks, batch.column("blocks")), *hashes, strict=True)
    rows = _rows(batch.drop_columns(["blocks", *named]), {"damaged": tuple})
    return (
        PageFacts(**row, blocks=own, **dict(zip(named, runs, strict=True)))
        for row, (own, *runs) in zip(rows, lists, strict=True)
    )


def _cut(entries: Sequence[Any], lists: pa.ListArray) -> Iterator[Any]:
    """The entries of each of some lists."""
    ends = pc.cumulative_sum(pc.list_value_length(lists)).to_pylist()
    return (entries[start:end] for start, end in pairwise([0, *ends]))
