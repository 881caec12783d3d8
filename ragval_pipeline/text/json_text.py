"""JSON of others: files that may be damaged, and payload values."""

from __future__ import annotations

import json
from typing import Any


def parse_json(content: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: It is not JSON, not text, or nested too deeply.
    """
    try:
        return json.loads(content)
    except RecursionError:  # as harmless as any other damage, but not an error that readers expect
        raise ValueError("it is nested too deeply") from None
