"""Words and values inside one-line messages: what a user wrote, nouns and their numbers."""

from __future__ import annotations


def printable(value: object, *, limit: int = 80) -> str:
    """``value`` as text of one line without control characters, at most ``limit`` characters long."""
    text = str(value)
    if not text.isprintable():
        text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def show_count(count: float) -> str:
    """A count with separators; what is no whole number keeps six digits, never an exponent."""
    return f"{int(count):,}" if float(count).is_integer() else f"{count:,.6f}".rstrip("0").rstrip(".")


def plural(count: int, noun: str) -> str:
    """``1 page``, ``13 pages``, ``2 queries``, ``3 required criteria``."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("criterion"):
        return f"{count:,} {noun.removesuffix('on')}a"
    if noun.endswith("y") and not noun.endswith(("ay", "ey", "oy")):
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'es' if noun.endswith(('ch', 'sh', 'x')) else 's'}"
