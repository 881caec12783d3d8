"""The kept runs of a suite, for the commands that look at them.

What lives here: from the suite file to its history folder. What does not: the runs themselves (``reporting/history``).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.model import Suite

if TYPE_CHECKING:
    from upath import UPath


@dataclass(frozen=True)
class History:
    """A suite, and where its runs are."""

    suite: Suite
    base: UPath


def open_history(suite_file: Path) -> History:
    """The history of the suite that a file describes.

    Raises:
        SuiteError: The suite is wrong, or the place of its reports is not known here.
    """
    from ragval_pipeline.reporting.history.folders import history_folder
    from ragval_pipeline.suite.interpolation import is_unread
    from ragval_pipeline.suite.load import load_suite, resolve_suite

    suite = load_suite(suite_file)
    try:
        suite = resolve_suite(suite)
    except SuiteError:
        # Nobody needs the key of an embedder to look at kept runs; only their place has to be known.
        if is_unread(suite.report_uri) or is_unread(suite._origin.written.get("suite") if suite._origin else None):
            raise
    return History(suite, history_folder(suite.report_uri, suite.suite))
