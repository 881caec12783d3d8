"""Terminal output: both streams, in characters that they can show, and without secrets."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from ragval_pipeline.reporting.text import one_line
from ragval_pipeline.suite.interpolation import variables_seen

if TYPE_CHECKING:
    from rich.console import Console

    from ragval_pipeline.reporting.terminal.lines import LinePrinter

_SECRET_NAME = re.compile(r"(?:^|[_:])(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
#: Shorter values would mask ordinary words; real secrets are longer.
_SHORTEST_SECRET = 6


def stdout_console() -> Console:
    """The console for results; rich reads NO_COLOR, the width and whether it is a terminal."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def stderr_console() -> Console:
    """The console for progress and messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def is_plain(console: Console) -> bool:
    """Whether the console's encoding has only basic characters."""
    return not console.encoding.lower().startswith("utf")


def say(message: str, *further: str) -> None:
    """One line on stderr, with the program's name, and further lines below it."""
    for start, line in (("ragval: ", message), *(("  ", line) for line in further)):
        print(f"{start}{one_line(without_secrets(line))}", file=sys.stderr)  # noqa: T201


def print_bytes(content: bytes) -> None:
    """Exactly ``content`` on stdout."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(content.decode("utf-8"))
    else:
        sys.stdout.flush()
        buffer.write(content)
    sys.stdout.flush()


def without_secrets(text: str, environ: Mapping[str, str] | None = None) -> str:
    """``text`` with the values of all variables named like secrets masked.

    Our errors contain no secrets; this is a second safeguard, for messages of libraries.
    """
    for name, value in (variables_seen() if environ is None else environ).items():
        if len(value.strip()) >= _SHORTEST_SECRET and _SECRET_NAME.search(name):
            text = text.replace(value.strip(), "***")
    return text


@contextmanager
def readable_streams() -> Iterator[None]:
    """Write ``?`` for characters that a stream cannot encode, and end quietly if the reader closes it (``| head``)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            _flush(stream)


@contextmanager
def tolerating_closed_pipe() -> Iterator[None]:
    """Continue when stdout is closed: the exit code still gives the result."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)


@contextmanager
def printing() -> Iterator[LinePrinter]:
    """Print lines on stdout, as long as it is open."""
    from ragval_pipeline.reporting.terminal.lines import LinePrinter

    with tolerating_closed_pipe():
        yield LinePrinter(stdout_console())


def print_json(value: Any) -> None:
    """Print a value as JSON and nothing else."""
    from ragval_pipeline.reporting.json_values import json_bytes

    with tolerating_closed_pipe():
        print_bytes(json_bytes(value))


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except BrokenPipeError:
        _discard(stream)
    except ValueError:
        return  # closed by the caller


def _discard(stream: TextIO) -> None:
    """Let the interpreter's final flush succeed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
