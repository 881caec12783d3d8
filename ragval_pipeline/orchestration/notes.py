"""What the steps of a run leave for each other, whatever IO manager there is: each value, or how its making failed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ragval_pipeline.orchestration.io_manager import VALUES, work_folder
from ragval_pipeline.orchestration.values import decode, encode
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from upath import UPath

_FAILED = ".failed.json"


class Notes:
    """The notes of one run.

    Args:
        base: ``<report_uri>/<suite>``.
        run_id: The run.
    """

    def __init__(self, base: UPath, run_id: str) -> None:
        self._folder = work_folder(base, run_id) / VALUES

    def keep(self, name: str, value: Any) -> None:
        """Note what an asset has made."""
        from ragval_pipeline.sources.storage.whole import write_whole

        body, ending = encode(value)
        write_whole(self._folder / f"{name}{ending}", body)

    def fail(self, name: str, why: Measurement) -> None:
        """Note that an asset's step fails, as the measurement that its failure amounts to."""
        from ragval_pipeline.sources.storage.whole import write_whole

        write_whole(self._folder / f"{name}{_FAILED}", encode(why)[0])

    def value(self, name: str, kind: Any) -> Any:
        """What an asset has made; None when it has made nothing."""
        file = self._folder / f"{name}.json"
        return decode(file, kind) if file.exists() else None

    def failure(self, name: str) -> Measurement | None:
        """Why an asset's step failed; None when it did not."""
        file = self._folder / f"{name}{_FAILED}"
        failed: Measurement | None = decode(file, Measurement) if file.exists() else None
        return failed

    def failed(self, names: Iterable[str]) -> set[str]:
        """Those of some assets whose step failed."""
        return {name for name in names if (self._folder / f"{name}{_FAILED}").exists()}

    def ended(self, names: Iterable[str]) -> set[str]:
        """Those of some assets whose step is over."""
        return {name for name in names if (self._folder / f"{name}.json").exists()} | self.failed(names)

    def claim(self, what: str) -> bool:
        """Whether nobody of the run has claimed this before."""
        from ragval_pipeline.sources.storage.whole import write_whole

        file = self._folder.parent / what
        if file.exists():
            return False
        write_whole(file, b"")
        return True
