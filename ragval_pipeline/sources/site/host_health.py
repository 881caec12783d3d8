"""Telling a page that fails from a host that is down."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass

# In a row: fewer may be broken pages, and waiting out the retries of every page of a dead host takes hours.
BROKEN_IN_A_ROW = 3
REFUSED_IN_A_ROW = 5


def is_refusal(status: int) -> bool:
    """Whether an answer says something about the host, and nothing about the page: 401, 403, 429 and 5xx."""
    return status in (401, 403, 429) or status >= 500


@dataclass
class _Tally:
    answered: bool = False
    welcomed: bool = False
    broken: int = 0
    refused: int = 0


class HostHealth:
    """Counts answers and failures per host; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tallies: defaultdict[str | None, _Tally] = defaultdict(_Tally)

    def is_down_after_failure(self, host: str | None) -> bool:
        """Note a page without an answer; say whether the host is down: it never answered, or failed in a row."""
        with self._lock:
            tally = self._tallies[host]
            tally.broken += 1
            return not tally.answered or tally.broken >= BROKEN_IN_A_ROW

    def is_down_after_status(self, host: str | None, status: int) -> bool:
        """Note an answer; say whether the host lets nobody in: only 401, 403, 429 and 5xx, in a row, from the start."""
        with self._lock:
            tally = self._tallies[host]
            tally.answered, tally.broken = True, 0
            refused = is_refusal(status)
            tally.welcomed |= not refused
            tally.refused = tally.refused + 1 if refused else 0
            return not tally.welcomed and tally.refused >= REFUSED_IN_A_ROW
