"""Regular expressions in test queries, checked before anything is called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.printing import printable
from ragval_pipeline.suite.queries.files import Entry
from ragval_pipeline.suite.queries.model import TestQuery


def check_patterns(located: Sequence[tuple[Entry, TestQuery]], file: Path | None) -> None:
    """Compile every expected module.

    Raises:
        SuiteError: One is no regular expression; names the file, the query and the place in the expression.
    """
    for entry, query in located:
        if query.expected_module is None:
            continue
        try:
            re.compile(query.expected_module)
        except re.error as error:
            raise SuiteError(
                f"query {printable(query.id)}: {printable(query.expected_module)} is no regular expression ({error})",
                file=file,
                key=entry.key("expected_module"),
                remedy="Correct it, or set retrieval.module_match to exact, normalised or prefix.",
            ) from None
