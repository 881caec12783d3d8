"""Parquet files of a run as something that a query can read."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import pa, pc, pq
from ragval_pipeline.sources.arrow import none_of
from ragval_pipeline.sources.storage import local_path

if TYPE_CHECKING:
    from upath import UPath


@dataclass(frozen=True)
class Files:
    """Parquet files, of which a query reads the columns that it names.

    Attributes:
        files: The files, with the same columns.
        left_out: Values of ``point_id`` of rows that are not read.
    """

    files: Sequence[UPath]
    left_out: Collection[str] = ()

    @property
    def query(self) -> str | None:
        """Their rows as SQL of DuckDB, which reads them itself; None if they are not on this machine."""
        paths = [local_path(file) for file in self.files]
        if not paths or None in paths:
            return None
        judged = f" where point_id not in ({', '.join(map(_quoted, self.left_out))})" if self.left_out else ""
        listed = ", ".join(_quoted(str(path)) for path in paths)
        return f"select * from read_parquet([{listed}]){judged}"  # noqa: S608  quoted

    def in_memory(self) -> Any:
        """Their rows as an Arrow table; None without files."""
        if not self.files:
            return None
        rows = pa.concat_tables(
            [pq.read_table(io.BytesIO(file.read_bytes())) for file in self.files], promote_options="default"
        )
        return rows.filter(none_of("point_id", self.left_out)(rows)) if self.left_out else rows


@contextmanager
def queryable() -> Iterator[Callable[[str, Any, pa.Schema], str]]:
    """A function that gives the rows of a table as SQL of DuckDB, for as long as the context is open.

    It takes a name, an Arrow table or ``Files`` (None: no rows), and the schema. A table in memory is written to a
    file: naming it for DuckDB would import pandas, which takes a second.
    """
    with TemporaryDirectory() as folder:

        def query_of(name: str, table: Any, schema: pa.Schema) -> str:
            if isinstance(table, Files):
                if (query := table.query) is not None:
                    return query
                table = table.in_memory()
            file = f"{folder}/{name}"
            pq.write_table(pa.Table.from_batches([], schema) if table is None else table, file, compression="none")
            return f"select * from read_parquet('{file}')"  # noqa: S608  our own file

        yield query_of


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def dataset_of(files: Sequence[UPath], left_out: Collection[str] = ()) -> Any:
    """A dataset of files on this machine, read while it is queried, or a table of files elsewhere; None without files.

    Args:
        files: The files.
        left_out: Values of ``point_id`` of rows that are left out.

    Raises:
        pyarrow.ArrowInvalid: A file is not Parquet.
    """
    import pyarrow.dataset as ds

    if not files:
        return None
    paths = [local_path(file) for file in files]
    if all(path is not None for path in paths):
        rows = ds.dataset([str(path) for path in paths])
        return rows.filter(~pc.field("point_id").isin(list(left_out))) if left_out else rows
    return Files(files, left_out).in_memory()


def columns_of(rows: Any, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Some columns of what ``dataset_of`` gives."""
    if isinstance(rows, pa.Table):
        yield from rows.select(list(names)).to_batches()
    else:
        yield from rows.to_batches(columns=list(names))
