"""``remediation.json``: the plan of repairs, as lists for scripts, and how a kept one is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragval_pipeline.findings.model import REPORTED_SUBJECTS, Finding, ReportedFinding
from ragval_pipeline.validation.repair.repair_plan import FINDING_LISTS, RepairPlan, acted_on, key_of
from ragval_pipeline.validation.repair.tree import causes


def remediation(plan: RepairPlan, findings: Sequence[Finding]) -> dict[str, Any]:
    """What to do about the findings of a run.

    Args:
        plan: The plan for them.
        findings: All findings of the run, in report order.

    Returns:
        ``reingest_urls`` and ``delete_pages`` (``{url, codes}``, those to delete later with ``ingest_first``);
        ``delete_point_ids`` (nothing is lost with them),
        ``review_point_ids`` (for manual decision) and ``reingest_point_ids`` (their page is unknown; ``{id, codes}``);
        ``delete_after_ingesting``, points to delete once the pages that they name are ingested (``{id, ingest_first,
        codes}``). By responsibility ``ingestion``, ``chunker``, ``settings``, ``queries``, ``site``, ``report`` and
        ``rules``, of the suite's own rules (``{code, scope, severity, message, remedy, count, subjects, because}``).
        ``also_clears`` names what goes away with a cause (``{code, scope, codes}``), ``would_clear`` what its repair
        would clear (``{code, scope, clears, cleared, of, simulated}``), and ``would_fail`` the passed queries that it
        would make fail (``{code, scope, failing, of, simulated}``). ``actions`` is what to do about each finding
        (``{code, scope, action}``).
    """
    by_key = {key_of(finding): finding for finding in findings}
    return {
        "actions": [
            {"code": finding.code, "scope": finding.scope, "action": plan.action_on(finding)} for finding in findings
        ],
        "reingest_urls": _listed("url", plan.reingest),
        "reingest_point_ids": _listed("id", plan.reingest_points),
        "delete_point_ids": _listed("id", plan.delete),
        "delete_pages": [
            {**entry, **({"ingest_first": list(first)} if (first := plan.ingest_first.get(entry["url"])) else {})}
            for entry in _listed("url", plan.delete_pages)
        ],
        "delete_after_ingesting": [
            {"id": name, "ingest_first": list(plan.ingest_first[name]), "codes": list(codes)}
            for name, codes in plan.replaced.items()
        ],
        "review_point_ids": _listed("id", plan.review),
        **{name: [_entry(by_key[key]) for key in keys] for name, keys in plan.lists.items()},
        "also_clears": [
            {"code": code, "scope": scope, "codes": list(codes)}
            for (code, scope), codes in plan.acted_on.items()
            if codes
        ],
        "would_clear": [entry for finding in findings for entry in _would_clear(finding)],
        "would_fail": [
            {
                "code": finding.code,
                "scope": finding.scope,
                "failing": list(broken.names),
                "of": broken.of,
                "simulated": True,
            }
            for finding in findings
            if (broken := finding.would_break) is not None
        ],
    }


def _listed(key: str, listed: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    return [{key: name, "codes": list(codes)} for name, codes in listed.items()]


def _entry(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "scope": finding.scope,
        "severity": finding.severity,
        "message": finding.message,
        "remedy": finding.remedy,
        "count": finding.count,
        "subjects": [subject.name for subject in finding.subjects[:REPORTED_SUBJECTS]],
        "because": finding.because,
    }


def _would_clear(finding: Finding) -> list[dict[str, Any]]:
    about = {"code": finding.code, "scope": finding.scope}
    return [
        {**about, "clears": code, "cleared": list(cleared.names), "of": cleared.of, "simulated": True}
        for code, cleared in finding.would_clear.items()
    ]


def kept_plan(kept: Mapping[str, Any], findings: Sequence[ReportedFinding]) -> RepairPlan:
    """The plan of a stored run.

    Args:
        kept: Its ``remediation.json``; empty if it has none.
        findings: The findings of its report.
    """
    later = kept.get("delete_after_ingesting", ())
    pages = kept.get("delete_pages", ())
    return RepairPlan(
        reingest=_codes(kept.get("reingest_urls", ())),
        reingest_points=_codes(kept.get("reingest_point_ids", ())),
        delete=_codes(kept.get("delete_point_ids", ())),
        delete_pages=_codes(pages),
        replaced=_codes(later),
        ingest_first={_name(entry): entry["ingest_first"] for entry in (*pages, *later) if "ingest_first" in entry},
        review=_codes(kept.get("review_point_ids", ())),
        lists={
            name: [(entry["code"], entry["scope"]) for entry in kept.get(name, ())]
            for name in ("ingestion", *FINDING_LISTS)
        },
        acted_on=acted_on(causes(findings)),
    )


def _codes(entries: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[str]]:
    return {_name(entry): entry["codes"] for entry in entries}


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry["url"] if "url" in entry else entry["id"])
