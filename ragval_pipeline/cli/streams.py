"""The standard streams of a command: a reader that leaves, a full disk or a closed stream do not change its result."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


class LastingStream(io.TextIOWrapper):
    """A standard stream that discards what is written after it failed.

    Attributes:
        problem: Why it failed, or None; a reader that leaves, as in ``| head``, is no failure.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        # ``?`` for characters that the stream cannot encode.
        super().__init__(
            stream.buffer, encoding=stream.encoding, errors="replace", line_buffering=stream.line_buffering
        )
        self.problem: str | None = None

    def write(self, text: str, /) -> int:
        """Write a text."""
        try:
            return super().write(text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    def write_bytes(self, content: bytes) -> None:
        """Write exactly these bytes."""
        try:
            self.buffer.write(content)
        except OSError as error:
            self._give_up(error)

    def flush(self) -> None:
        """Write what is buffered."""
        try:
            super().flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        if not isinstance(error, BrokenPipeError):
            self.problem = error.strerror or str(error)
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123  a device
            os.dup2(nothing.fileno(), self.fileno())


@contextmanager
def lasting_streams() -> Iterator[None]:
    """Let a command write to its standard streams, whatever becomes of them."""
    _fill_closed()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_lasting(stream) for stream in before)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(ValueError):  # closed by the caller
                stream.flush()
            if isinstance(stream, LastingStream):
                stream.detach()
        sys.stdout, sys.stderr = before


def problem_of_stdout() -> str | None:
    """Why the result could not be written, or None."""
    sys.stdout.flush()
    return sys.stdout.problem if isinstance(sys.stdout, LastingStream) else None


def _fill_closed() -> None:
    """Open what the caller has closed (``>&-``): the next file opened would otherwise become the standard output."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _lasting(stream: Any) -> Any:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  lives as long as the process
    # Tests and notebooks have streams of their own.
    return LastingStream(stream) if type(stream) is io.TextIOWrapper else stream
