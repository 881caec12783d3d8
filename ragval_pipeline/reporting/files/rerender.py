"""Rendering the readable files of a stored run again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.model import Finding, ReportedFinding, Subject
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.corpus import CorpusFiles, names_in, read_corpus
from ragval_pipeline.reporting.files.folder import copy_outputs, readable_files
from ragval_pipeline.reporting.files.remediation import REMEDIATION
from ragval_pipeline.reporting.history.earlier import answers_of, kept_subjects, read_report
from ragval_pipeline.reporting.history.trend import history_of
from ragval_pipeline.sources.history import (
    EVIDENCE,
    HistoryNotReadError,
    KeptRun,
    reading_from,
)
from ragval_pipeline.sources.storage import Content, open_folder, write_whole, writing_to
from ragval_pipeline.text.json_text import parse_json

if TYPE_CHECKING:
    from upath import UPath


def render_again(
    run: KeptRun, *, settings: Mapping[str, Any], baseline: str | None, limit: int, into: str | None = None
) -> list[str]:
    """Write report.html, query_results.csv, junit.xml and summary.md of a stored run.

    Args:
        run: The run.
        settings: The suite's settings without secrets, as far as unchanged since the run.
        baseline: ``history.baseline``.
        limit: Maximum runs in the trend.
        into: Folder or fsspec URL to copy the whole run to first, leaving its own folder unchanged; None: the run's own
            folder.

    Returns:
        Location of the files.

    Raises:
        HistoryNotReadError: The run cannot be read.
        ReportNotWrittenError: The filesystem refuses.
    """
    bundle = bundle_of(run, settings=settings, baseline=baseline, limit=limit)
    outputs = readable_files(bundle, read_corpus(CorpusFiles.of_run(run.folder), names_in(bundle.report)))
    folder = run.folder if into is None else open_folder(into)
    copied = copy_outputs(str(run.folder), into) if into is not None else []
    for name, content in outputs.items():
        _write(folder, name, content)
    whole = [name for name in copied if "/" not in name and name not in outputs]
    return [str(folder / name) for name in (*outputs, *whole)]


def bundle_of(run: KeptRun, *, settings: Mapping[str, Any], baseline: str | None, limit: int) -> ReportBundle:
    """The bundle of a stored run, as far as its files have it.

    Raises:
        HistoryNotReadError: The run cannot be read.
    """
    report = read_report(run)
    answers = answers_of(run, report)
    return ReportBundle(
        report=report,
        findings=[_whole(finding) for finding in report.findings],
        rankings=answers.rankings,
        judgements=answers.judgements,
        extras=_json_files(run.folder / EVIDENCE, "*.json"),
        queries=[{**query.query, "id": query.query_id} for query in report.query_results],
        settings=settings,
        remedies=_json_files(run.folder, REMEDIATION).get(REMEDIATION, {}),
        history=history_of(
            run.folder.parent, run.name, report, kept_subjects(run, report), baseline=baseline, limit=limit
        ),
    )


def _whole(finding: ReportedFinding) -> Finding:
    """A finding with the subjects in the report: the first hundred."""
    measured = finding.details.get("subjects", {})
    fields = finding.model_dump(exclude={"count", "subjects", "details"})
    return Finding(
        **fields,
        subjects=tuple(Subject(name=name, details=measured.get(name, {})) for name in finding.subjects),
        details={name: value for name, value in finding.details.items() if name != "subjects"},
    )


def _json_files(folder: UPath, pattern: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with reading_from(folder):
        files = sorted(folder.glob(pattern), key=str) if folder.exists() else []
        for file in files:
            try:
                found[file.name] = parse_json(file.read_bytes())
            except ValueError as error:
                raise HistoryNotReadError(file, str(error)) from None
    return found


def _write(folder: UPath, name: str, content: Content) -> None:
    with writing_to(folder):
        write_whole(folder / name, content, sync=True)
