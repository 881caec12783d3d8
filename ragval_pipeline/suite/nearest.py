"""Suggesting the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

#: Names that are listed when none is near; more would bury the message.
LISTED = 24


def nearest(name: str, known: Iterable[str], *, count: int = 3) -> list[str]:
    """Names of ``known`` that look like ``name``, the likeliest first, at most ``count``."""
    by_folded = {_fold(entry): entry for entry in known}
    close = difflib.get_close_matches(_fold(name), by_folded, n=count, cutoff=0.5)
    return [by_folded[entry] for entry in close]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """One sentence naming what was probably meant, else what there is to choose from."""
    names = sorted(known)
    close = nearest(name, names, count=1)
    if close:
        return f"Did you mean {close[0]}?"
    more = ", ..." if len(names) > LISTED else ""
    return f"Known are: {', '.join(names[:LISTED])}{more}." if names else ""


def _fold(name: str) -> str:
    return name.lower().replace("-", "_")
