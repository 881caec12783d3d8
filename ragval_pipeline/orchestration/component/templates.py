"""Dagster's own placeholders, ``{{ env.NAME }}`` and the like, in the attributes of a Component.

What lives here: filling them in when definitions load, as every Component does. What does not: ``${NAME}``, which a
suite reads when a run starts (``suite/interpolation``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg


def rendered(value: Any, context: dg.ResolutionContext) -> Any:
    """``value`` with its templates filled in; a text without a template stays a text.

    Dagster's templates are native: rendering a plain ``"2024"`` would make a number of a collection's name.

    Args:
        value: Attributes as YAML gives them.
        context: What templates may use.
    """
    if isinstance(value, Mapping):
        return {key: rendered(entry, context.at_path(key)) for key, entry in value.items()}
    if isinstance(value, list):
        return [rendered(entry, context.at_path(index)) for index, entry in enumerate(value)]
    return context.resolve_value(value) if isinstance(value, str) and "{{" in value else value
