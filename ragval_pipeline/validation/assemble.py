"""Assembling the report from the assets' measurements."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ragval_pipeline.findings.causes import Site
from ragval_pipeline.findings.factory import Totals, grade_findings, merge_findings, order_findings, with_shares
from ragval_pipeline.findings.graph import explain
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.findings.readers import NOBODY, Readers, with_readers
from ragval_pipeline.sources.site.inventory import SiteInventory, modules_of
from ragval_pipeline.sources.site.urls import UrlFolder
from ragval_pipeline.suite.criteria import GROUPS, Criterion, Gate
from ragval_pipeline.text.times import utc_text
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.chunks.editions import with_harmful_editions
from ragval_pipeline.validation.coverage.hosts import with_moved
from ragval_pipeline.validation.languages import Languages, with_languages
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.packed import Packed
from ragval_pipeline.validation.query_report import PrecisionMetric, QueryReport, query_results_of
from ragval_pipeline.validation.repair.cleared import Simulated, with_would_clear
from ragval_pipeline.validation.report import Cost, CoverageReport, QualityMetrics, RetrievalMetrics, ValidationReport
from ragval_pipeline.validation.retrieval.texts import normalise_name
from ragval_pipeline.validation.self_retrieval.hubs import with_judged_hubs
from ragval_pipeline.validation.verdict import judge_criteria, judge_partitions, judge_run

#: Keys of a query that name pages.
_PAGES = ("relevant_urls", "acceptable_urls", "judgements")


@dataclass(frozen=True)
class RunFacts:
    """Facts about the run itself.

    Attributes:
        suite: Name of the suite.
        profile: Name of its profile, or None.
        run_id: Dagster's run id.
        collection_name: The collection, or the given alias if the collection is unknown.
        started: When the run began, aware.
        ended: When the report was assembled, aware.
        only: Groups selected, or None.
        environment: Versions and settings worth keeping.
        partition: The suite's partition that was validated; None: it has none.
    """

    suite: str
    profile: str | None
    run_id: str
    collection_name: str
    started: datetime
    ended: datetime
    only: Collection[str] | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    partition: str | None = None


@dataclass(frozen=True)
class Assembled:
    """The report, and every finding with all its subjects in report order."""

    report: ValidationReport
    findings: list[Finding]

    def with_findings(self, findings: list[Finding]) -> Assembled:
        """The same with findings that say more."""
        reported = [finding.reported() for finding in findings]
        return Assembled(self.report.model_copy(update={"findings": reported}), findings)


def assemble_report(
    facts: RunFacts,
    measurements: Sequence[Measurement],
    *,
    criteria: Sequence[Criterion],
    gates: Mapping[str, Gate],
    severities: Mapping[str, str],
    inventory: SiteInventory | None = None,
    extra_findings: Sequence[Finding] = (),
    simulated: Simulated | None = None,
    doubt: str = "",
    partitions: Partitions | None = None,
    languages: Languages | None = None,
) -> Assembled:
    """Judge everything once and fill the report.

    Args:
        facts: About the run.
        measurements: Of all assets, failed and unselected ones included.
        criteria: All criteria, in report order.
        gates: The gate of each, by name.
        severities: The suite's own severities by code.
        inventory: The site, if it was read.
        extra_findings: Findings outside the assets, such as a collection that changed while it was read.
        simulated: What the repairs of the causes would clear; None: not simulated.
        doubt: Why no gate may count as met; empty: no doubt.
        partitions: Those of the collection; None if the suite names no field that holds them.
        languages: Of the pages; None: not looked at.
    """
    sections = {name: section for entry in measurements for name, section in entry.sections.items()}
    moved = sections.get("moved_pages", {})
    graded = graded_findings(measurements, severities, extra_findings)
    shared = with_shares(graded, _totals(sections, inventory))
    readers = Readers.read(sections["readers"]) if sections.get("readers") else NOBODY
    shared = with_readers(shared, readers) if readers.asked else shared
    shared = with_languages(shared, languages or Languages())
    site = Site(_pages_of_modules(inventory), moved)
    if simulated is None:
        findings = explain(shared, site)
    else:
        simulated = simulated.below_roots(explain(shared, site))
        cleared = with_harmful_editions(with_would_clear(shared, simulated))
        findings = explain(cleared, site, simulated.computed(shared))
    results = query_results_of(sections)
    findings = _pages_as_written(
        order_findings(findings, readers.concern), results, inventory.folder() if inventory else UrlFolder()
    )
    criteria_results = judge_criteria(
        criteria, gates, measurements, findings, only=facts.only, doubt=doubt, partitions=partitions
    )
    verdict = judge_run(criteria_results, measurements)
    report = ValidationReport(
        suite=facts.suite,
        partition=facts.partition,
        run_id=facts.run_id,
        profile=facts.profile,
        collection_name=facts.collection_name,
        verdict=verdict,
        pass_status=verdict == "pass",
        timestamp=utc_text(facts.ended),
        duration_seconds=(facts.ended - facts.started).total_seconds(),
        groups=None if facts.only is None else [group for group in GROUPS if group in facts.only],
        criteria=criteria_results,
        by_partition=judge_partitions(
            criteria, gates, measurements, findings, partitions, whole=criteria_results, only=facts.only
        )
        if partitions
        else {},
        findings=[finding.reported() for finding in findings],
        **_query_fields(sections),
        coverage_report=CoverageReport.model_validate(sections.get("coverage_report", {})),
        quality_metrics=_quality(sections),
        traffic=sections.get("traffic"),
        index=_index(sections),
        latency=sections.get("latency", {}),
        cost=total_cost(measurements),
        environment=dict(facts.environment),
    )
    return Assembled(report, findings)


def _totals(sections: Mapping[str, Any], inventory: SiteInventory | None) -> Totals:
    return Totals(
        pages=len(inventory.scope_urls) if inventory else 0,
        points=sections.get("index", {}).get("points_read") or 0,
        queries=len(sections.get("query_results", ())),
    )


def _pages_of_modules(inventory: SiteInventory | None) -> dict[str, list[str]]:
    pages: dict[str, list[str]] = {}
    for key, module in modules_of(inventory.pages).items() if inventory else ():
        pages.setdefault(normalise_name(module), []).append(key)
    return pages


def _pages_as_written(findings: Sequence[Finding], results: Iterable[QueryReport], folder: UrlFolder) -> list[Finding]:
    """The findings with expected pages as written in the queries: causes are found by internal keys."""
    stated = dict.fromkeys(str(url) for result in results for url in _pages_stated(result.query))
    spelled = {folder.key(url): url for url in stated}

    def written(subject: Subject) -> Subject:
        pages = subject.expected_pages
        if not pages:
            return subject
        shown = [spelled.get(page, page) for page in pages]
        return replace(subject, details={**subject.details, "expected_pages": shown})

    return [
        finding.model_copy(update={"subjects": tuple(map(written, finding.subjects))})
        if finding.subject_kind == "query"
        else finding
        for finding in findings
    ]


def _pages_stated(query: Mapping[str, Any]) -> Iterator[Any]:
    """The pages of a query, as written there."""
    for name in _PAGES:
        yield from query.get(name) or ()
    yield from (entry["source_url"] for entry in query.get("expected_results") or () if "source_url" in entry)


def graded_findings(
    measurements: Sequence[Measurement], severities: Mapping[str, str], extra: Sequence[Finding] = ()
) -> list[Finding]:
    """All findings of a run, merged by code and scope, with the suite's severities and pages at other addresses."""
    found = [finding for measurement in measurements for finding in measurement.findings]
    moved = [measurement.sections.get("moved_pages", {}) for measurement in measurements]
    merged = with_judged_hubs(merge_findings([*found, *extra]), measurements)
    return with_moved(grade_findings(merged, severities), ChainMap(*moved))


