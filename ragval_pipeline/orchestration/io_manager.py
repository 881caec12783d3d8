"""Values between assets: JSON for models, Parquet for tables, on any fsspec path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import Field

from ragval_pipeline.orchestration.latest import LATEST, VALUES, keep_latest, work_folder
from ragval_pipeline.orchestration.value_files import ENDINGS, decode, encode
from ragval_pipeline.suite.interpolation import environment_of, interpolate
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
        """Write the value whole or not at all.

        Raises:
            TypeError: The value is neither a pydantic model nor an Arrow table.
        """
        from ragval_pipeline.sources.storage.whole import write_whole

        if obj is None:
            return
        *_, name = context.asset_key.path
        body, ending = encode(obj)
        keep_latest(self._base(), context.run_id, name)
        for place in (self._of_run(context.run_id), self._latest()):
            write_whole(place / f"{name}{ending}", body)
            for other in ENDINGS:
                if other != ending:  # a value that changed its kind must not leave the old one to be found
                    (place / f"{name}{other}").unlink(missing_ok=True)
        context.add_output_metadata({"ragval/value": dg.MetadataValue.path(str(self._latest() / f"{name}{ending}"))})

    def load_input(self, context: dg.InputContext) -> Any:
        """Read the value of the run that made it, else the latest.

        Returns:
            What the input's type asks for; without a type a mapping for JSON and an Arrow table for Parquet.

        Raises:
            FileNotFoundError: The upstream asset was never materialised.
            ValueError: The value was written by another version and has another shape.
        """
        *_, name = context.asset_key.path
        kind = context.dagster_type.typing_type
        for place in self._places(context):
            for ending in ENDINGS:
                file = place / f"{name}{ending}"
                if file.exists():
                    return decode(file, kind)
        raise FileNotFoundError(
            f"{context.asset_key.to_user_string()} has no value below {self._base()}: materialise it first"
        )

    def _places(self, context: dg.InputContext) -> Iterator[UPath]:
        try:
            # After "re-execute from failure" this is the run before; for an asset of no run there is none.
            run_id = context.upstream_output.run_id if context.upstream_output else None
        except dg.DagsterInvariantViolationError:
            run_id = None
        if run_id:
            yield self._of_run(run_id)
        yield self._latest()

    def _of_run(self, run_id: str) -> UPath:
        return work_folder(self._base(), run_id) / VALUES

    def _latest(self) -> UPath:
        return self._base() / LATEST

    def _base(self) -> UPath:
        from upath import UPath

        folder = Path(self.folder) if self.folder else Path.cwd()
        return UPath(anchored_uri(interpolate(self.base_uri, environment_of(folder)), folder))
