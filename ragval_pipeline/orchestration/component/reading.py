"""From the attributes of a ``defs.yaml`` to a suite and its settings for Dagster; errors name the line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import ValidationError

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.component.attributes import Attributes, DagsterSettings, split
from ragval_pipeline.suite.load import load_suite, suite_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.problems import suite_error


def read_attributes(attributes: Attributes, context: dg.ResolutionContext) -> tuple[Suite, DagsterSettings]:
    """The suite, and what stands beside its keys.

    Raises:
        SuiteError: A key is unknown or wrong; names file, line and key.
    """
    file = file_of(context)
    keys, own = split(rendered(attributes.root, context))
    try:
        settings = _settings(own, file)
        return _suite(keys, settings.suite_file, file), settings
    except SuiteError as error:
        raise with_line(error, context) from None


def _settings(own: Mapping[str, Any], file: Path) -> DagsterSettings:
    try:
        return DagsterSettings.model_validate(own)
    except ValidationError as error:
        raise suite_error(error, model=DagsterSettings, file=file, given=own) from None


def _suite(keys: Mapping[str, Any], suite_file: str | None, file: Path) -> Suite:
    if suite_file is None:
        return suite_of(keys, file=file)
    if keys:
        raise SuiteError(
            "stands beside suite_file", file=file, key=next(iter(keys)), remedy="Write it into that suite file."
        )
    return load_suite(os.path.normpath(file.parent / suite_file))


_PART = re.compile(r"[^.\[\]]+")


def file_of(context: dg.ResolutionContext) -> Path:
    """The ``defs.yaml``; attributes that no file holds count as one in the working directory."""
    tree = context.source_position_tree
    return Path(tree.position.filename).absolute() if tree else Path.cwd() / "defs.yaml"


def with_line(error: SuiteError, context: dg.ResolutionContext) -> SuiteError:
    """``error`` naming the line of its key, when it is about the file of ``context``."""
    if error.file != str(file_of(context)):
        return error
    line = line_of(context, _PART.findall(error.key or ""))
    return SuiteError(
        error.problem, remedy=error.remedy, file=f"{error.file}:{line}" if line else error.file, key=error.key
    )


def line_of(context: dg.ResolutionContext, path: Sequence[str]) -> int | None:
    """Line of the attribute at ``path``, from 1; of what holds it, where it is missing; null without a file."""
    tree = context.source_position_tree
    if tree is None:
        return None
    for part in ("attributes", *path):
        index = int(part) if part.isdigit() else part
        if index not in tree.children:
            break
        tree = tree.children[index]
    return tree.position.start.line


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
