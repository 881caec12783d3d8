"""Terminal output: both streams, in characters that they can show, and without secrets."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ragval_pipeline.cli.streams import LastingStream
from ragval_pipeline.suite.interpolation import variables_seen
from ragval_pipeline.text.display import one_line
from ragval_pipeline.text.printing import TELLING_WORDS

if TYPE_CHECKING:
    from rich.console import Console

    from ragval_pipeline.reporting.terminal.lines import LinePrinter

#: A variable whose name ends with such a word: the value of MAX_TOKENS or KEY_COUNT is none.
_SECRET_NAME = re.compile(rf"(?:^|[_:]){TELLING_WORDS}$", re.IGNORECASE)
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
    sys.stdout.flush()
    if isinstance(sys.stdout, LastingStream):
        sys.stdout.write_bytes(content)
    elif hasattr(sys.stdout, "buffer"):
        sys.stdout.buffer.write(content)
    else:
        sys.stdout.write(content.decode("utf-8"))
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
def printing() -> Iterator[LinePrinter]:
    """Print lines on stdout."""
    from ragval_pipeline.reporting.terminal.lines import LinePrinter

    yield LinePrinter(stdout_console())


def print_json(value: Any) -> None:
    """Print a value as JSON and nothing else."""
    from ragval_pipeline.reporting.json_values import json_bytes

    print_bytes(json_bytes(value))
