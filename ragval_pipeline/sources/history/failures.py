"""What it means when a place that holds earlier runs refuses, or what it holds cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ragval_pipeline.errors import RagvalError


class HistoryNotReadError(RagvalError):
    """An earlier run could not be read: the filesystem refuses, or the file is none of ragval's."""

    exit_code = 3

    def __init__(self, where: object, problem: str, *, remedy: str = "") -> None:
        self.problem = problem
        super().__init__(f"{where}: the history could not be read: {problem}. {remedy}".rstrip())


@contextmanager
def reading_from(where: object) -> Iterator[None]:
    """Turn the errors of a filesystem into ``HistoryNotReadError``."""
    try:
        yield
    except OSError as error:
        problem = error.strerror or str(error) or type(error).__name__
        raise HistoryNotReadError(where, problem, remedy="Check report_uri.") from error
    except UnicodeDecodeError as error:
        raise HistoryNotReadError(where, "it is not UTF-8 text", remedy="Restore or remove the run.") from error
    except ImportError as error:  # fsspec: the package of a protocol is not installed
        raise HistoryNotReadError(where, str(error).rstrip(".")) from error
