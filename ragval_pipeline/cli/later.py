"""Keys that a suite may hold already although no run looks at them yet.

What lives here: the table, and which of its keys a suite file sets. What does not: the keys themselves (``suite``). A
key leaves the table with the change that makes a run use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Dotted key to what it will do.
LATER: Mapping[str, str] = {
    "history.baseline": "runs are compared with this one",
    "history.tolerated_drop": "a smaller drop is no regression",
    "history.keep_runs": "older reports are removed",
    "automation.after_job": "this job's success starts a run",
    "automation.poll_s": "the collection is watched",
    "automation.fresh_within_hours": "an older report becomes stale",
}


def keys_for_later(written: Mapping[str, Any]) -> list[str]:
    """Keys of ``LATER`` that a suite file sets to something, in the table's order."""
    return [key for key in LATER if _value_at(written, key) is not None]


def _value_at(written: Mapping[str, Any], key: str) -> Any:
    value: Any = written
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
