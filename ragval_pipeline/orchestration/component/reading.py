"""From the attributes of a ``defs.yaml`` to a suite and its settings for Dagster.

What lives here: reading and refusing them. What does not: the Component (``component``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import ValidationError

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.component.attributes import Attributes, DagsterSettings, split
from ragval_pipeline.orchestration.component.positions import file_of, with_line
from ragval_pipeline.orchestration.component.templates import rendered
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
