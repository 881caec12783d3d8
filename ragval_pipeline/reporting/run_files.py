"""All files of a run, by name: which outputs there are and when each is written.

What lives here: the list. What does not: any one output, and where the files go (``folder``).
"""

from __future__ import annotations

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.evidence import evidence_files
from ragval_pipeline.reporting.findings_parquet import findings_parquet
from ragval_pipeline.reporting.html import report_html
from ragval_pipeline.reporting.json_report import validation_report_json
from ragval_pipeline.reporting.json_values import json_bytes
from ragval_pipeline.reporting.junit import junit_xml
from ragval_pipeline.reporting.markdown import summary_md
from ragval_pipeline.reporting.point_lookup import look_up_points
from ragval_pipeline.reporting.profiles import render_profile_report
from ragval_pipeline.reporting.query_csv import query_results_csv
from ragval_pipeline.reporting.remediation import names_to_look_up, remediation
from ragval_pipeline.reporting.score_view import score_note
from ragval_pipeline.reporting.storage import Content
from ragval_pipeline.reporting.trec import qrels_trec, run_trec

REPORT = "validation_report.json"
#: Every name that a run can put beside ``evidence/``; those that a run has no content for are left out.
NAMES = (
    REPORT, "profile_report.json", "report.html", "query_results.csv", "run.trec", "qrels.trec", "findings.parquet",
    "remediation.json", "junit.xml", "summary.md",
)  # fmt: skip


def run_files(bundle: ReportBundle, *, staged: str | None = None) -> dict[str, Content]:
    """The content of every file of the run's folder, by its name relative to the folder."""
    report = bundle.report
    lookup = look_up_points(bundle.manifest, names_to_look_up(bundle.findings))
    scope_urls = bundle.inventory.scope_urls if bundle.inventory else {}
    profile = render_profile_report(bundle, report.profile)
    changes = bundle.history.changes if bundle.history else None
    outputs: dict[str, bytes | None] = {
        REPORT: validation_report_json(report),
        "profile_report.json": None if profile is None else json_bytes(profile),
        "report.html": report_html(bundle, token_counts=lookup.token_counts),
        "query_results.csv": query_results_csv(report),
        "run.trec": run_trec(bundle.rankings),
        "qrels.trec": qrels_trec(bundle.judgements),
        "findings.parquet": findings_parquet(bundle.findings),
        "remediation.json": json_bytes(remediation(bundle.findings, scope_urls, lookup)),
        "junit.xml": junit_xml(report),
        "summary.md": summary_md(report, note=score_note(bundle), changes=changes),
    }
    files: dict[str, Content] = {name: content for name, content in outputs.items() if content is not None}
    return {**files, **evidence_files(bundle, staged)}
