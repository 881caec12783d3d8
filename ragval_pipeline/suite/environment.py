"""The variables that a suite reads: the process's, and those of a ``.env`` beside the suite file.

What lives here: finding them. What does not: which keys they set (``interpolation``, ``settings``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ragval_pipeline.errors import SuiteError

FILE = ".env"
#: Every file that was read in this process, with what it held last: messages are kept free of its secrets.
_READ: dict[Path, dict[str, str]] = {}


def environment_of(folder: Path) -> dict[str, str]:
    """Variables by name: those of ``folder``'s ``.env``, over them the process's own that are not blank.

    Args:
        folder: Where the suite's relative paths start.

    Raises:
        SuiteError: The file cannot be read as text; its content is not shown.
    """
    beside = _variables_in(folder / FILE)
    return {**beside, **{name: value for name, value in os.environ.items() if value.strip() or name not in beside}}


def variables_seen() -> Mapping[str, str]:
    """The process's variables and those of every ``.env`` read so far."""
    return {**os.environ, **{f"{file}:{name}": text for file, held in _READ.items() for name, text in held.items()}}


def _variables_in(file: Path) -> dict[str, str]:
    if not file.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        held = dotenv_values(file, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError("cannot be read as UTF-8 text", file=file) from _without_content(error)
    _READ[file] = {name: value for name, value in held.items() if value is not None}
    return _READ[file]


def _without_content(error: Exception) -> Exception | None:
    """The cause, unless it quotes what the file holds."""
    return error if isinstance(error, OSError) else None
