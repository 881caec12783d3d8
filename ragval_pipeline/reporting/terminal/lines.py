"""Lines on a terminal, whatever they say: wrapped, indented, and made of characters that it can show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.reporting.text import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

#: Looks and signs of verdicts, severities, and of values that nothing is asked of.
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
#: The blank between a number and its unit, at which no line ends, and what stands for it while lines are wrapped.
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|m?s\b|[KMGT]i?B\b)")
_HELD = "\ue000"


class LinePrinter:
    """Prints lines to one console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._encoding = console.encoding
        self._plain = not console.encoding.lower().startswith("utf")

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
        """Print ``(text, style)`` parts, the lines after the first below the text after ``lead``.

        A ``lead`` that is a text has the look of the first part. Without ``wrap`` they stay on one line, so that it can
        be copied.
        """
        text = self._text(*parts)
        start = self._text(*([(lead, parts[0][1] if parts else "")] if isinstance(lead, str) else lead))
        blank = self._text((" " * start.cell_len, ""))
        # At least one character a line, however narrow the window is.
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
        """The characters that the console can show: nothing that commands it, nothing that it cannot encode."""
        lead = len(content) - len(content.lstrip(" "))
        trail = len(content) - len(content.rstrip(" ")) if content.strip(" ") else 0
        clean = f"{' ' * lead}{one_line(content)}{' ' * trail}"
        if not self._plain:
            return clean
        for character, plain in _ASCII.items():
            clean = clean.replace(character, plain)
        return clean.encode(self._encoding, "replace").decode(self._encoding)
