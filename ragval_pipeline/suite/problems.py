"""Turning a validation error into one line that names the file, the key and the remedy."""

from __future__ import annotations

import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.nearest import did_you_mean


def suite_error(
    error: ValidationError, *, model: type[BaseModel], file: Path | str | None, prefix: str = ""
) -> SuiteError:
    """The first problem of ``error`` as a ``SuiteError``, with the number of further ones."""
    problems = error.errors(include_url=False)
    first = problems[0]
    location = [part for part in first["loc"] if not _is_union_branch(part, first["loc"])]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    remedy = ""
    if first["type"] == "extra_forbidden":
        problem = "is not a known key"
        remedy = did_you_mean(str(location[-1]), _keys_at(model, location[:-1]))
    elif first["type"] == "missing":
        problem, remedy = "is missing", "Add the key."
    else:
        problem = _plain(first["msg"]) + _shown(first)
    return SuiteError(problem + more, file=file, key=prefix + dotted(location) or None, remedy=remedy)


def dotted(location: Sequence[int | str]) -> str:
    """``("retrieval", "k", 0)`` as ``retrieval.k[0]``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _plain(message: str) -> str:
    text = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    text = text.replace("Input should be", "must be").replace("unable to parse string as", "not")
    return text[:1].lower() + text[1:] if text[:2] == "Un" else text


def _shown(problem: Any) -> str:
    value = problem.get("input")
    if problem["type"] == "value_error" or not isinstance(value, str | int | float | bool):
        return ""
    if any(word in str(part).lower() for part in problem["loc"] for word in ("key", "url", "secret")):
        return ""
    return f", not {value!r}"[:80]


def _is_union_branch(part: int | str, location: Sequence[int | str]) -> bool:
    # Pydantic names the branch of a union in the location ("function-after[...]", "list[...]"): no key of ours.
    text = str(part)
    return len(location) > 1 and ("[" in text or text in {"QueryFiles", "TrecFiles", "path", "GateSettings"})


def _keys_at(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    current: type[BaseModel] | None = model
    for part in location:
        field = current.model_fields.get(str(part)) if current else None
        current = _model_in(field.annotation) if field else None
    return list(current.model_fields) if current else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) in {typing.Union, types.UnionType}:
        return next((found for arg in typing.get_args(annotation) if (found := _model_in(arg))), None)
    return None
