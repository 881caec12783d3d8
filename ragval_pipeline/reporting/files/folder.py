"""The folder of a run: its name and files, writing it atomically, and copying it to ``--output``."""

from __future__ import annotations

import html
import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.reporting.bundle import REMEDIATION, ReportBundle, bundle_of
from ragval_pipeline.reporting.corpus import Corpus, CorpusFiles, names_in, read_corpus
from ragval_pipeline.reporting.document import bundle_document
from ragval_pipeline.reporting.files.junit import junit_xml
from ragval_pipeline.reporting.files.summary_md import summary_md
from ragval_pipeline.reporting.files.tables import csv_pieces, findings_parquet, qrels_trec, run_trec, sitemap_urls_csv
from ragval_pipeline.reporting.files.traffic_queries import TRAFFIC_QUERIES, TRAFFIC_TOPICS, traffic_queries
from ragval_pipeline.reporting.html.page import report_pieces
from ragval_pipeline.reporting.json_values import json_bytes, json_pieces
from ragval_pipeline.reporting.masked import masked_value, without_phrases
from ragval_pipeline.reporting.profiles import render_profile_report
from ragval_pipeline.reporting.remediation import remediation
from ragval_pipeline.sources.history import EVIDENCE, FINDINGS, REPORT, KeptRun
from ragval_pipeline.sources.storage import (
    Content,
    Moved,
    Pieces,
    ReportNotWrittenError,
    fill_folder,
    local_path,
    open_folder,
    replace_folder,
    write_whole,
    writing_to,
)
from ragval_pipeline.suite.absent import AbsentEntry
from ragval_pipeline.text.json_text import parse_json

if TYPE_CHECKING:
    from upath import UPath

logger = logging.getLogger(__name__)

#: Every file that a run can have next to ``evidence/``; those without content are left out.
NAMES = (
    REPORT, "profile_report.json", "report.html", "query_results.csv", "run.trec", "qrels.trec", FINDINGS,
    REMEDIATION, "junit.xml", "summary.md", TRAFFIC_QUERIES,
)  # fmt: skip


def run_files(bundle: ReportBundle) -> dict[str, Content]:
    """The content of every file of the run's folder, by relative name."""
    profile = masked_value(render_profile_report(bundle, bundle.report.profile), bundle.masked)
    corpus = read_corpus(CorpusFiles.of_bundle(bundle), names_in(bundle.report), bundle.inventory, masked=bundle.masked)
    readable = readable_files(bundle, corpus)
    outputs: dict[str, bytes | Pieces | None] = {
        REPORT: lambda: json_pieces(bundle.report),
        "profile_report.json": None if profile is None else lambda: json_pieces(profile),
        **readable,
        "report.html": partial(_page_or_reason, readable["report.html"]),
        "run.trec": run_trec(bundle.rankings),
        "qrels.trec": qrels_trec(bundle.judgements),
        FINDINGS: findings_parquet(bundle.findings),
        REMEDIATION: json_bytes(remediation(bundle.plan, bundle.findings)),
        TRAFFIC_QUERIES: traffic_queries(bundle.extras.get(TRAFFIC_TOPICS, ())),
    }
    files: dict[str, Content] = {name: content for name, content in outputs.items() if content is not None}
    return {**files, **evidence_files(bundle)}


def readable_files(bundle: ReportBundle, corpus: Corpus) -> dict[str, Pieces]:
    """The files that only show the content of others, so they can be rendered again from a stored run.

    Each is generated when written: they grow with the test queries, and only one at a time is in memory.
    """
    document = bundle_document(bundle, corpus)
    return {
        "report.html": lambda: report_pieces(document, bundle, corpus),
        "query_results.csv": lambda: csv_pieces(bundle.report),
        "junit.xml": lambda: [junit_xml(document)],
        "summary.md": lambda: [summary_md(document)],
    }


def _page_or_reason(page: Pieces) -> Iterable[bytes]:
    """The page; if a defect of ours stops it, the reason: what was measured is kept all the same."""
    try:
        return list(page())
    except Exception as error:
        logger.exception("report.html could not be drawn; the other files of the run are whole")
        return [_NOT_DRAWN.format(reason=html.escape(f"{type(error).__name__}: {error}")).encode()]


_NOT_DRAWN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Report not drawn</title></head><body>
<h1>This page could not be drawn</h1>
<p>{reason}</p>
<p>This is a defect of ragval, not of the index. The verdict and every finding are in validation_report.json and
summary.md beside this page. Once ragval is corrected, <code>ragval report</code> draws the page again.</p>
</body></html>
"""


def evidence_files(bundle: ReportBundle) -> dict[str, Content]:
    """The files of ``evidence/``, to check every count by hand, by their name relative to the run's folder."""
    files: dict[str, Content] = {}
    if bundle.inventory is not None and bundle.inventory.failure is None:
        files[f"{EVIDENCE}/sitemap_urls.csv"] = sitemap_urls_csv(
            bundle.inventory, bundle.report.coverage_report.indexed_urls
        )
    for kind, manifest in bundle.kept().items():
        own = manifest is not None and manifest.run_id == bundle.report.run_id
        parts = bundle.parts(kind).items()
        files |= {f"{EVIDENCE}/{kind}/{name}": Moved(part) if own else part for name, part in parts}
    return files | {f"{EVIDENCE}/{name}": json_bytes(value) for name, value in bundle.extras.items()}


