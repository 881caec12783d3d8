"""Reading ``${NAME}`` and ``${NAME:-default}`` from the environment.

What lives here: replacing placeholders in the strings of a parsed file. What does not: which keys a suite has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ragval_pipeline.errors import SuiteError

PLACEHOLDER = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def interpolate(value: Any, environ: Mapping[str, str], *, file: str | None = None) -> Any:
    """Replace every placeholder in the strings of ``value``.

    Args:
        value: Parsed YAML: mappings, lists, scalars.
        environ: Variables by name. Their values are stripped of surrounding blanks: keys pasted with a newline work.
        file: File named in errors.

    Returns:
        The same structure without placeholders.

    Raises:
        SuiteError: A variable without default is not set; names the file, the key and the variable.
    """

    def replace(match: re.Match[str], key: str) -> str:
        name, default = match.group(1), match.group(2)
        if name in environ and (environ[name].strip() or default is None):
            return environ[name].strip()
        if default is not None:
            return default
        raise SuiteError(
            f"the environment variable {name} is not set",
            file=file,
            key=key,
            remedy=f"Set {name}, or write ${{{name}:-default}}.",
        )

    return _walk(value, "", replace)


def interpolate_known(value: Any, environ: Mapping[str, str]) -> Any:
    """Like ``interpolate``, but a placeholder without value stays as it is written: for a suite's outline."""

    def replace(match: re.Match[str], key: str) -> str:
        name, default = match.group(1), match.group(2)
        return environ.get(name, "").strip() or (match.group(0) if default is None else default)

    return _walk(value, "", replace)


def _walk(value: Any, key: str, replace: Callable[[re.Match[str], str], str]) -> Any:
    if isinstance(value, dict):
        return {name: _walk(entry, f"{key}.{name}" if key else str(name), replace) for name, entry in value.items()}
    if isinstance(value, list):
        return [_walk(entry, f"{key}[{index}]", replace) for index, entry in enumerate(value)]
    if isinstance(value, str):
        return PLACEHOLDER.sub(lambda match: replace(match, key), value)
    return value
