"""What the steps of a run leave for each other beside Dagster's values: each asset's value, or why its step failed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ragval_pipeline.orchestration.io_manager import VALUES, work_folder
from ragval_pipeline.orchestration.values import decode, encode
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from upath import UPath

_FAILED = ".failed.json"
_STOPPED = "stopped"


class Notes:
    """The notes of one run.

    Args:
        base: ``<report_uri>/<suite>``.
        run_id: The run.
    """

    def __init__(self, base: UPath, run_id: str) -> None:
        self._folder = work_folder(base, run_id) / VALUES

    def keep(self, name: str, value: Any) -> None:
        """Record an asset's value."""
        from ragval_pipeline.sources.storage import write_whole

        write_whole(self._folder / f"{name}.json", encode(value))

    def fail(self, name: str, why: Measurement) -> None:
        """Record that an asset's step fails, as a measurement with the failure."""
        from ragval_pipeline.sources.storage import write_whole

        write_whole(self._folder / f"{name}{_FAILED}", encode(why))

    def value(self, name: str, kind: Any) -> Any:
        """An asset's value; None if there is none."""
        file = self._folder / f"{name}.json"
        return decode(file, kind) if file.exists() else None

    def failure(self, name: str) -> Measurement | None:
        """Why an asset's step failed; None if it did not."""
        file = self._folder / f"{name}{_FAILED}"
        failed: Measurement | None = decode(file, Measurement) if file.exists() else None
        return failed

    def failed(self, names: Iterable[str]) -> set[str]:
        """Those of some assets whose step failed."""
        return {name for name in names if (self._folder / f"{name}{_FAILED}").exists()}

    def stop(self) -> None:
        """Record that the collection could not be read: values only for comparing with it are not needed."""
        self.claim(_STOPPED)

    @property
    def stopped(self) -> bool:
        """Whether the collection could not be read."""
        return (self._folder.parent / _STOPPED).exists()

    def ended(self, names: Iterable[str]) -> set[str]:
        """Those of some assets whose step has ended."""
        return {name for name in names if (self._folder / f"{name}.json").exists()} | self.failed(names)

    def claim(self, what: str) -> bool:
        """Whether this is the run's first claim."""
        from ragval_pipeline.sources.storage import write_whole

        file = self._folder.parent / what
        if file.exists():
            return False
        write_whole(file, b"")
        return True
