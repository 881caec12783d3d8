"""A place to write to: a path or any fsspec URL, and what it means when it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragval_pipeline.errors import RagvalError

if TYPE_CHECKING:
    from upath import UPath

_LOCAL = frozenset({"", "file", "local"})


class ReportNotWrittenError(RagvalError):
    """A report could not be written: disk full, no permission, or a path that cannot be a folder."""

    exit_code = 3

    def __init__(self, where: str, problem: str, *, remedy: str = "") -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"{where}: the report could not be written: {problem}. {remedy}".rstrip())


@contextmanager
def writing_to(where: object) -> Iterator[None]:
    """Turn the errors of a filesystem into ``ReportNotWrittenError``, naming the path that is to blame."""
    try:
        yield
    except OSError as error:
        problem = error.strerror or str(error) or type(error).__name__
        blamed = error.filename if isinstance(error.filename, str) else str(where)
        raise ReportNotWrittenError(blamed, problem, remedy="Free space or choose another folder.") from error
    except (ImportError, ValueError) as error:
        # fsspec: a protocol that it does not know, or one whose package is not installed.
        raise ReportNotWrittenError(str(where), str(error).rstrip("."), remedy="Choose another folder.") from error


def open_folder(uri: str) -> UPath:
    """The folder at a path or fsspec URL."""
    from upath import UPath

    with writing_to(uri):
        return UPath(uri)


def local_path(folder: UPath) -> Path | None:
    """The folder as a path of the local disk; null when it is elsewhere."""
    return Path(folder.path) if folder.protocol in _LOCAL else None
