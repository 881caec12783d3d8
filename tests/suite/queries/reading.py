"""Query files for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.suite.queries.model import TestQuery
from tests.suite.writing import one_line, suite_of


def put(folder: Path, name: str, text: str | bytes) -> Path:
    """Write a file below ``folder``."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def read(folder: Path, queries: Any, **sections: Any) -> list[TestQuery]:
    """The queries of a suite in ``folder``."""
    return load_queries(suite_of(folder, queries=queries, **sections))


def refused(folder: Path, queries: Any, **sections: Any) -> SuiteError:
    """The error that loading ends with, checked to be one line."""
    with pytest.raises(SuiteError) as caught:
        read(folder, queries, **sections)
    return one_line(caught.value)
