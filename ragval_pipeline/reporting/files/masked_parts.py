"""The Parquet files of a run's evidence without what nobody should read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import pa, pq
from ragval_pipeline.reporting.bundle import Kind, ReportBundle
from ragval_pipeline.reporting.masked import without_values
from ragval_pipeline.sources.arrow import array_of
from ragval_pipeline.sources.storage import writing_to

if TYPE_CHECKING:
    from upath import UPath

#: Kinds of evidence with texts; the others are digests.
_OF_TEXTS: tuple[Kind, ...] = ("payload", "pages", "facts")


def mask_evidence(bundle: ReportBundle, secrets: Mapping[str, str]) -> ReportBundle:
    """Put what stands for each value in its place in the files that this run has staged.

    Lengths, hashes and counts in them stay those of the stored texts, so that each can be compared with the collection.

    Args:
        bundle: The run, before its folder is written.
        secrets: Values, with what stands for each.

    Returns:
        The run without what a later one needs to read these files instead of computing them.
    """
    masked = without_values(secrets)
    for kind in _OF_TEXTS:
        manifest = bundle.kept()[kind]
        if manifest is not None and manifest.run_id == bundle.report.run_id:
            for part in bundle.parts(kind).values():
                _mask_part(part, masked)
    if bundle.facts is None or bundle.facts.kept is None:
        return bundle
    for part in bundle.parts("kept").values():
        part.unlink()
    return replace(bundle, facts=bundle.facts.model_copy(update={"kept": None}))


def _mask_part(part: UPath, masked: Callable[[str], str]) -> None:
    with part.open("rb") as file:
        read = pq.ParquetFile(file)
        table = read.read()
    columns = [_masked_column(column, masked) for column in table.columns]
    if all(column is None for column in columns):
        return
    arrays = [column if new is None else new for column, new in zip(table.columns, columns, strict=True)]
    with writing_to(str(part.parent)), part.open("wb") as file:
        pq.write_table(
            pa.Table.from_arrays(arrays, schema=table.schema), file, compression="zstd", write_statistics=False
        )


def _masked_column(column: pa.ChunkedArray, masked: Callable[[str], str]) -> pa.ChunkedArray | None:
    """The column with its texts masked; None if none of them changes."""
    chunks = [_masked_array(chunk, masked) for chunk in column.chunks]
    if all(chunk is None for chunk in chunks):
        return None
    return pa.chunked_array(
        [old if new is None else new for old, new in zip(column.chunks, chunks, strict=True)], column.type
    )


def _masked_array(array: pa.Array, masked: Callable[[str], str]) -> pa.Array | None:
    kind = array.type
    if pa.types.is_string(kind):
        texts = array.to_pylist()
        shown = [text if text is None else masked(text) for text in texts]
        return None if shown == texts else array_of(shown, kind)
    if pa.types.is_dictionary(kind):
        texts_of = _masked_array(array.dictionary, masked)
        return None if texts_of is None else pa.DictionaryArray.from_arrays(array.indices, texts_of)
    if pa.types.is_list(kind):
        values = _masked_array(array.values, masked)
        return (
            None
            if values is None
            else pa.Array.from_buffers(kind, len(array), array.buffers()[:2], offset=array.offset, children=[values])
        )
    if pa.types.is_struct(kind):
        fields = [array.field(number) for number in range(kind.num_fields)]
        new = [_masked_array(entry, masked) for entry in fields]
        if all(entry is None for entry in new):
            return None
        children = [old if entry is None else entry for old, entry in zip(fields, new, strict=True)]
        return pa.Array.from_buffers(kind, len(array), array.buffers()[:1], offset=array.offset, children=children)
    return None
