"""Which files a site generator leaves out, by the patterns of its configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable


class LeftOut:
    """Patterns as ``.gitignore`` has them: the last that matches decides, ``!`` takes a file back.

    Args:
        patterns: One each. A leading or inner slash anchors a pattern at the folder; ``**`` spans folders; what
            matches a folder matches all below it.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._rules = [
            (not line.startswith("!"), _compiled(line.removeprefix("!")))
            for line in map(str.strip, patterns)
            if line and not line.startswith("#")
        ]

    def matches(self, path: str) -> bool:
        """Whether the file at ``path``, relative to the folder and with slashes, is left out."""
        return next((out for out, rule in reversed(self._rules) if rule.match(path)), False)


def _compiled(pattern: str) -> re.Pattern[str]:
    trimmed = pattern.strip("/")
    anchored = "/" in pattern.rstrip("/")
    text = "".join(_part(part) for part in re.split(r"(\*\*/|\*\*|\*|\?)", trimmed))
    return re.compile(("" if anchored else "(?:.*/)?") + text + r"(?:/.*)?\Z", re.DOTALL)


def _part(part: str) -> str:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return known.get(part, re.escape(part))
