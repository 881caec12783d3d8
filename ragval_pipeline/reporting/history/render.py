"""The history shown in a run's report, and rendering the readable files of a stored run again."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.findings.model import Finding, ReportedFinding, Subject
from ragval_pipeline.reporting.corpus import CorpusFiles, names_in, read_corpus
from ragval_pipeline.reporting.files.bundle import ReportBundle
from ragval_pipeline.reporting.files.folder import copy_outputs, readable_files
from ragval_pipeline.reporting.files.remediation import REMEDIATION
from ragval_pipeline.reporting.history.baseline import baseline_of, known_baseline, point_of, readable_points
from ragval_pipeline.reporting.history.compare import changes_between
from ragval_pipeline.reporting.history.earlier import Subjects, answers_of, kept_subjects, read_report
from ragval_pipeline.reporting.history.model import RunChanges, RunHistory, RunPoint
from ragval_pipeline.reporting.outline import groups_of_report
from ragval_pipeline.sources.history import (
    EVIDENCE,
    HistoryNotReadError,
    KeptRun,
    reading_from,
    remove_surplus,
    runs_before,
)
from ragval_pipeline.sources.storage import Content, open_folder, write_whole, writing_to
from ragval_pipeline.validation.report import ValidationReport

if TYPE_CHECKING:
    from upath import UPath


logger = logging.getLogger(__name__)


def history_of(
    base: UPath, name: str, report: ValidationReport, subjects: Subjects, *, baseline: str | None, limit: int
) -> RunHistory:
    """The stored runs with this one as the last, and changes since the previous one with the same groups.

    Args:
        base: Where the suite's runs are.
        name: Name of this run's folder, which may not exist yet.
        report: This run's report.
        subjects: All subjects of its findings.
        baseline: ``history.baseline``.
        limit: Maximum runs in the trend, including this one.
    """
    own = point_of(name, report)
    try:
        chosen = known_baseline(base, baseline)
        before = runs_before(base, name, report.timestamp)
        earlier = readable_points(before[max(len(before) - limit + 1, 0) :])
        changes = _since_last(base, earlier, report, subjects)
    except RagvalError as error:
        logger.warning("%s", error)
        return RunHistory((own,))
    return RunHistory((*earlier, own), chosen, changes)


def clean_up(base: UPath, name: str, *, baseline: str | None, keep: int) -> None:
    """Remove the oldest runs except ``keep``, after this run's report is written; errors are logged.

    Args:
        base: Where the suite's runs are.
        name: Name of this run's folder.
        baseline: ``history.baseline``.
        keep: ``history.keep_runs``.
    """
    try:
        chosen = {run.name for run in (baseline_of(base, None), baseline_of(base, baseline)) if run is not None}
        removed = remove_surplus(base, keep=keep, spared={name, *chosen})
    except RagvalError as error:  # remove nothing while the baseline is unknown
        logger.warning("no older run was removed: %s", error)
    else:
        if removed:
            logger.info("%s older runs were removed", len(removed))


def _since_last(
    base: UPath, earlier: list[RunPoint], report: ValidationReport, subjects: Subjects
) -> RunChanges | None:
    asked = groups_of_report(report)
    for point in reversed(earlier):
        if point.verdict == "error" or point.groups != asked:
            continue
        run = KeptRun(base / point.name)
        try:
            before = read_report(run)
            return changes_between(point.name, before, report, (kept_subjects(run, before), subjects))
        except HistoryNotReadError as error:  # a folder that was copied in part, or whose files were removed
            logger.warning("%s", error)
    return None


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
                found[file.name] = json.loads(file.read_bytes())
            except ValueError as error:
                raise HistoryNotReadError(file, str(error)) from None
    return found


def _write(folder: UPath, name: str, content: Content) -> None:
    with writing_to(folder):
        write_whole(folder / name, content, sync=True)
