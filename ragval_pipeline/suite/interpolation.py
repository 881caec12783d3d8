"""Reading ``${NAME}`` and ``${NAME:-default}`` from the environment, and from a ``.env`` next to the suite file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragval_pipeline.errors import SuiteError

PLACEHOLDER = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
#: A second dollar escapes a placeholder: ``$${NAME}`` is the text ``${NAME}``.
_TOKEN = re.compile(rf"\$(\$\{{)|{PLACEHOLDER.pattern}|(\$\{{)")

Replace = Callable[["re.Match[str]", str], str]


def interpolate(value: Any, environ: Mapping[str, str], *, file: str | None = None) -> Any:
    """Replace every placeholder in the strings of ``value``.

    A key or list entry that consists of placeholders and is empty afterwards counts as not given: this is the use of
    ``${NAME:-}``. The values of variables are stripped: keys pasted with a newline work.

    Returns:
        The same structure without placeholders.

    Raises:
        SuiteError: A variable without default is not set or empty, or a placeholder is malformed; names the file, the
            key and the variable.
    """

    def replace(match: re.Match[str], key: str) -> str:
        name, default = match.group(2), match.group(3)
        text = environ.get(name, "").strip()
        if text or default is not None:
            return text or str(default)
        raise SuiteError(
            f"the environment variable {name} is {'empty' if name in environ else 'not set'}",
            file=file,
            key=key or None,
            remedy=f"Set {name}, or write ${{{name}:-default}}.",
        )

    return _walk(value, "", replace, file)


def interpolate_known(value: Any, environ: Mapping[str, str], *, file: str | None = None) -> Any:
    """Like ``interpolate``, but placeholders without a value stay: for a suite's outline.

    Raises:
        SuiteError: A placeholder is malformed.
    """

    def replace(match: re.Match[str], key: str) -> str:
        return environ.get(match.group(2), "").strip() or match.group(3) or match.group(0)

    return _walk(value, "", replace, file)


def variables_in(text: object) -> list[str]:
    """Names of the variables in the placeholders of ``text``; none for anything but text."""
    return [match.group(1) for match in PLACEHOLDER.finditer(text)] if isinstance(text, str) else []


def is_unread(value: object) -> bool:
    """Whether ``value`` is a text that still holds a placeholder."""
    return isinstance(value, str) and PLACEHOLDER.search(value) is not None


def _walk(value: Any, key: str, replace: Replace, file: str | None) -> Any:
    if isinstance(value, dict):
        entries = {
            name: _walk(entry, f"{key}.{name}" if key else str(name), replace, file) for name, entry in value.items()
        }
        return {name: entry for name, entry in entries.items() if not _came_out_empty(value[name], entry)}
    if isinstance(value, list):
        walked = [_walk(entry, f"{key}[{index}]", replace, file) for index, entry in enumerate(value)]
        return [entry for given, entry in zip(value, walked, strict=True) if not _came_out_empty(given, entry)]
    if isinstance(value, str) and "${" in value:
        return _TOKEN.sub(lambda match: _replaced(match, key, replace, file), value)
    return value


def _replaced(match: re.Match[str], key: str, replace: Replace, file: str | None) -> str:
    if match.group(1):
        return match.group(1)
    if match.group(4):
        raise SuiteError(
            "contains ${ that does not start a placeholder",
            file=file,
            key=key or None,
            remedy="Write ${NAME} or ${NAME:-default}; $${ is the literal text ${.",
        )
    return replace(match, key)


def _came_out_empty(given: Any, entry: Any) -> bool:
    return is_unread(given) and isinstance(entry, str) and not entry.strip()


FILE = ".env"
#: Every file that was read in this process, with its last content: messages must not show its secrets.
_READ: dict[Path, dict[str, str]] = {}


def environment_of(folder: Path) -> dict[str, str]:
    """Variables by name: those of ``folder``'s ``.env``, overridden by the process's own that are not blank.

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
        # An error in decoding quotes the file's content.
        cause = error if isinstance(error, OSError) else None
        raise SuiteError("cannot be read as UTF-8 text", file=file) from cause
    _READ[file] = {name: value for name, value in held.items() if value is not None}
    return _READ[file]