def _query_fields(sections: Mapping[str, Any]) -> dict[str, Any]:
    results = query_results_of(sections)
    verdicts, best = Counter[bool | None](), []
    for entry in results:
        if entry.counted:
            verdicts[entry.passed] += 1
            if entry.best_similarity is not None and not entry.query.get("negative"):
                best.append(entry.best_similarity)
    precisions = sections.get("precision_metrics", Packed(PrecisionMetric))
    at = {3: list[float](), 5: list[float]()}  # definition
    for metric in precisions:
        at.get(metric.k, []).append(metric.precision)
    return {
        **_query_counts(verdicts if "query_results" in sections else None),
        "avg_top1_score": _mean(best),
        "queries_above_threshold": sections.get("queries_above_threshold"),
        **{f"avg_precision_at_{k}": _mean(values) for k, values in at.items()},
        "query_results": results,
        "precision_metrics": precisions,
        "retrieval_metrics": RetrievalMetrics.model_validate(sections.get("retrieval_metrics", {})),
    }


def _query_counts(verdicts: Counter[bool | None] | None) -> dict[str, float | None]:
    """How many queries passed, failed and were not judged; all None if the run had none."""
    if verdicts is None:
        return dict.fromkeys(("total_queries", "passed_queries", "failed_queries", "error_queries", "pass_rate"))
    passed, failed, total = verdicts[True], verdicts[False], verdicts.total()
    judged = passed + failed
    return {
        "total_queries": total,
        "passed_queries": passed,
        "failed_queries": failed,
        "error_queries": total - judged,
        "pass_rate": 100 * passed / total if judged else None,  # definition
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def total_cost(measurements: Sequence[Measurement]) -> Cost:
    """The cost of all steps of a run; billed tokens are None if none were reported."""
    parts = [Cost.model_validate(entry.sections["cost"]) for entry in measurements if entry.sections.get("cost")]
    reranked = [part.rerank_searches for part in parts if part.rerank_searches is not None]
    billed = [part.billed_tokens for part in parts if part.billed_tokens is not None]
    return Cost(
        embedding_calls=sum(part.embedding_calls for part in parts),
        embedding_inputs=sum(part.embedding_inputs for part in parts),
        billed_tokens=sum(billed) if billed else None,
        rerank_calls=sum(part.rerank_calls for part in parts),
        rerank_searches=sum(reranked) if reranked else None,
        cache_hits=sum(part.cache_hits for part in parts),
        seconds=sum(part.seconds for part in parts),
        usd=None if any(part.usd is None for part in parts) else sum(part.usd or 0.0 for part in parts),
        prices_of=next((part.prices_of for part in parts if part.prices_of), None),
        stopped=next(
            (entry.failure.message for entry in measurements if entry.failure and entry.failure.kind == "budget"), None
        ),
    )


def _index(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Facts about the collection, its vectors, and its searches."""
    # ``sparse`` replaces the names in the facts with what was read of each.
    measured = {"vector_health": sections.get("vectors"), "ann": sections.get("ann"), "sparse": sections.get("sparse")}
    return {**sections.get("index", {}), **{name: part for name, part in measured.items() if part}}


def _quality(sections: Mapping[str, Any]) -> QualityMetrics:
    metrics = QualityMetrics.model_validate(sections.get("quality_metrics", {}))
    metadata = sections.get("metadata")
    if not metadata:
        return metrics
    points, complete = metadata["points"], metadata["complete"]
    return metrics.model_copy(
        update={
            "chunks_with_complete_metadata": complete,
            "metadata_completeness_rate": 100 * complete / points if points else None,  # definition
        }
    )
