"""Where the parts of a read are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.sources.snapshot.manifest import Part

if TYPE_CHECKING:
    from upath import UPath


def folder_of_parts(parts: Sequence[Part], *, kept_uri: str, staged_uri: str, gone: str) -> UPath:
    """The folder with all parts: the run's evidence once its report is written, before that where they were staged.

    Args:
        parts: The parts.
        kept_uri: Their folder in the run's evidence.
        staged_uri: The folder that they were written to.
        gone: What to say when neither holds all of them.

    Raises:
        FileNotFoundError: The parts are in neither place.
    """
    from upath import UPath

    for uri in (kept_uri, staged_uri):
        folder = UPath(uri)
        # Parts are copied one by one where a store knows no folders: some of them are not what was read.
        if all((folder / part.name).exists() for part in parts):
            return folder
    raise FileNotFoundError(gone)
