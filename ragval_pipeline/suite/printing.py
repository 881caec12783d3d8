"""Showing what a user wrote inside a one-line message. What does not live here: the messages."""

from __future__ import annotations


def printable(value: object, *, limit: int = 80) -> str:
    """``value`` as text of one line without control characters, at most ``limit`` characters long."""
    text = str(value)
    if not text.isprintable():
        text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