def render_again(
    run: KeptRun,
    *,
    settings: Mapping[str, Any],
    baseline: str | None,
    limit: int,
    into: str | None = None,
    absent: Sequence[AbsentEntry] = (),
) -> list[str]:
    """Write report.html, query_results.csv, junit.xml and summary.md of a stored run.

    Args:
        run: The run.
        settings: The suite's settings without secrets, as far as unchanged since the run.
        baseline: ``history.baseline``.
        limit: Maximum runs in the trend.
        into: Folder or fsspec URL to copy the whole run to first, leaving its own folder unchanged; None: the run's own
            folder.
        absent: What must be absent: its phrases are shown by their names.

    Returns:
        Location of the files.

    Raises:
        HistoryNotReadError: The run cannot be read.
        ReportNotWrittenError: The filesystem refuses.
    """
    bundle = without_phrases(bundle_of(run, settings=settings, baseline=baseline, limit=limit), absent)
    corpus = read_corpus(CorpusFiles.of_run(run.folder), names_in(bundle.report), masked=bundle.masked)
    outputs = readable_files(bundle, corpus)
    folder = run.folder if into is None else open_folder(into)
    copied = copy_outputs(str(run.folder), into) if into is not None else []
    for name, content in outputs.items():
        with writing_to(folder):
            write_whole(folder / name, content, sync=True)
    whole = [name for name in copied if "/" not in name and name not in outputs]
    return [str(folder / name) for name in (*outputs, *whole)]


def run_folder_name(started: datetime, run_id: str) -> str:
    """``<UTC time>-<first 8 of run id>``, e.g. ``20261120T111541Z-1f0c9a52``: names sort by time.

    Raises:
        ValueError: ``started`` has no time zone.
    """
    if started.tzinfo is None:
        raise ValueError("started must have a time zone")
    return f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}-{run_id[:8]}"


def write_run_folder(bundle: ReportBundle, folder: str) -> None:
    """Write all files of a run; the folder appears atomically.

    Args:
        bundle: The run.
        folder: Path or fsspec URL of the run's folder; created or replaced. Parts staged by this run are moved into its
            evidence, those of another run are copied.

    Raises:
        ReportNotWrittenError: The filesystem refuses; nothing is left of the folder.
    """
    target = open_folder(folder)
    files = run_files(bundle)
    fill_folder(target, files, last=REPORT)
    moved = {name: content.source for name, content in files.items() if isinstance(content, Moved)}
    _remove_staged([source for name, source in moved.items() if source != target / name])


def copy_outputs(run_folder: str, output_dir: str) -> list[str]:
    """Copy a run's files into another folder.

    Files of an earlier run there are replaced or, if this run does not have them, removed; ``evidence/`` is replaced as
    a whole. Other files are left alone.

    Args:
        run_folder: Path or fsspec URL of a folder written by ``write_run_folder``.
        output_dir: Path or fsspec URL of the other folder; created if missing.

    Returns:
        Names of the copies, relative to the folder: ``evidence/sitemap_urls.csv``.

    Raises:
        ReportNotWrittenError: The filesystem refuses, or ``evidence/`` there is someone else's.
    """
    source, target = open_folder(run_folder), open_folder(output_dir)
    with writing_to(output_dir):
        below = sorted((entry for entry in source.rglob("*") if entry.is_file()), key=str)
        files = {str(file.path)[len(source.path) :].lstrip("/"): file for file in below}
        path, own_path = local_path(target), local_path(source)
        if path is None:
            for name in sorted(files, key=lambda name: name == REPORT):
                write_whole(target / name, files[name])
        elif own_path is None or path.resolve() != own_path.resolve():
            _copy_local(files, target, path)
    return list(files)


def _remove_staged(parts: Sequence[UPath]) -> None:
    """Remove staged parts. The report is already written, so errors here do not fail the run."""
    try:
        for part in parts:
            part.unlink(missing_ok=True)
        for folder in {str(part.parent): part.parent for part in parts}.values():
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()
    except OSError as error:
        logger.warning("the staged snapshot could not be removed: %s", error)


def _copy_local(files: Mapping[str, UPath], target: UPath, path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    ours = _is_report(path / REPORT)
    inner = {name.removeprefix(f"{EVIDENCE}/"): file for name, file in files.items() if "/" in name}
    place = path / EVIDENCE
    if place.exists() and not ours:
        raise ReportNotWrittenError(
            str(place), "it already exists and was not written by ragval", remedy="Choose another folder with --output."
        )
    if inner:
        replace_folder(place, inner)
    elif place.exists():
        replace_folder(place, {})
        place.rmdir()
    for name in sorted(NAMES, key=lambda name: name == REPORT):
        if name in files:
            write_whole(target / name, files[name], sync=True)
        elif ours:
            (path / name).unlink(missing_ok=True)


def _is_report(file: Path) -> bool:
    """Whether a file is a ragval report, so that files with ragval's names next to it are ragval's too."""
    try:
        content = parse_json(file.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and {"schema_version", "suite", "run_id", "verdict"} <= content.keys()
