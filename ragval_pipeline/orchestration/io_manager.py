"""Values between assets: JSON for models, Parquet for tables, on any fsspec path.

What lives here: writing and reading one asset's value. What does not: the snapshot's parts, which are never a value.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import BaseModel, Field

from ragval_pipeline.suite.interpolation import interpolate
from ragval_pipeline.suite.load import anchored_uri

if TYPE_CHECKING:
    from upath import UPath


class ReportStoreIOManager(dg.ConfigurableIOManager):
    """Keeps asset values beside the reports.

    A value is kept for its own run and as the latest of its asset: steps of a run read that run's value, so that two
    runs at once never mix, and a run that skips an upstream asset reads the latest.
    """

    base_uri: str = Field(description="Folder or fsspec URL; ${NAME} is read from the environment when it is used")
    folder: str = Field("", description="Where a relative base_uri starts; empty: the working directory")

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Write the value whole or not at all."""
        if obj is None:
            return
        *_, name = context.asset_key.path
        body, ending = _encode(obj)
        for place in (self._of_run(context.run_id), self._latest()):
            _write_whole(place / f"{name}{ending}", body)
        context.add_output_metadata({"ragval/value": dg.MetadataValue.path(str(self._latest() / f"{name}{ending}"))})

    def load_input(self, context: dg.InputContext) -> Any:
        """Read the value of this run, else the latest.

        Raises:
            FileNotFoundError: The upstream asset was never materialised.
        """
        *_, name = context.asset_key.path
        kind = context.dagster_type.typing_type
        ending = _ending(kind)
        for place in (self._of_run(context.step_context.run_id), self._latest()):
            file = place / f"{name}{ending}"
            if file.exists():
                return _decode(file.read_bytes(), kind)
        raise FileNotFoundError(f"{context.asset_key.to_user_string()} has no value yet: materialise it first")

    def _of_run(self, run_id: str) -> UPath:
        return work_folder(self._base(), run_id) / "values"

    def _latest(self) -> UPath:
        return self._base() / ".latest"

    def _base(self) -> UPath:
        from upath import UPath

        uri = interpolate(self.base_uri, os.environ)
        return UPath(anchored_uri(uri, Path(self.folder) if self.folder else Path.cwd()))


def work_folder(base: UPath, run_id: str) -> UPath:
    """Where a run keeps what it needs until its report is written."""
    return base / ".work" / run_id


def _encode(value: Any) -> tuple[bytes, str]:
    if isinstance(value, BaseModel):
        return value.model_dump_json().encode(), ".json"
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not isinstance(value, pa.Table):
        raise TypeError(f"an asset value must be a pydantic model or an Arrow table, not {type(value).__name__}")
    sink = pa.BufferOutputStream()
    pq.write_table(value, sink, compression="zstd")
    return sink.getvalue().to_pybytes(), ".parquet"


def _ending(kind: Any) -> str:
    return ".json" if isinstance(kind, type) and issubclass(kind, BaseModel) else ".parquet"


def _decode(body: bytes, kind: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind.model_validate_json(body)
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pq.read_table(pa.BufferReader(body))


def _write_whole(file: UPath, body: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.protocol not in {"", "file", "local"}:
        file.write_bytes(body)  # object stores show an object only when it is complete
        return
    partial = file.parent / f".{file.name}.{os.getpid()}.partial"
    partial.write_bytes(body)
    Path(str(partial)).replace(str(file))
