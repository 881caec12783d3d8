"""A row of numbers as a row of characters."""

from __future__ import annotations

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
#: For streams that have no more than the usual letters.
PLAIN_BARS = "_.,:=+*#"
GAP, PLAIN_GAP = "·", "-"


def sparkline(values: Sequence[float | None], *, plain: bool = False) -> str:
    """One character a value, the lowest bar for the lowest value; a dot where there is none.

    Values that are all the same stand in the middle: a line that does not move is neither high nor low.
    """
    bars, gap = (PLAIN_BARS, PLAIN_GAP) if plain else (BARS, GAP)
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    span = high - low
    middle = (len(bars) - 1) // 2
    return "".join(
        gap if value is None else bars[round((value - low) / span * (len(bars) - 1))] if span else bars[middle]
        for value in values
    )
