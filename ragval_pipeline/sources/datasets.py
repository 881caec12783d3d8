"""Parquet files of a run as something that a query can read."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import pa, pq
from ragval_pipeline.sources.storage import local_path

if TYPE_CHECKING:
    from upath import UPath


def dataset_of(files: Sequence[UPath]) -> Any:
    """A dataset of files on this machine, read while it is queried, or a table of files elsewhere; None without files.

    Raises:
        pyarrow.ArrowInvalid: A file is not Parquet.
    """
    import pyarrow.dataset as ds

    if not files:
        return None
    paths = [local_path(file) for file in files]
    if all(path is not None for path in paths):
        return ds.dataset([str(path) for path in paths])
    return pa.concat_tables([pq.read_table(io.BytesIO(file.read_bytes())) for file in files], promote_options="default")
