"""Fields of a payload by their path: nested objects, JSON stored as text, and numbered keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from ragval_pipeline.text.json_text import parse_json
from ragval_pipeline.text.printing import did_you_mean

#: Placeholder for a key's number, at the end of a name.
NUMBERED = "*"
#: Between two steps of a path.
_STEP = re.compile(r"[.#]")
_DIGITS = re.compile(r"[0-9]{1,4}")


def lookup(payload: Mapping[str, Any], path: str) -> tuple[bool, Any]:
    """Whether the payload holds ``path``, and its value.

    Dots reach into nested objects, ``field#path`` into a JSON object stored as text, and ``name*`` takes the values of
    all keys that are this name and a number, in order. A key with such characters takes precedence.
    """
    if path in payload:
        return True, payload[path]
    outer, inside, inner = path.partition("#")
    value: Any = payload
    for part in outer.split("."):
        if not isinstance(value, Mapping):
            return False, None
        if part in value:
            value = value[part]
            continue
        elements = numbered(value, part.removesuffix(NUMBERED)) if part.endswith(NUMBERED) else []
        if not elements:
            return False, None
        value = [value[name] for name in elements]
    if not inside:
        return True, value
    within = json_object(value)
    return (False, None) if within is None else lookup(within, inner)


def numbered(names: Iterable[str], stem: str) -> list[str]:
    """The names that consist of a stem and a number, by number: ``h1``, ``h2``."""
    found = [name for name in names if name.startswith(stem) and _DIGITS.fullmatch(name, len(stem))]
    return sorted(found, key=lambda name: int(name[len(stem) :]))


def payload_paths(payload: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[str]:
    """Every name of a payload that ``lookup`` finds, at most four levels deep, for objects and their values."""
    for name, value in payload.items():
        yield f"{prefix}{name}"
        inside, joint = (value, ".") if isinstance(value, Mapping) else (json_object(value), "#")
        if inside is not None and depth < 3:
            yield from payload_paths(inside, f"{prefix}{name}{joint}", depth + 1)


def json_object(value: Any) -> Mapping[str, Any] | None:
    """The JSON object in a text; None for anything else. Do not modify it: it is cached."""
    return _parsed(value) if isinstance(value, str) and value.startswith("{") else None


@lru_cache(maxsize=4)  # several fields of one point may be in one text
def _parsed(text: str) -> Mapping[str, Any] | None:
    try:
        found = parse_json(text)
    except ValueError:
        return None
    return found if isinstance(found, Mapping) else None


def path_meant(path: str, observed: Collection[str]) -> str:
    """One sentence with the payload path that is probably meant by one that no point has, else with the choices."""
    own = _STEP.split(path)[-1]
    same = [other for other in observed if _STEP.split(other)[-1] == own]
    return f"Did you mean {same[0]}?" if same else did_you_mean(path, observed)
