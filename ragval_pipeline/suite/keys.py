"""Which keys a model knows, at any depth. What does not live here: what they may hold."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from ragval_pipeline.suite.nearest import did_you_mean


def suggest_key(model: type[BaseModel], location: Sequence[int | str]) -> str:
    """One sentence that names the key probably meant at ``location``, whose last part is the unknown one.

    A key that exists, but in another section, is named with its section.
    """
    name = str(location[-1])
    elsewhere = [path for path in key_paths(model) if path.rsplit(".", 1)[-1] == name]
    if elsewhere:
        return f"Did you mean {elsewhere[0]}?"
    return did_you_mean(name, keys_at(model, location[:-1]))


def keys_at(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """Keys of the section at ``location``; empty when nothing there has keys of its own."""
    current: Any = model
    for part in location:
        fields = [found.model_fields for found in _models_in(current)]
        known = next((entry[str(part)] for entry in fields if str(part) in entry), None)
        if known is not None:
            current = known.annotation
        elif not _is_container(current):
            return []
    return list(dict.fromkeys(key for found in _models_in(current) for key in found.model_fields))


def key_paths(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Dotted paths of every key, sections included."""
    for name, field in model.model_fields.items():
        yield prefix + name
        if not _is_container(field.annotation):
            for inner in _models_in(field.annotation):
                yield from key_paths(inner, f"{prefix}{name}.")


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Models that an annotation holds: itself, branches of a union, values of a mapping or list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for arg in typing.get_args(annotation) for found in _models_in(arg)]


def _is_container(annotation: Any) -> bool:
    origin = typing.get_origin(annotation)
    return origin in {dict, list, tuple} or any(_is_container(arg) for arg in typing.get_args(annotation))
