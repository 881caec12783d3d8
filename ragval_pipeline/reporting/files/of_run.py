"""All files of a run, by name: which outputs there are and when each is written."""

from __future__ import annotations

from ragval_pipeline.reporting.corpus import Corpus, CorpusFiles, names_in, read_corpus
from ragval_pipeline.reporting.files.bundle import ReportBundle
from ragval_pipeline.reporting.files.evidence import evidence_files
from ragval_pipeline.reporting.files.findings_parquet import findings_parquet
from ragval_pipeline.reporting.files.json_values import json_bytes, json_pieces
from ragval_pipeline.reporting.files.junit import junit_xml
from ragval_pipeline.reporting.files.query_csv import csv_pieces
from ragval_pipeline.reporting.files.remediation import names_to_look_up, remediation
from ragval_pipeline.reporting.files.summary_md import summary_md
from ragval_pipeline.reporting.files.trec import qrels_trec, run_trec
from ragval_pipeline.reporting.html.page import report_pieces, subjects_of
from ragval_pipeline.reporting.html.questions import score_note
from ragval_pipeline.reporting.profiles import render_profile_report
from ragval_pipeline.sources.history.kept_runs import FINDINGS, REPORT
from ragval_pipeline.sources.storage.whole import Content, Pieces
from ragval_pipeline.validation.repair.point_lookup import look_up_points

#: Every name that a run can put beside ``evidence/``; those that a run has no content for are left out.
NAMES = (
    REPORT, "profile_report.json", "report.html", "query_results.csv", "run.trec", "qrels.trec", FINDINGS,
    "remediation.json", "junit.xml", "summary.md",
)  # fmt: skip


def run_files(bundle: ReportBundle, *, staged: str | None = None) -> dict[str, Content]:
    """The content of every file of the run's folder, by its name relative to the folder."""
    lookup = look_up_points(bundle.manifest, names_to_look_up(bundle.findings))
    scope_urls = bundle.inventory.scope_urls if bundle.inventory else {}
    profile = render_profile_report(bundle, bundle.report.profile)
    model = bundle.report.environment.get("embedding_model")
    outputs: dict[str, bytes | Pieces | None] = {
        REPORT: lambda: json_pieces(bundle.report),
        "profile_report.json": None if profile is None else json_bytes(profile),
        **readable_files(
            bundle, read_corpus(CorpusFiles.of_bundle(bundle, staged), names_in(bundle.report), bundle.inventory)
        ),
        "run.trec": run_trec(bundle.rankings),
        "qrels.trec": qrels_trec(bundle.judgements),
        FINDINGS: findings_parquet(bundle.findings),
        "remediation.json": json_bytes(remediation(bundle.findings, scope_urls, lookup, model=model)),
    }
    files: dict[str, Content] = {name: content for name, content in outputs.items() if content is not None}
    return {**files, **evidence_files(bundle, staged)}


def readable_files(bundle: ReportBundle, corpus: Corpus) -> dict[str, Pieces]:
    """The files that only show what the others hold, so that they can be made again from a kept run.

    Each is made when it is written: they grow with the test queries, and one at a time is in memory.

    Args:
        bundle: The run.
        corpus: Names and lengths of what the run read.
    """
    changes = bundle.history.changes if bundle.history else None
    return {
        "report.html": lambda: report_pieces(bundle, corpus),
        "query_results.csv": lambda: csv_pieces(bundle.report),
        "junit.xml": lambda: [junit_xml(bundle.report)],
        "summary.md": lambda: [
            summary_md(bundle.report, note=score_note(bundle), changes=changes, subjects=subjects_of(bundle, corpus))
        ],
    }
