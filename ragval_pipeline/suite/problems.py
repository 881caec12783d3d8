"""Turning a validation error into lines that name the file, the key and the remedy."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from ragval_pipeline.errors import SuiteError, all_in_one
from ragval_pipeline.text.printing import did_you_mean, printable

#: Replaces pydantic's messages, which are about Python.
_SAYS = {
    "model_type": "must be a mapping of settings",
    "model_attributes_type": "must be a mapping of settings",
    "dict_type": "must be a mapping",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "path_type": "must be a path",
    "string_type": "must be a text",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be lower-case letters, digits and _, with a letter first",
    "string_unicode": "contains characters that are not valid Unicode",
}
#: Keys whose values may be secrets or hold a password.
_SECRET = re.compile(r"(?:^|_)(?:key|url|uri|sitemap|llms|secret|token|password)$|^urls$", re.IGNORECASE)


@dataclass(frozen=True)
class Problem:
    """What is wrong at one key.

    ``location`` holds keys and indices as the user wrote them; ``branches`` what pydantic found there: one entry, or
    one per branch of a union.
    """

    location: tuple[int | str, ...]
    branches: tuple[Any, ...]


def problems_of(error: ValidationError, given: Any, model: type[BaseModel]) -> list[Problem]:
    """What is wrong, by key: unknown keys first, without the missing ones that they were meant to be.

    ``given`` is what was validated: it separates keys from pydantic's names for the branches of a union.
    """
    by_place: dict[tuple[int | str, ...], list[Any]] = {}
    for entry in error.errors(include_url=False):
        by_place.setdefault(location_in(given, entry), []).append(entry)
    unknown = [place for place, entries in by_place.items() if entries[0]["type"] == "extra_forbidden"]
    meant = {(*place[:-1], suggest_key(model, place)) for place in unknown}
    # A branch of a union that reads the value's keys is meant; the others only say that it has another type.
    entered = {place[:end] for place in by_place for end in range(len(place))}
    known = [
        place
        for place, entries in by_place.items()
        if place not in unknown
        and not (entries[0]["type"] == "missing" and (*place[:-1], f"Did you mean {place[-1]}?") in meant)
        and not (place in entered and all(entry["type"].endswith("_type") for entry in entries))
    ]
    return [Problem(place, tuple(by_place[place])) for place in (*unknown, *known)]


def suite_error(
    error: ValidationError, *, model: type[BaseModel], file: Path | str | None, given: Any, prefix: str = ""
) -> SuiteError:
    """The problems of ``error``, all in one; arguments as for ``problems_of`` and ``problem_error``."""
    found = problems_of(error, given, model)
    return all_in_one([problem_error(problem, model=model, file=file, prefix=prefix) for problem in found])


def problem_error(
    problem: Problem,
    *,
    model: type[BaseModel],
    file: Path | str | None,
    prefix: str = "",
    variables: Sequence[str] = (),
    remedy: str = "",
) -> SuiteError:
    """One problem as a ``SuiteError``.

    Of environment variables in the wrong value only the names are shown: the value may be a misplaced secret.
    ``remedy`` is what else helps where the error itself knows no more than "add the key".
    """
    location, first = problem.location, problem.branches[0]
    text, known_remedy = _worded(first, problem.branches, location, model, variables)
    if first["type"] == "missing":
        known_remedy = remedy or "Add the key."
    remedy = known_remedy or remedy or _default(model, location)
    key = prefix + dotted(location) if location else prefix.rstrip("., ")
    return SuiteError(text, file=file, key=key or None, remedy=remedy)


def location_in(given: Any, problem: Any) -> tuple[int | str, ...]:
    """The keys and indices of ``problem`` as the user wrote them, without pydantic's names for branches."""
    location: list[int | str] = []
    value = given
    for part in problem["loc"]:
        in_list = isinstance(value, list | tuple) and isinstance(part, int) and part < len(value)
        if in_list or (isinstance(value, Mapping) and part in value):
            value = value[part]
            location.append(part)
    if problem["type"] == "missing":
        location.append(problem["loc"][-1])
    return tuple(location)


def dotted(location: Sequence[int | str]) -> str:
    """``("retrieval", "k", 0)`` as ``retrieval.k[0]``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{printable(part)}" if text else printable(part)
    return text


def _worded(
    problem: Any,
    branches: Sequence[Any],
    location: Sequence[int | str],
    model: type[BaseModel],
    variables: Sequence[str],
) -> tuple[str, str]:
    if problem["type"] == "extra_forbidden":
        return "is not a known key", suggest_key(model, location)
    if problem["type"] == "missing":
        return "is missing", ""
    text = _any_of([_SAYS.get(branch["type"]) or _plain(branch["msg"]) for branch in branches])
    if variables:
        plural = "s" if len(variables) > 1 else ""
        return f"{text} (read from the environment variable{plural} {', '.join(variables)})", ""
    text += _shown(problem, location)
    needs_quotes = problem["type"] == "string_type" and isinstance(problem.get("input"), bool | int | float)
    return text.rstrip("."), "Put it in quotes." if needs_quotes else ""


def _any_of(texts: Sequence[str]) -> str:
    """One text of what the branches of a union ask for; the first where they do not all say what must be."""
    asked = dict.fromkeys(text.removeprefix("must be ") for text in texts)
    return f"must be {' or '.join(asked)}" if all(text.startswith("must be ") for text in texts) else texts[0]


def _default(model: type[BaseModel], location: Sequence[int | str]) -> str:
    """How a wrong key is done without; empty for one that must be there, and for sections."""
    models, field = [model], None
    for name in (part for part in location if isinstance(part, str)):
        field = next((field for found in models for field in _fields_called(name, found)), None)
        if field is None:
            return ""
        models = _models_in(field.annotation)
    if field is None or field.is_required() or models:
        return ""
    plain = isinstance(field.default, int | float | str)
    shown = str(field.default).lower() if isinstance(field.default, bool) else field.default
    return "Correct it or leave the key out" + (f": the default is {shown}." if plain and shown else ".")


def _fields_called(name: str, model: type[BaseModel]) -> list[FieldInfo]:
    """The field of a model with this name, or with this one among its others."""
    fields = model.model_fields.items()
    return [field for key, field in fields if name == key or name in getattr(field.validation_alias, "choices", ())]


def _plain(message: str) -> str:
    text = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    text = re.sub(r", unable to (parse|interpret) .*$", "", text).replace("Input should be", "must be")
    return text[:1].lower() + text[1:] if text[:2] in {"Un", "Va", "Ex"} else text


def _shown(problem: Any, location: Sequence[int | str]) -> str:
    value = problem.get("input")
    if problem["type"] in {"value_error", "model_type"} or not isinstance(value, str | int | float | bool):
        return ""
    if any(_SECRET.search(str(part)) for part in location):
        return ""
    return f", not {printable(repr(value))}"


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
    return list(dict.fromkeys(key for found in _models_in(current) for key in public_fields(found)))


def public_fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields that a file may set; excluded ones are filled from other keys."""
    return {name: field for name, field in model.model_fields.items() if not field.exclude}


def key_paths(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Dotted paths of every key, sections included."""
    for name, field in public_fields(model).items():
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
