"""What to do first: the findings that keep most gates from being met, each with the command or the lines to copy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import SEVERITIES, ReportedFinding
from ragval_pipeline.reporting.files.bundle import ReportBundle
from ragval_pipeline.reporting.outline import FindingNode, finding_tree, worst_severity
from ragval_pipeline.sources.site.urls import is_http_url
from ragval_pipeline.validation.report import ValidationReport


def first_steps(report: ValidationReport, limit: int = 3) -> list[FindingNode]:
    """The findings to take care of first: those that keep most gates from being met, then those that most follows from.

    A cause weighs as much as the worst that follows from it: the setting that fails every query comes first, warning
    or not. What is mere information is never advised.
    """
    nodes = [node for node in finding_tree(report.findings) if worst_severity([node]) != "info"]

    def weight(node: FindingNode) -> tuple[int, int, int]:
        below = sum(finding.severity != "info" for finding in node.below())
        return -len(gates_kept(node, report)), SEVERITIES.index(worst_severity([node])), -below

    return sorted(nodes, key=weight)[:limit]


def gates_kept(node: FindingNode, report: ValidationReport) -> list[str]:
    """The required criteria that a finding, or what follows from it, keeps from being met."""
    missed = [result.name for result in report.criteria if result.required and result.verdict == "not_met"]
    found: set[str] = set()
    for finding in (node.finding, *node.below()):
        judging = {name for name in _judging(finding, missed) if name in missed}
        if finding.severity == "error" and not judging.intersection(missed) and "error_findings" in missed:
            judging = set() if is_judged(finding, report) else {"error_findings"}
        found |= judging
    return [name for name in missed if name in found]


#: Criteria that fall by what findings about answers name, beside those that the catalogue names.
_FALL_BY = {
    "query.failed": ("critical_queries", "relevance_rate", "accuracy", "avg_similarity", "keyword_recall"),
    "retrieval.dark_page": ("self_retrieval",),
    "integrity.not_captured": ("source_captured",),
    "integrity.drifted": ("content_integrity",),
    "integrity.gone": ("content_integrity",),
    "retrieval.incomplete_metadata": ("retrieved_metadata_completeness",),
    "retrieval.slow": ("latency_p95_ms",),
    "retrieval.nondeterministic": ("determinism",),
    "index.low_ann_recall": ("ann_recall",),
}
_OF_PAGES = ("hit_at_", "precision_at_", "recall_at_", "ndcg_at_", "mrr", "map")


def _judging(finding: ReportedFinding, missed: Sequence[str]) -> set[str]:
    known = CATALOGUE.get(finding.code)
    names = {*(known.judged_by if known else ()), *_FALL_BY.get(finding.code, ())}
    if finding.code in {"query.failed", "query.unreachable_gate"}:
        names.update(name for name in missed if name.startswith(_OF_PAGES))
    if finding.code.startswith("vector."):
        names.add("embedding_match")
    return names


def is_judged(finding: ReportedFinding, report: ValidationReport) -> bool:
    """Whether a required criterion judges the matter of an error, so that ``error_findings`` leaves it out."""
    known = CATALOGUE.get(finding.code)
    required = {result.name for result in report.criteria if result.required}
    return bool(known and finding.details.get("required", True) and not required.isdisjoint(known.judged_by))


#: Addresses that are written out to be copied; remediation.json has all.
_MOST_LINES = 100


def lines_to_copy(finding: ReportedFinding, bundle: ReportBundle) -> str:
    """The command, the settings or the list that carries a remedy out; empty where a person has to think.

    Nothing here is run by ragval: it never writes points.
    """
    made = _LINES.get(finding.code)
    if made is not None:
        return made(finding, bundle)
    known = CATALOGUE.get(finding.code)
    if known is None or known.action not in {"reingest", "delete"}:
        return ""
    urls = _urls(finding)
    if known.action == "delete" and finding.subject_kind == "point":
        return _delete_points(finding, bundle)
    return "\n".join(urls)


def _urls(finding: ReportedFinding) -> list[str]:
    """Pages of a finding's subjects, each once."""
    measured = finding.details.get("subjects", {})
    named = [
        name if finding.subject_kind in {"page", "url"} else (measured.get(name) or {}).get("page_url")
        for name in finding.subjects[:_MOST_LINES]
    ]
    return [url for url in dict.fromkeys(named) if isinstance(url, str) and is_http_url(url)]


def _delete_points(finding: ReportedFinding, bundle: ReportBundle) -> str:
    """Delete in Qdrant what remediation.json lists for a code."""
    return (
        f"import json\n{_client(bundle)}\n"
        'listed = json.load(open("remediation.json"))["delete_point_ids"]\n'
        f'ids = [point["id"] for point in listed if {finding.code!r} in point["codes"]]\n'
        f"client.delete({bundle.report.collection_name!r}, ids)"
    )


def _delete_pages(finding: ReportedFinding, bundle: ReportBundle) -> str:
    """Delete the points of pages, so that they can be ingested again or stay away."""
    field = bundle.setting("payload", "fields", "source_url") or "source_url"
    urls = _urls(finding)
    if not urls:
        return ""
    pages = "\n".join(f"    {url!r}," for url in urls)
    return (
        f"from qdrant_client import models\n{_client(bundle)}\npages = [\n{pages}\n]\n"
        f"of_pages = models.FieldCondition(key={field!r}, match=models.MatchAny(any=pages))\n"
        f"client.delete({bundle.report.collection_name!r}, models.Filter(must=[of_pages]))"
    )


def _client(bundle: ReportBundle) -> str:
    path, url = bundle.setting("qdrant", "path"), bundle.setting("qdrant", "url")
    where = f"path={path!r}" if path else f"url={str(url or 'http://localhost:6333')!r}"
    return f"from qdrant_client import QdrantClient\nclient = QdrantClient({where})"


def _yaml(section: str, key: str, values: Sequence[str]) -> str:
    return f"{section}:\n  {key}:\n" + "\n".join(f"    - {json.dumps(value, ensure_ascii=False)}" for value in values)


def _hosts(finding: ReportedFinding, _: ReportBundle) -> str:
    return _yaml("source", "host_aliases", finding.subjects)


def _exclude(finding: ReportedFinding, _: ReportBundle) -> str:
    from urllib.parse import urlsplit

    return _yaml("source", "exclude", [urlsplit(url).path or "/" for url in _urls(finding)])


def _fields(finding: ReportedFinding, _: ReportBundle) -> str:
    suggested: Mapping[str, Any] = finding.details.get("suggested") or {}
    rows = "\n".join(f"    {name}: {json.dumps(path)}" for name, path in suggested.items())
    return f"payload:\n  fields:\n{rows}" if rows else ""


def _calibrate(_: ReportedFinding, bundle: ReportBundle) -> str:
    return "ragval calibrate -s ragval.yaml"


def _payload_index(finding: ReportedFinding, bundle: ReportBundle) -> str:
    name = bundle.report.collection_name
    made = (f'client.create_payload_index({name!r}, {field!r}, "keyword")' for field in finding.subjects)
    return "\n".join([_client(bundle), *made])


_LINES = {
    "coverage.foreign_host": _hosts,
    "coverage.orphan_page": _delete_pages,
    "coverage.url_variant": lambda *_: "",  # which address stays, a person decides
    "chunk.ingested_twice": _delete_pages,
    "source.page_unfit": _exclude,
    "payload.field_map": _fields,
    "query.threshold_unfit": _calibrate,
    "index.payload_index_missing": _payload_index,
}
