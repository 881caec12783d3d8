"""Values of assets in files on any fsspec path: between assets, and what the steps of a run leave for each other."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import Field

from ragval_pipeline.orchestration.values import decode, encode
from ragval_pipeline.suite.interpolation import environment_of, interpolate
from ragval_pipeline.suite.load import anchored_uri
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from upath import UPath


class ReportStoreIOManager(dg.ConfigurableIOManager):
    """Stores asset values next to the reports.

    A value is stored for its run and as the asset's latest: steps read their run's value, so that concurrent runs never
    mix, and a run that skips an upstream asset reads the latest.
    """

    base_uri: str = Field(description="Folder or fsspec URL; ${NAME} is read from the environment when it is used")
    folder: str = Field("", description="Where a relative base_uri starts; empty: the working directory")

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Write the value atomically.

        Raises:
            TypeError: The value is not a pydantic model.
            ReportNotWrittenError: The place of the reports refuses.
        """
        from ragval_pipeline.sources.storage import write_whole, writing_to

        if obj is None:
            return
        name, body = f"{context.asset_key.path[-1]}.json", encode(obj)
        base = self._base()
        with writing_to(base):
            keep_latest(base, context.run_id, name)
            for place in (self._of_run(context.run_id), self._latest()):
                write_whole(place / name, body)
        context.add_output_metadata({"ragval/value": dg.MetadataValue.path(str(self._latest() / name))})

    def load_input(self, context: dg.InputContext) -> Any:
        """Read the value of the run that made it, else the latest.

        Returns:
            A value of the input's type; without a type a mapping.

        Raises:
            FileNotFoundError: The upstream asset was never materialised.
            ValueError: The value was written by an incompatible version.
            HistoryNotReadError: The place of the reports refuses.
        """
        from ragval_pipeline.sources.history import reading_from

        for place in self._places(context):
            file = place / f"{context.asset_key.path[-1]}.json"
            with reading_from(file):
                if file.exists():
                    return decode(file, context.dagster_type.typing_type)
        raise FileNotFoundError(
            f"{context.asset_key.to_user_string()} has no value below {self._base()}: materialise it first"
        )

    def _places(self, context: dg.InputContext) -> Iterator[UPath]:
        try:
            # After "re-execute from failure" this is the previous run; there may be none.
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
        from ragval_pipeline.sources.storage import open_folder

        folder = Path(self.folder) if self.folder else Path.cwd()
        return open_folder(anchored_uri(interpolate(self.base_uri, environment_of(folder)), folder))


#: Folder of the latest values of assets, also within a run's working files.
LATEST, VALUES = ".latest", "values"
_BEFORE = "before"


def work_folder(base: UPath, run_id: str) -> UPath:
    """Folder of a run's working files, until its report is written."""
    return base / ".work" / run_id


def keep_latest(base: UPath, run_id: str, name: str) -> None:
    """Save the latest value of an asset, the file ``name``, before a run replaces it; only on a local disk."""
    from ragval_pipeline.sources.storage import local_path

    kept, latest = local_path(work_folder(base, run_id) / _BEFORE), local_path(base / LATEST / name)
    if latest is not None and kept is not None and latest.is_file() and not (kept / name).exists():
        kept.mkdir(parents=True, exist_ok=True)
        _link(latest, kept / name)


def take_back_latest(base: UPath, run_id: str) -> None:
    """Restore the latest values that a run has replaced, or remove its own if they were not saved.

    Its snapshot is removed with the run: later runs of single assets must not find references to it.
    """
    from ragval_pipeline.sources.storage import write_whole

    work, latest = work_folder(base, run_id), base / LATEST
    made = work / VALUES
    for own in list(made.iterdir()) if made.exists() else []:
        now, before = latest / own.name, work / _BEFORE / own.name
        # Another run may have replaced it meanwhile.
        if not now.exists() or now.read_bytes() != own.read_bytes():
            continue
        if before.exists():
            write_whole(now, before.read_bytes())
        else:
            now.unlink()
    if latest.exists() and not any(latest.iterdir()):
        latest.rmdir()


def _link(file: Path, to: Path) -> None:
    try:
        os.link(file, to)
    except OSError:  # a filesystem without links
        shutil.copyfile(file, to)


_FAILED = ".failed.json"
_STOPPED = "stopped"


class Notes:
    """The notes of one run.

    Its methods raise ``ReportNotWrittenError`` or ``HistoryNotReadError`` if the place of the reports refuses.
    """

    def __init__(self, base: UPath, run_id: str) -> None:
        self._base = base
        self._folder = work_folder(base, run_id) / VALUES

    def keep(self, name: str, value: Any) -> None:
        """Record an asset's value."""
        self._write(self._folder / f"{name}.json", encode(value))

    def fail(self, name: str, why: Measurement) -> None:
        """Record that an asset's step fails, as a measurement with the failure."""
        self._write(self._folder / f"{name}{_FAILED}", encode(why))

    def value(self, name: str, kind: Any) -> Any:
        """An asset's value; None if there is none."""
        return self._read(self._folder / f"{name}.json", kind)

    def failure(self, name: str) -> Measurement | None:
        """Why an asset's step failed; None if it did not."""
        failed: Measurement | None = self._read(self._folder / f"{name}{_FAILED}", Measurement)
        return failed

    def failed(self, names: Iterable[str]) -> set[str]:
        """Those of some assets whose step failed."""
        there = self._files()
        return {name for name in names if f"{name}{_FAILED}" in there}

    def stop(self) -> None:
        """Record that the collection could not be read: values only for comparing with it are not needed."""
        self.claim(_STOPPED)

    @property
    def stopped(self) -> bool:
        """Whether the collection could not be read."""
        return self._is_there(self._folder.parent / _STOPPED)

    def ended(self, names: Iterable[str]) -> set[str]:
        """Those of some assets whose step has ended."""
        there = self._files()
        return {name for name in names if there & {f"{name}.json", f"{name}{_FAILED}"}}

    def claim(self, what: str) -> bool:
        """Whether this is the run's first claim."""
        file = self._folder.parent / what
        if self._is_there(file):
            return False
        self._write(file, b"")
        return True

    def _write(self, file: UPath, body: bytes) -> None:
        from ragval_pipeline.sources.storage import write_whole, writing_to

        with writing_to(self._base):
            write_whole(file, body)

    def _read(self, file: UPath, kind: Any) -> Any:
        from ragval_pipeline.sources.history import reading_from

        with reading_from(file):
            return decode(file, kind) if file.exists() else None

    def _is_there(self, file: UPath) -> bool:
        from ragval_pipeline.sources.history import reading_from

        with reading_from(file):
            return bool(file.exists())

    def _files(self) -> set[str]:
        """Names of the files, with one request where each costs a while."""
        from ragval_pipeline.sources.history import reading_from

        with reading_from(self._folder):
            try:
                return {file.name for file in self._folder.iterdir()}
            except (FileNotFoundError, NotADirectoryError):  # the latter of a store without folders
                return set()
