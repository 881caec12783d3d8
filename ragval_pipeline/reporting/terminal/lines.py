"""Lines on a terminal: wrapped, indented, and in characters that it can show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.text.display import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

#: Styles and symbols of verdicts, severities, and values without a gate.
STYLES = {
    "pass": "green", "fail": "red", "error": "red", "not_measured": "yellow", "met": "green", "not_met": "red",
    "info": "blue", "warning": "yellow", "shown": "dim",
}  # fmt: skip
SIGNS = {
    "pass": "✓", "fail": "✗", "error": "✗", "not_measured": "○", "met": "✓", "not_met": "✗", "warning": "!",
    "info": "·", "shown": "·",
}  # fmt: skip
_ASCII = {
    "✓": "+", "✗": "x", "○": "o", "·": "-", "≥": ">=", "≤": "<=", "→": "->", "└": "`-", "…": "...", "“": '"', "”": '"',
}  # fmt: skip
#: The no-break space between a number and its unit, and its placeholder during wrapping.
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|m?s\b|[KMGT]i?B\b)")
_HELD = "\ue000"


class LinePrinter:
    """Prints lines to one console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._encoding = console.encoding
        #: Whether the console has only basic characters.
        self.plain = not console.encoding.lower().startswith("utf")

    @property
    def width(self) -> int:
        """Columns of the console."""
        return self._console.width

    def line(
        self,
        *parts: tuple[str, str],
        indent: int = 0,
        lead: str | Sequence[tuple[str, str]] = "",
        wrap: bool = True,
    ) -> None:
        """Print ``(text, style)`` parts, with further lines aligned after ``lead``.

        A text ``lead`` has the style of the first part. Without ``wrap`` they stay on one line, to be copied.
        """
        text = self._text(*parts)
        start = self._text(*([(lead, parts[0][1] if parts else "")] if isinstance(lead, str) else lead))
        blank = self._text((" " * start.cell_len, ""))
        # At least one character per line, however narrow the window.
        room = max(self.width - indent - start.cell_len, 1)
        if wrap:
            text.plain = _BEFORE_UNIT.sub(_HELD, text.plain)
        for number, line in enumerate(text.wrap(self._console, room) if wrap else [text]):
            line.plain = line.plain.replace(_HELD, " ")
            line.rstrip()
            whole = self._text((" " * indent, "")) + (blank if number else start) + line
            self._console.print(whole, soft_wrap=True)

    def _text(self, *parts: tuple[str, str]) -> Text:
        from rich.text import Text

        text = Text()
        for content, style in parts:
            text.append(self.fit(content), style)
        return text

    def fit(self, content: str) -> str:
        """Only characters that the console can show: no control characters, nothing that it cannot encode."""
        lead = len(content) - len(content.lstrip(" "))
        trail = len(content) - len(content.rstrip(" ")) if content.strip(" ") else 0
        clean = f"{' ' * lead}{one_line(content)}{' ' * trail}"
        if not self.plain:
            return clean
        for character, plain in _ASCII.items():
            clean = clean.replace(character, plain)
        return clean.encode(self._encoding, "replace").decode(self._encoding)
