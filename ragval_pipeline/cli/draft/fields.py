"""Which payload name is which field: by its name, and for the two that matter most also by what it holds.

What lives here: the field map of a draft. What does not: known names (``validation/metadata/aliases``).
"""

from __future__ import annotations

from collections.abc import Mapping

from ragval_pipeline.cli.looking import Look
from ragval_pipeline.sources.urls import is_http_url
from ragval_pipeline.suite.payload import DEFAULT_REQUIRED
from ragval_pipeline.validation.metadata.aliases import suggest_field_map

#: Mean characters from which a text is more than a name.
_LONG = 20


def find_fields(look: Look, wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The field map, and which of its canonical names were guessed from values because no name is known."""
    found = suggest_field_map(look.observed, wanted)
    free = [path for path in look.observed if path not in found.values()]
    guesses = {
        name: path
        for name, path in (("text", _longest_text(look, free)), ("source_url", _urls(look, free)))
        if name not in found and path is not None
    }
    found.update(guesses)
    return {name: found[name] for name in wanted if name in found}, list(guesses)


def required_fields(look: Look, fields: Mapping[str, str]) -> list[str]:
    """Payload names of the usual metadata fields that most points hold; the text's when there is none of them."""
    usual = [fields[name] for name in DEFAULT_REQUIRED if name in fields]
    held = [path for path in usual if 2 * look.filled(path) > len(look.points)]
    return held or [fields[name] for name in ("text",) if name in fields]


def _longest_text(look: Look, paths: list[str]) -> str | None:
    """The payload name with the longest texts of several words."""
    lengths = {path: _mean_length(look, path) for path in paths}
    longest = max(lengths, key=lambda path: lengths[path], default=None)
    return longest if longest is not None and lengths[longest] >= _LONG else None


def _mean_length(look: Look, path: str) -> float:
    texts = [value for value in look.values(path) if isinstance(value, str) and len(value.split()) > 2]
    return sum(map(len, texts)) / len(look.points) if look.points else 0.0


def _urls(look: Look, paths: list[str]) -> str | None:
    """The payload name under which most points hold an http(s) URL."""
    counts = {path: sum(is_http_url(value) for value in look.values(path)) for path in paths}
    best = max(counts, key=lambda path: counts[path], default=None)
    return best if best is not None and 2 * counts[best] > len(look.points) else None
