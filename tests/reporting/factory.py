"""Reports to test outputs with, built from the contract's own models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.corpus import Corpus
from ragval_pipeline.reporting.document import bundle_document
from ragval_pipeline.reporting.history.compare import changes_between
from ragval_pipeline.reporting.history.earlier import subjects_of
from ragval_pipeline.reporting.history.model import RunHistory
from ragval_pipeline.reporting.history.runs import point_of
from ragval_pipeline.reporting.html.page import report_pieces
from ragval_pipeline.sources.site.inventory import SiteInventory, SitePage
from ragval_pipeline.sources.snapshot.manifest import Part, SnapshotManifest
from ragval_pipeline.sources.snapshot.records import RecordMapper, tracked_fields
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.validation.query_report import QueryReport, TopResult
from ragval_pipeline.validation.repair.remedies import Listing, plan_remedies
from ragval_pipeline.validation.repair.repair_plan import acted_on
from ragval_pipeline.validation.repair.stored import PointLookup
from ragval_pipeline.validation.repair.tree import causes
from ragval_pipeline.validation.report import (
    Cost,
    CoverageReport,
    Distribution,
    ModuleCoverage,
    QualityMetrics,
    RetrievalMetrics,
    ValidationReport,
)
from ragval_pipeline.validation.verdict import CriterionResult, RunVerdict

RUN_ID = "1f0c9a52-6d1e-4a55-9f0e-2f6f5f3d8a10"
SITE = "https://docs.example.com/docs"
MODULES = {
    "intro": ("intro",),
    "module-1-ros2": ("ch1-ros2-basics", "ch2-rclpy-control", "ch3-urdf-humanoids"),
    "module-2-digital-twin": ("ch1-gazebo-physics", "ch2-simulated-sensors", "ch3-unity-interaction"),
    "module-3-isaac": ("ch1-isaac-sim", "ch2-synthetic-data", "ch3-vslam-nav2"),
    "module-4-vla": ("ch1-vision-language-action", "ch2-voice-to-action"),
    "capstone": ("autonomous-humanoid",),
}
PAGES = tuple(
    f"{SITE}/{name}" if name == module else f"{SITE}/{module}/{name}"
    for module, names in MODULES.items()
    for name in names
)

#: What a payload must not be able to do: markup, script links, formulas, terminal commands, direction overrides.
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    '=HYPERLINK("http://evil.example/","x")',
    "\x1b[2J\x1b]0;owned\x07red",
    "\u202egnirts\u202c",
    "half \ud800 pair",
    "[bold red]markup[/] [link=http://evil.example]x[/link]",
    "| `code` <b>cell</b> @everyone #1",
    "]]></testcase>",
    "nul \x00 and \ufffe",
)


def criterion(
    name: str, value: float | None, threshold: float | None = None, *, required: bool = False, **more: Any
) -> CriterionResult:
    """A criterion with the verdict that its numbers give."""
    operator = "<=" if name in {"latency_p95_ms", "error_findings"} else ">="
    met = value is None or threshold is None or (value >= threshold if operator == ">=" else value <= threshold)
    fields = {
        "verdict": "not_measured" if value is None else "met" if met else "not_met",
        "numerator": None,
        "denominator": None,
        "reason": "",
        "reason_code": "no_data" if value is None else None,
        **more,
    }
    return CriterionResult(name=name, value=value, threshold=threshold, operator=operator, required=required, **fields)


def hit(rank: int, score: float, **more: Any) -> TopResult:
    """A hit; its page is the one at ``rank`` of the site."""
    fields = {
        "chunk_id": f"00000000-0000-0000-0000-{rank:012d}",
        "chunk_text": "ROS 2 is the middleware that the nodes of a robot talk through: topics, services and actions.",
        "source_url": PAGES[rank % len(PAGES)],
        "title": "ROS 2 basics",
        "chapter_id": "module-1-ros2/ch1-ros2-basics",
        "module_name": "Module 1 Ros2",
        "heading_hierarchy": ["ROS 2 basics", "Nodes"],
        "token_count": 180,
        "chunk_index": 0,
        **more,
    }
    return TopResult(rank=rank, similarity_score=score, **fields)


def query(
    query_id: str,
    text: str,
    best: float | None,
    *,
    passed: bool | None = True,
    hits: Iterable[TopResult] = (),
    **more: Any,
) -> QueryReport:
    """A query; ``best`` null: nothing came back."""
    given = {"id": query_id, "query_text": text, **more.pop("given", {})}
    found = list(hits) or ([] if best is None else [hit(rank, best - 0.03 * (rank - 1)) for rank in (1, 2, 3)])
    fields = {
        "status": "success" if found else "no_matches",
        "pass_reason": f"best score {best}" if passed else None,
        "fail_reason": None if passed else f"best score {best} is below 0.45",
        "failed_conditions": [] if passed else ["score"],
        "module_match": True if "expected_module" in given else None,
        "chapter_match": None,
        "embedding_ms": 0.21,
        "search_time_ms": 1.74,
        **more,
    }
    return QueryReport(
        query_id=query_id, query=given, passed=passed, best_similarity=best, returned_k=len(found), top_results=found,
        **fields,
    )  # fmt: skip


def report(verdict: RunVerdict = "pass", **more: Any) -> ValidationReport:
    """A report of a healthy little index; ``more`` replaces fields."""
    queries = more.pop("query_results", None)
    if queries is None:
        queries = [
            query("q1", "What is ROS 2?", 0.62, given={"expected_module": "Module 1 Ros2", "min_similarity": 0.45}),
            query("q2", "How do I tame a dragon?", 0.11, given={"negative": True}),
        ]
    findings: list[Finding] = more.pop("findings", [])
    passed = sum(entry.passed is True for entry in queries)
    errors = sum(entry.status == "error" for entry in queries)
    fields: dict[str, Any] = {
        "suite": "demo_book",
        "run_id": RUN_ID,
        "profile": None,
        "collection_name": "ragval_demo",
        "timestamp": "2026-11-20T11:15:41Z",
        "duration_seconds": 4.216,
        "criteria": CRITERIA,
        "findings": [finding.reported() for finding in findings],
        "pass_rate": 100.0 * passed / len(queries) if queries else None,
        "avg_top1_score": 0.62,
        "queries_above_threshold": 1,
        "avg_precision_at_3": None,
        "avg_precision_at_5": None,
        "precision_metrics": [],
        "retrieval_metrics": RetrievalMetrics(),
        "coverage_report": coverage(),
        "quality_metrics": QUALITY,
        "index": {"points_count": 41, "status": "green", "vectors": {"size": 256, "distance": "Cosine"}},
        "latency": {
            "embedding_ms": {"p50": 0.2, "p95": 0.4, "max": 0.5, "n": 20},
            "search_ms": {"p50": 1.7, "p95": 3.0, "max": 4.1, "n": 20},
            "total_ms": {"p50": 1.9, "p95": 3.4, "max": 4.6, "n": 20},
        },
        "cost": Cost(embedding_calls=3, embedding_inputs=61),
        "environment": {"ragval": "0.1.0", "python": "3.11.9"},
        **more,
    }
    return ValidationReport(
        verdict=verdict, pass_status=verdict == "pass", total_queries=len(queries), passed_queries=passed,
        failed_queries=len(queries) - passed - errors, error_queries=errors, query_results=queries, **fields,
    )  # fmt: skip


def coverage(missing: Iterable[str] = (), extra: Iterable[str] = ()) -> CoverageReport:
    """The coverage report of the site without the pages that are missing."""
    gone = list(missing)
    by_module = {}
    for module, names in MODULES.items():
        lost = sum(1 for url in gone if f"/{module}" in url)
        total = len(names)
        by_module[module] = ModuleCoverage(
            total=total, indexed=total - lost, missing=lost, coverage_percentage=100.0 * (total - lost) / total
        )
    indexed = [url for url in PAGES if url not in gone]
    return CoverageReport(
        total_sitemap_urls=len(PAGES), indexed_urls=indexed, missing_urls=gone, extra_urls=list(extra),
        coverage_percentage=100.0 * len(indexed) / len(PAGES), timestamp="2026-11-20T11:15:40Z", by_module=by_module,
    )  # fmt: skip


def inventory() -> SiteInventory:
    """The site, with one page that is out of scope."""
    pages = [SitePage(url=url, key=url, lastmod="2026-10-01", sitemap="sitemap.xml") for url in PAGES]
    tag = SitePage(url=f"{SITE}/tags/ros", key=f"{SITE}/tags/ros", out_of_scope="excluded by /docs/tags/**")
    return SiteInventory(location="sitemap.xml", site_host="docs.example.com", pages=(*pages, tag))


def bundle(run: ValidationReport | None = None, findings: Iterable[Finding] = (), **more: Any) -> ReportBundle:
    """A bundle; without a report, that of the healthy index."""
    found = list(findings)
    given = {"inventory": inventory(), **more}
    shown = run or report(findings=found)
    plan = plan_remedies(found, Listing(), PointLookup(), lambda _: set())
    given = {"plan": replace(plan, acted_on=acted_on(causes(shown.findings))), **given}
    return ReportBundle(report=shown, findings=found, **given)


def faulty() -> ReportBundle:
    """An index without one page, which fails a query, and with an orphan."""
    lost = PAGES[3]
    findings = [
        make_finding("coverage.missing_page", [Subject(name=lost, page=lost)]),
        make_finding("query.failed", ["q3"], cause="The expected module is missing.").model_copy(
            update={"because": "coverage.missing_page"}
        ),
        make_finding("coverage.orphan_page", [Subject(name=f"{SITE}/old", page=f"{SITE}/old")]),
    ]
    queries = [
        query("q1", "What is ROS 2?", 0.62, given={"expected_module": "Module 1 Ros2", "min_similarity": 0.45}),
        query("q3", "Describe a body in URDF", 0.38, passed=False, given={"min_similarity": 0.45, "critical": True}),
    ]
    run = report(
        "fail",
        findings=findings,
        query_results=queries,
        coverage_report=coverage([lost], [f"{SITE}/old"]),
        criteria=[
            criterion("query_pass_rate", 0.5, 0.9, required=True, numerator=1, denominator=2, reason="1 of 2 queries"),
            criterion("coverage", 12 / 13, 1.0, required=True, numerator=12, denominator=13, reason="12 of 13 pages"),
            criterion("metadata_completeness", 1.0, 1.0, required=True, numerator=41, denominator=41),
            *CRITERIA[3:],
        ],
    )
    return bundle(run, findings, rankings={"q1": PAGES[:3], "q3": PAGES[4:6]}, judgements={"q1": {PAGES[1]: 2}})


def with_history() -> ReportBundle:
    """The faulty index after five healthy runs."""
    now = faulty()
    # Held to the same as now: what a query is held to decides whether it can be lost.
    given = [entry.query for entry in now.report.query_results]
    before = report(query_results=[query(entry["id"], entry["query_text"], 0.62, given=entry) for entry in given])
    names = [f"2026111{day}T111541Z-1f0c9a5{day}" for day in range(1, 7)]
    points = [*(point_of(name, before) for name in names[:-1]), point_of(names[-1], now.report)]
    history = RunHistory(
        tuple(points), names[0], changes_between(names[-2], before, now.report, ({}, subjects_of(now.findings)))
    )
    return ReportBundle(**{**vars(now), "history": history})


def unreachable() -> ReportBundle:
    """A run whose Qdrant did not answer: everything that a report may hold as null is null."""
    finding = make_finding("index.unreachable", ["http://127.0.0.1:6333"], message="Qdrant: connection refused.")
    failed = [
        query("q1", "What is ROS 2?", None, passed=None, status="error", fail_reason="Qdrant: connection refused",
              embedding_ms=None, search_time_ms=None, module_match=None),
    ]  # fmt: skip
    unmeasured = [
        criterion(result.name, None, result.threshold, required=result.required, reason="not measured: Qdrant: refused",
                  reason_code="unreachable")
        for result in CRITERIA
    ]  # fmt: skip
    run = report(
        "error", findings=[finding], query_results=failed, criteria=unmeasured, pass_rate=None, avg_top1_score=None,
        queries_above_threshold=None, coverage_report=CoverageReport(), quality_metrics=QualityMetrics(), index={},
        latency={}, environment={}, cost=Cost(),
    )  # fmt: skip
    return ReportBundle(report=run, findings=[finding])


def hostile(texts: Sequence[str] = HOSTILE) -> ReportBundle:
    """An index, site and test set whose every text is out to get the reader; at least ten texts."""
    nasty = list(texts)
    findings = [
        make_finding("payload.empty_field", nasty, scope=nasty[0], details={nasty[0]: nasty}, message=nasty[1]),
        make_finding("query.failed", nasty, cause=nasty[2], remedy=nasty[9]).model_copy(
            update={"because": "payload.empty_field"}
        ),
    ]
    queries = [
        query(
            text, text, -0.02, passed=False, fail_reason=text, failed_conditions=[text],
            given={"expected_keywords": nasty, "category": text},
            hits=[hit(1, -0.02, chunk_text=text, source_url=text, title=text, module_name=text, chapter_id=text,
                      heading_hierarchy=nasty, chunk_id=text)],
        )
        for text in nasty
    ]  # fmt: skip
    run = report(
        "fail", findings=findings, query_results=queries, collection_name=nasty[0],
        coverage_report=coverage([], nasty).model_copy(update={"missing_urls": nasty}),
        index={nasty[0]: nasty[1], "not a number": float("nan"), "set": {1, 2}},
        environment={"deep": {nasty[1]: nasty}},
        criteria=[criterion("coverage", 0.5, 1.0, required=True, reason=nasty[1]), *CRITERIA[3:]],
    )  # fmt: skip
    return bundle(run, findings, rankings=dict.fromkeys(nasty, nasty), judgements={text: {text: 2} for text in nasty})


def large(queries: int = 1000, subjects: int = 10_000, findings: int = 0) -> ReportBundle:
    """Many queries with ten hits each, a finding with many subjects, and ``findings`` more."""
    text = "A humanoid keeps its balance by moving its centre of pressure below its centre of mass. " * 5
    asked = [
        query(f"q{n}", f"Question {n}?", 0.2 + 0.6 * ((n * 37) % 100) / 100, passed=n % 7 != 0,
              hits=[hit(rank, 0.8 - rank / 100, chunk_text=text) for rank in range(1, 11)])
        for n in range(queries)
    ]  # fmt: skip
    found = [
        make_finding("payload.empty_field", [f"{n:06d}" for n in range(subjects)], scope="module_name"),
        *(make_finding("payload.wrong_type", [f"{n:06d}"], scope=f"field_{n}") for n in range(findings)),
    ]
    return bundle(report("fail", findings=found, query_results=asked), found)


def snapshot(folder: Path, payloads: Mapping[str, Mapping[str, Any]], *, run_id: str = RUN_ID) -> SnapshotManifest:
    """A staged snapshot of points (id to payload) in one part, as the reader of collections writes it."""
    fields = {
        "text": "chunk_text",
        "source_url": "source_url",
        "token_count": "token_count",
        "embedded_at": "timestamp",
    }
    tracked = tracked_fields(fields, ["source_url"])
    mapper = RecordMapper(fields=fields, tracked=tracked, page_key=str, pages={url: url for url in PAGES})
    batch = mapper.batch([Point(id=name, payload=dict(payload)) for name, payload in payloads.items()])
    folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_batches([batch]), folder / "part-00000.parquet")
    return SnapshotManifest(
        run_id=run_id, staged_uri=str(folder), kept_uri=str(folder.parent / "kept"),
        parts=(Part(name="part-00000.parquet", rows=len(payloads)),), points=len(payloads), count_before=len(payloads),
        count_after=len(payloads), facts=CollectionFacts(name="ragval_demo", points_count=len(payloads)), fields=fields,
        required=("source_url",),
    )  # fmt: skip


CRITERIA = [
    criterion("query_pass_rate", 1.0, 0.9, required=True, numerator=2, denominator=2, reason="2 of 2 queries"),
    criterion("coverage", 1.0, 1.0, required=True, numerator=13, denominator=13, reason="13 of 13 pages"),
    criterion("metadata_completeness", 1.0, 1.0, required=True, numerator=41, denominator=41, reason="41 of 41 points"),
    criterion("negative_pass_rate", 1.0, 1.0, numerator=1, denominator=1, reason="1 of 1 negative queries"),
    criterion("avg_similarity", 0.62, 0.7, reason="mean over 1 positive queries"),
    criterion("mrr", 0.875, reason="mean over 1 queries; no gate"),
    criterion("latency_p95_ms", 3.4, 2000, reason="20 timings"),
    criterion("ann_recall", None, 0.95, reason="not measured: search is exact anyway", reason_code="not_applicable"),
    criterion(
        "no_regression", None, 1.0, reason="not measured: there is no baseline yet", reason_code="not_applicable"
    ),
]
QUALITY = QualityMetrics(
    total_chunks=41,
    chunks_with_complete_metadata=41,
    metadata_completeness_rate=100.0,
    token_distribution=Distribution(min=64, max=212, avg=151.3, median=160),
    similarity_distribution=Distribution(min=0.11, max=0.62, avg=0.365, median=0.365),
    avg_similarity_score=0.365,
    timestamp="2026-11-20T11:15:41Z",
)


def report_html(bundle: ReportBundle, corpus: Corpus | None = None) -> bytes:
    return b"".join(report_pieces(bundle_document(bundle, corpus or Corpus()), bundle, corpus or Corpus()))
