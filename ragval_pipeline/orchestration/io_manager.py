"""The value of ``validation_report`` for assets of other steps and runs: the report that the run has written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import dagster as dg
from pydantic import BaseModel, Field, ValidationError

from ragval_pipeline.suite.interpolation import environment_of, interpolate
from ragval_pipeline.suite.load import anchored_uri

if TYPE_CHECKING:
    from upath import UPath


class ReportStoreIOManager(dg.ConfigurableIOManager):
    """Reads reports where they were written; it stores nothing itself."""

    base_uri: str = Field(description="Folder or fsspec URL; ${NAME} is read from the environment when it is used")
    folder: str = Field("", description="Where a relative base_uri starts; empty: the working directory")

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Do nothing: the report is in the run's folder."""

    def load_input(self, context: dg.InputContext) -> Any:
        """The report of the run that made the asset, else the latest one.

        Returns:
            A report of the input's type; without a type a mapping.

        Raises:
            FileNotFoundError: There is no report.
            ValueError: The report was written by an incompatible version.
            HistoryNotReadError: The place of the reports refuses.
        """
        from ragval_pipeline.sources.history import reading_from

        base = self._base()
        if context.has_asset_partitions:
            base /= quote(context.asset_partition_key, safe="")
        with reading_from(base):
            for file in self._files(base, context):
                return _decoded(file, context.dagster_type.typing_type)
        raise FileNotFoundError(
            f"{context.asset_key.to_user_string()} has no report below {base}: materialise it first"
        )

    def _files(self, base: UPath, context: dg.InputContext) -> Iterator[UPath]:
        from ragval_pipeline.sources.history import REPORT

        try:
            run_id = context.upstream_output.run_id if context.upstream_output else ""
        except dg.DagsterInvariantViolationError:  # made by no run of this instance
            run_id = ""
        folders = [folder for folder in base.iterdir() if not folder.name.startswith(".")] if base.exists() else []
        # Names begin with the time of the run. For a run that has not made the report, Dagster names the run itself.
        folders.sort(key=lambda folder: (folder.name.endswith(run_id[:8]), str(folder.name)), reverse=True)
        yield from (folder / REPORT for folder in folders if (folder / REPORT).exists())

    def _base(self) -> UPath:
        from ragval_pipeline.sources.storage import open_folder

        folder = Path(self.folder) if self.folder else Path.cwd()
        return open_folder(anchored_uri(interpolate(self.base_uri, environment_of(folder)), folder))


def _decoded(file: UPath, kind: Any) -> Any:
    import json

    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return json.loads(file.read_bytes())
    try:
        return kind.model_validate_json(file.read_bytes())
    except ValidationError as error:
        field = ".".join(str(part) for part in error.errors(include_url=False, include_input=False)[0]["loc"])
        raise ValueError(
            f"{file} does not match {kind.__name__} ({field or 'not JSON'}): it was written by another version. "
            "Validate again."
        ) from None
