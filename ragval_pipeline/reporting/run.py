"""A finished run for notebooks: its report, its findings and facts as data frames, its files."""

from __future__ import annotations

import html
import io
import json
import webbrowser
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.reporting.document import RunDocument, run_document
from ragval_pipeline.reporting.history.earlier import read_report
from ragval_pipeline.reporting.numbers import show_gate, show_value
from ragval_pipeline.sources.history import EVIDENCE, FINDINGS, HistoryNotReadError, KeptRun, reading_from
from ragval_pipeline.sources.storage import open_folder
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

if TYPE_CHECKING:
    import pandas as pd

_PAGE = "report.html"
#: Findings in the notebook card.
_SHOWN = 5
_COLOURS = {"pass": "#1a7f37", "fail": "#cf222e", "not_measured": "#9a6700", "error": "#cf222e"}


@dataclass(frozen=True)
class Run:
    """A finished run, from ``validate`` or ``Run.read``.

    Attributes:
        report: The content of ``validation_report.json``.
        folder: The folder or URL of the run's files.
    """

    report: ValidationReport
    folder: str

    @classmethod
    def read(cls, folder: str | Path) -> Run:
        """The run whose files are in a folder, or at an fsspec URL.

        Raises:
            HistoryNotReadError: There is no readable report.
        """
        return cls(read_report(KeptRun(open_folder(str(folder)))), str(folder))

    @property
    def verdict(self) -> str:
        """``pass``, ``fail``, ``not_measured`` or ``error``."""
        return self.report.verdict

    @cached_property
    def document(self) -> RunDocument:
        """The run as every output shows it."""
        return run_document(self.report)

    @cached_property
    def findings(self) -> pd.DataFrame:
        """A frame with a row for each subject of each finding, with its measurements as a dict in ``details``.

        The findings themselves, one object each, are in ``report.findings``.

        Columns: code, severity, scope, subject_kind, subject, details. A finding without subjects has one row.

        Raises:
            HistoryNotReadError: The file is missing or cannot be read.
        """
        frame = self._frame(FINDINGS)
        if frame.columns.empty:
            raise HistoryNotReadError(f"{self.folder}/{FINDINGS}", "it is missing", remedy="Restore or remove the run.")
        frame["details"] = [json.loads(text) for text in frame["details"]]
        return frame

    @cached_property
    def facts(self) -> RunFacts:
        """The facts of chunks and pages; docs/reference/facts.md describes the columns."""
        return RunFacts(self._frame(f"{EVIDENCE}/facts/chunks-*"), self._frame(f"{EVIDENCE}/facts/pages-*"))

    def open(self) -> None:
        """Show the report in the browser.

        Raises:
            SuiteError: There is no report, or it is not on a local disk.
        """
        page = Path(self.folder) / _PAGE
        if "://" in self.folder or not page.is_file():
            raise SuiteError(
                f"{self.folder} holds no {_PAGE} on this machine", remedy="Copy the folder to this machine first."
            )
        webbrowser.open(page.resolve().as_uri())

    def _frame(self, pattern: str) -> pd.DataFrame:
        import pandas as pd

        folder = open_folder(self.folder)
        with reading_from(folder):
            files = sorted(folder.glob(pattern), key=str)
            parts = [pd.read_parquet(io.BytesIO(file.read_bytes())) for file in files]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def __repr__(self) -> str:
        return f"<Run {self.report.title}: {self.document.word}. {self.document.sentence} {self.folder}>"

    def _repr_html_(self) -> str:
        """The notebook card: the verdict, the required criteria, the first findings."""
        document = self.document
        report, found = document.report, document.findings
        criteria = "".join(
            f"<tr><td>{_SIGN[result.verdict]}</td>{_cells(criterion_name(result.name), _value(result))}"
            f"{_cells(show_gate(result))}</tr>"
            for result in document.criteria.required
        )
        findings = "".join(
            f"<li><b>{finding.severity}</b> {html.escape(finding.message)}</li>" for finding in found[:_SHOWN]
        )
        more = len(found) - _SHOWN
        rest = f"<li>and {more} more</li>" if more > 0 else ""
        return (
            f'<div><p><b style="color:{_COLOURS[report.verdict]}">{document.word}</b> '
            f"<b>{html.escape(report.title)}</b>: {html.escape(document.sentence)}</p>"
            f"<table>{criteria}</table><ul>{findings}{rest}</ul><p><code>{html.escape(self.folder)}</code></p></div>"
        )


_SIGN = {"met": "✓", "not_met": "✗", "not_measured": "○"}


@dataclass(frozen=True)
class RunFacts:
    """The facts of a run as frames.

    Attributes:
        chunks: A row for each point: its page, the share of its text on the page, tokens, damage.
        pages: A row for each page: whether it was read, its chunks, its blocks of content.
    """

    chunks: pd.DataFrame
    pages: pd.DataFrame


def _value(result: CriterionResult) -> str:
    return "not measured" if result.value is None else show_value(result)


def _cells(*texts: str) -> str:
    return "".join(f"<td>{html.escape(text)}</td>" for text in texts)
