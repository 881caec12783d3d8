"""The figures of a run as Prometheus text, for a textfile collector or a push gateway."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, get_args

from ragval_pipeline.validation.verdict import RunVerdict

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily

    from ragval_pipeline.validation.report import ValidationReport


@dataclass(frozen=True)
class Metric:
    """A gauge and its samples.

    Attributes:
        name: Its name.
        help: What it measures, one sentence.
        samples: Labels besides ``suite``, and the value; None was not measured and is left out.
    """

    name: str
    help: str
    samples: Iterable[tuple[Mapping[str, str], float | None]] = field(default_factory=tuple)


def metrics_text(report: ValidationReport, *, last_pass: str | None) -> bytes:
    """The figures of a report in the text format of Prometheus; what was not measured has no line.

    Args:
        report: The report.
        last_pass: Timestamp of the last run that passed with all of its measurements; None: there is none.
    """
    from prometheus_client import CollectorRegistry, generate_latest

    class Figures:
        """What the registry collects."""

        def collect(self) -> Iterator[GaugeMetricFamily]:
            return _families(report.suite, metrics_of(report, last_pass=last_pass))

    collected = CollectorRegistry(auto_describe=False)
    collected.register(Figures())
    return bytes(generate_latest(collected))


def _families(suite: str, metrics: Iterable[Metric]) -> Iterator[GaugeMetricFamily]:
    from prometheus_client.core import GaugeMetricFamily

    for metric in metrics:
        measured = [(labels, value) for labels, value in metric.samples if value is not None]
        if not measured:
            continue
        names = list(measured[0][0])
        family = GaugeMetricFamily(metric.name, metric.help, labels=["suite", *names])
        for labels, value in measured:
            family.add_metric([suite, *(labels[name] for name in names)], value)
        yield family


def metrics_of(report: ValidationReport, *, last_pass: str | None) -> list[Metric]:
    """The metrics of a report, as for ``metrics_text``."""
    cost, pages = report.cost, report.coverage_report
    criteria = [
        ({"criterion": result.name, "required": str(result.required).lower()}, result) for result in report.criteria
    ]
    findings = _by_code(report)
    verdicts = [({"verdict": name}, float(report.verdict == name)) for name in get_args(RunVerdict)]
    states = {"indexed": pages.indexed_urls, "missing": pages.missing_urls, "extra": pages.extra_urls}
    queries = {"passed": report.passed_queries, "failed": report.failed_queries, "error": report.error_queries}
    return [
        Metric("ragval_run_timestamp_seconds", "When the run ended, as Unix time.", _one(_unix(report.timestamp))),
        Metric("ragval_run_duration_seconds", "How long the run took.", _one(report.duration_seconds)),
        Metric(
            "ragval_last_pass_timestamp_seconds",
            "When the last run ended that measured everything and passed, as Unix time.",
            _one(None if last_pass is None else _unix(last_pass)),
        ),
        Metric("ragval_verdict", "1 for the verdict of the run, 0 for the others.", verdicts),
        Metric(
            "ragval_criterion_value",
            "The value of a criterion, in its own unit: most are fractions from 0 to 1.",
            [(labels, result.value) for labels, result in criteria],
        ),
        Metric(
            "ragval_criterion_threshold",
            "What the value of a criterion is compared with.",
            [(labels, result.threshold) for labels, result in criteria],
        ),
        Metric(
            "ragval_criterion_met",
            "Whether a criterion with a threshold is met: 1 or 0.",
            [
                (
                    labels,
                    None if result.verdict == "not_measured" or result.threshold is None else result.verdict == "met",
                )
                for labels, result in criteria
            ],
        ),
        Metric(
            "ragval_partition_criterion_value",
            "The value of a criterion for one value of qdrant.partition_by, in the criterion's own unit.",
            [
                ({"criterion": name, "partition": value}, result.value)
                for value, results in report.by_partition.items()
                for name, result in results.items()
            ],
        ),
        Metric(
            "ragval_finding_subjects",
            "Pages, points, queries or fields that a finding names; at least 1.",
            [({"code": code, "severity": severity}, count) for (code, severity), count in findings.items()],
        ),
        Metric(
            "ragval_findings",
            "Codes of findings by severity.",
            [
                ({"severity": name}, sum(known == name for _, known in findings))
                for name in ("error", "warning", "info")
            ],
        ),
        Metric(
            "ragval_pages",
            "Pages of the sitemap with and without chunks, and indexed pages that it does not list.",
            [({"state": state}, None if found is None else len(found)) for state, found in states.items()],
        ),
        Metric("ragval_chunks", "Chunks of the collection.", _one(report.quality_metrics.total_chunks)),
        Metric(
            "ragval_queries", "Test queries by outcome.", [({"state": name}, count) for name, count in queries.items()]
        ),
        Metric("ragval_embedding_calls", "Calls to the embedding provider.", _one(cost.embedding_calls)),
        Metric("ragval_embedding_inputs", "Texts sent to the embedding provider.", _one(cost.embedding_inputs)),
        Metric("ragval_embedding_tokens", "Tokens that the provider billed.", _one(cost.billed_tokens)),
        Metric("ragval_embedding_cost_usd", "Cost of the embedding calls in US dollars.", _one(cost.usd)),
    ]


def _one(value: float | None) -> list[tuple[Mapping[str, str], float | None]]:
    return [({}, value)]


def _by_code(report: ValidationReport) -> dict[tuple[str, str], int]:
    """Subjects by code and severity, in the order of the report."""
    found: dict[tuple[str, str], int] = {}
    for finding in report.findings:
        key = finding.code, finding.severity
        found[key] = found.get(key, 0) + max(finding.count, 1)
    return found


def _unix(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp).timestamp()
