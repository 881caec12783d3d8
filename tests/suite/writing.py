"""Suites for tests: the smallest one, and reading what was written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.load import load_suite, resolve_suite
from ragval_pipeline.suite.model import Suite

SMALLEST: dict[str, Any] = {"suite": "book", "qdrant": {"path": "./qdrant", "collection": "chunks"}}


def write(folder: Path, text: str | Mapping[str, Any], name: str = "ragval.yaml") -> Path:
    """Write a suite file; a mapping is written as YAML."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    body = text if isinstance(text, str) else yaml.safe_dump(dict(text), sort_keys=False, allow_unicode=True)
    file.write_text(body, encoding="utf-8")
    return file


def suite_of(folder: Path, **sections: Any) -> Suite:
    """The smallest suite with further sections, resolved without any variable set."""
    return resolve_suite(load_suite(write(folder, {**SMALLEST, **sections})), {})


def refused(folder: Path, text: str | Mapping[str, Any], environ: Mapping[str, str] | None = None) -> SuiteError:
    """The error that a suite ends with; each problem must be one line, and the first names the file."""
    file = write(folder, text)
    with pytest.raises(SuiteError) as caught:
        resolve_suite(load_suite(file), environ or {})
    return one_line(caught.value)


def one_line(error: SuiteError) -> SuiteError:
    """The error itself, after checking that each problem is one line without control characters."""
    lines = str(error).split("\n")
    assert all(line.isprintable() for line in lines), lines
    assert len(lines) == 1 + len(error.further_lines())
    assert error.exit_code == 2
    return error
