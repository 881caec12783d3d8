"""Changing numbers in a suite file and nothing else: comments, quotes, order and line ends stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.yaml_file import parse_yaml

_NUMBER = re.compile(r"""[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|['"][-+.\deE]+['"]|null|Null|NULL|~""")
_BOM = "\ufeff"


def write_numbers(file: Path, section: str, values: Mapping[str, float]) -> bool:
    """Set numbers of one section of a suite file; missing keys are added.

    Returns:
        Whether the file was changed; false if it already had these numbers.

    Raises:
        SuiteError: The file is not a YAML mapping, a value cannot be replaced (a placeholder, an alias), or the file
            cannot be written.
    """
    try:
        original = file.read_bytes()
        text = original.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(f"cannot be read: {error}", file=file) from None
    changed = with_numbers(text, section, values, file=file)
    if changed == text:
        return False
    _replace(file.resolve(), changed.encode())
    return True


def with_numbers(text: str, section: str, values: Mapping[str, float], *, file: Path) -> str:
    """The text of a suite file with some numbers set.

    Raises:
        SuiteError: As ``write_numbers``.
    """
    before = parse_yaml(text.removeprefix(_BOM), file=file)
    if not isinstance(before, dict):
        raise SuiteError("holds no settings", file=file)
    changed = text
    for key, number in values.items():
        changed = _with_number(changed, section, key, _shown(number), file)
    after = parse_yaml(changed.removeprefix(_BOM), file=file)
    # Final check: whatever the file looks like, only these values may differ.
    if after != {**before, section: {**(before.get(section) or {}), **values}}:
        wanted = ", ".join(f"{key}: {_shown(value)}" for key, value in values.items())
        problem = f"its section {section} cannot be edited in place"
        raise SuiteError(problem, file=file, remedy=f"Write the values yourself: {wanted}.")
    return changed


def _with_number(text: str, section: str, key: str, number: str, file: Path) -> str:
    root = _composed(text.removeprefix(_BOM), file)
    shift = len(text) - len(text.removeprefix(_BOM))
    found = _entry(root, section)
    if found is None:
        return _with_section(text, section, key, number)
    holder = found[1]
    if not isinstance(holder, yaml.MappingNode) or not holder.value:
        return _with_first_key(text, found, shift, key, number)
    entry = _entry(holder, key)
    if entry is None:
        return _with_key(text, holder, shift, key, number)
    start, end = (mark.index + shift for mark in (entry[1].start_mark, entry[1].end_mark))
    if not isinstance(entry[1], yaml.ScalarNode) or not _NUMBER.fullmatch(text[start:end]):
        line = entry[0].start_mark.line + 1
        raise SuiteError(
            f"is not a plain number (line {line})", file=file, key=f"{section}.{key}", remedy=f"Write {number} there."
        )
    return f"{text[:start]}{number}{text[end:]}"


def _composed(text: str, file: Path) -> Any:
    """The nodes of a text, with their positions: from the parser that reads suites, which differs from PyYAML's own."""
    try:
        return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise SuiteError("is not readable YAML", file=file) from error


def _entry(node: Any, key: str) -> tuple[Any, Any] | None:
    """Key and value node of a key of a mapping node; None if it has no such key."""
    entries = node.value if isinstance(node, yaml.MappingNode) else ()
    return next(((name, value) for name, value in entries if getattr(name, "value", None) == key), None)


def _with_key(text: str, holder: yaml.MappingNode, shift: int, key: str, number: str) -> str:
    """A section with a key inserted before its first, in the same notation."""
    first = holder.value[0][0].start_mark
    at = first.index + shift
    separator = ", " if holder.flow_style else f"{_line_end(text)}{' ' * first.column}"
    return f"{text[:at]}{key}: {number}{separator}{text[at:]}"


def _with_first_key(text: str, found: tuple[Any, Any], shift: int, key: str, number: str) -> str:
    """A key inserted into an empty section: ``retrieval:``, ``retrieval: None``, ``retrieval: {}``."""
    start, end = found[1].start_mark.index + shift, found[1].end_mark.index + shift
    after_colon = text.index(":", found[0].end_mark.index + shift) + 1
    inline = f"{{{key}: {number}}}"
    if start == end:  # nothing is written after the colon
        return f"{text[:after_colon]} {inline}{text[after_colon:]}"
    return f"{text[:start]}{inline}{text[end:]}"


def _with_section(text: str, section: str, key: str, number: str) -> str:
    end = _line_end(text)
    start = "" if not text or text.endswith(("\n", "\r")) else end
    return f"{text}{start}{section}:{end}  {key}: {number}{end}"


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _shown(number: float) -> str:
    return f"{number:.6f}".rstrip("0") if "." in f"{number:.6f}".rstrip("0").rstrip(".") else f"{number:.1f}"


def _replace(file: Path, content: bytes) -> None:
    """Replace a file by one rename, keeping its permissions."""
    partial = file.with_name(f".{file.name}.partial")
    try:
        partial.write_bytes(content)
        partial.chmod(file.stat().st_mode & 0o7777)
        partial.replace(file)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise SuiteError(f"cannot be written: {error.strerror or error}", file=file) from None
