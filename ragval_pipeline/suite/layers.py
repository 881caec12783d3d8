"""Settings from several places in their order: flag, suite, the profile's variables, profile default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Keys of which a later layer's makes an earlier layer's void, because only one of them can be set.
_EXCLUSIVE = (("qdrant", "url", "path"), ("source", "sitemap", "folder", "urls", "llms"))


@dataclass(frozen=True)
class Layer:
    """One source of settings.

    Args:
        name: What errors call it: a file name, ``flag --top-k`` or ``environment variable TOP_K_RESULTS``.
        settings: Nested settings in the shape of the suite.
    """

    name: str
    settings: Mapping[str, Any]


def merge_layers(layers: Iterable[Layer]) -> dict[str, Any]:
    """Merge layers, later ones winning; mappings merge key by key, everything else is replaced."""
    merged: dict[str, Any] = {}
    for layer in layers:
        _drop_exclusive(merged, layer.settings)
        merged = _merge(merged, layer.settings)
    return merged


def layer_of(key: Iterable[str | int], layers: Iterable[Layer]) -> Layer | None:
    """The last layer that sets ``key``, or the mapping or list that holds it."""
    path = list(key)
    found = None
    for layer in layers:
        if value_at(path, layer.settings, or_holder=True) is not None:
            found = layer
    return found


def value_at(key: Iterable[str | int], settings: Any, *, or_holder: bool = False) -> Any:
    """The value at ``key``; null when there is none.

    Args:
        key: Keys and indices, outermost first.
        settings: Nested mappings and lists.
        or_holder: Take a list or scalar that stands where the key goes deeper: it was set as one.
    """
    value = settings
    for part in key:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return value if or_holder else None
    return value


def is_written(key: Sequence[str], settings: Any) -> bool:
    """Whether ``key`` is there, also with null, or inside of what was set as one."""
    holder = value_at(key[:-1], settings, or_holder=True)
    return key[-1] in holder if isinstance(holder, Mapping) else holder is not None


def nest(dotted: str, value: Any) -> dict[str, Any]:
    """``nest("a.b", 1)`` is ``{"a": {"b": 1}}``."""
    for part in reversed(dotted.split(".")):
        value = {part: value}
    return dict(value)


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        known = merged.get(key)
        merged[key] = _merge(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return merged


def _drop_exclusive(merged: dict[str, Any], over: Mapping[str, Any]) -> None:
    for section, *names in _EXCLUSIVE:
        known, new = merged.get(section), over.get(section)
        if isinstance(known, Mapping) and isinstance(new, Mapping) and any(new.get(name) is not None for name in names):
            void = set(names) - new.keys()
            merged[section] = {key: value for key, value in known.items() if key not in void}
