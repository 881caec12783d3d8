"""The settings at the top of a Markdown file."""

from __future__ import annotations

import re
from typing import Any

_BLOCK = re.compile(
    r"\A\ufeff?(?P<mark>---|\+\+\+)[ \t]*\r?\n(?P<held>.*?)(?:(?<=\n)|\r?\n)(?P=mark)[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
#: A file's settings are short: what is longer is text between two rules.
LONGEST = 64 * 1024


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The settings of a Markdown file and its text without them.

    YAML between ``---`` is read, and of TOML between ``+++`` too; what is neither is kept as text.
    """
    found = _BLOCK.match(text[:LONGEST])
    if found is None:
        return {}, text.removeprefix("\ufeff")
    held = _read(found["held"], toml=found["mark"] == "+++")
    return ({}, text.removeprefix("\ufeff")) if held is None else (held, text[found.end() :])


def _read(text: str, *, toml: bool) -> dict[str, Any] | None:
    import tomllib

    import yaml

    try:
        held = tomllib.loads(text) if toml else yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else {} if held is None else None
