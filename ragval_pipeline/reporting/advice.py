"""What to do first: the findings that affect most gates, each with the command or the lines to copy."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.document import FindingEntry, RunDocument
from ragval_pipeline.rules.details import read
from ragval_pipeline.rules.payload.field_map import Whole
from ragval_pipeline.rules.rule import Action, Copied
from ragval_pipeline.sources.http.addresses import split_url
from ragval_pipeline.validation.repair.tree import FindingNode, going_away, gravest, is_simulated
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import ERRORS, counted_errors


def first_steps(document: RunDocument, bundle: ReportBundle) -> list[tuple[FindingEntry, list[str]]]:
    """The three findings of the plan to fix first: their repair meets most gates, then clears most and affects most.

    With a log of real questions, those that most readers meet come first, errors before warnings.

    Info findings are never included. With each, the required criteria that fail because of it, or what its repair
    clears.
    """
    report = document.report
    # What must not be shown is masked in the report, and not yet in the plan.
    roots = (node.finding for node in bundle.plan.nodes)
    acted_on = {(root.code, root.scope and bundle.masked(root.scope)) for root in roots}
    gates = _Gates(report)
    entries = [
        entry
        for entry in document.entries
        if (entry.finding.code, entry.finding.scope) in acted_on and entry.finding.severity != "info"
    ]

    def weight(entry: FindingEntry) -> tuple[float, ...]:
        cleared = sum(len(each.names) for each in entry.finding.would_clear.values())
        gained, gravity = -sum(gates.gained(entry.node).values()), gravest(entry.node)
        return (gained, -cleared, *gravity) if report.traffic is None else (*gravity, gained, -cleared)

    return [(entry, gates.kept(entry.node)) for entry in sorted(entries, key=weight)[:3]]


class _Gates:
    """The failed required criteria, and the findings that make each fail."""

    def __init__(self, report: ValidationReport) -> None:
        missed = [result.name for result in report.criteria if result.required and result.verdict == "not_met"]
        self.weights: dict[str, dict[int, int]] = {name: {} for name in missed}
        self._of_code: dict[str, list[ReportedFinding]] = {}
        counted = {id(finding) for finding in counted_errors(report.findings, report.criteria)}
        for finding in report.findings:
            self._of_code.setdefault(finding.code, []).append(finding)
            judging = _judging(finding, missed).intersection(missed)
            if id(finding) in counted and not judging:
                judging = {ERRORS}.intersection(missed)
            for name in judging:
                self.weights[name][id(finding)] = 1 if name == ERRORS else max(finding.count, 1)

    def kept(self, node: FindingNode) -> list[str]:
        """The criteria that fail because of a finding, or what its repair clears."""
        gained = self.gained(node)
        return [name for name, weights in self.weights.items() if id(node.finding) in weights or name in gained]

    def gained(self, node: FindingNode) -> dict[str, float]:
        """The criteria that a repair helps, each with the share of its causes that would be cleared.

        It clears itself, its certain consequences, and what was simulated. Findings about query results are symptoms,
        which only the repair of their causes clears.
        """
        shares = {id(each): 1.0 for each in (node.finding, *going_away(node))}
        if is_simulated(node.finding.code):
            del shares[id(node.finding)]
        for code, cleared in node.finding.would_clear.items():
            shares.update({id(each): len(cleared.names) / cleared.of for each in self._of_code.get(code, ())})
        gains = {}
        for name, weights in self.weights.items():
            gained = sum(weights.get(each, 0) * share for each, share in shares.items())
            if gained > 0:
                gains[name] = gained / sum(weights.values())
        return gains


_OF_PAGES = ("hit_at_", "precision_at_", "recall_at_", "ndcg_at_", "mrr", "map")


def _judging(finding: ReportedFinding, missed: Sequence[str]) -> set[str]:
    known = CATALOGUE.get(finding.code)
    names = set(known.criteria if known else ())
    if known and known.fails_rankings:
        names.update(name for name in missed if name.startswith(_OF_PAGES))
    return names


#: Addresses to copy; remediation.json has all.
_MOST_LINES = 100


def lines_to_copy(finding: ReportedFinding, bundle: ReportBundle) -> str:
    """The command, settings or list for a remedy; empty if it needs a decision.

    Points and addresses are those that remediation.json lists for the code. Ragval runs none of this: it never writes
    points.
    """
    known = CATALOGUE.get(finding.code)
    if known is None:
        return ""
    if known.to_copy is not None:
        return _LINES[known.to_copy](finding, bundle)
    return _delete_points(finding, bundle) if known.action in ("delete", "reingest") else ""


def action_on(finding: ReportedFinding, bundle: ReportBundle) -> Action | Literal["decide"]:
    """The plan's action for a finding; of a run that was stored without it, the catalogue's."""
    for entry in bundle.remedies.get("actions", ()):
        if (entry["code"], entry["scope"]) == (finding.code, finding.scope):
            action: Action | Literal["decide"] = entry["action"]
            return action
    known = CATALOGUE.get(finding.code)
    return known.action if known else "report"


def _listed(name: str, finding: ReportedFinding, bundle: ReportBundle) -> list[str]:
    """The entries of a list of remediation.json for a finding's code."""
    return [entry.get("url") or entry["id"] for entry in _entries(name, finding, bundle)]


def _entries(name: str, finding: ReportedFinding, bundle: ReportBundle) -> list[Mapping[str, Any]]:
    return [entry for entry in bundle.remedies.get(name, ()) if finding.code in entry["codes"]]


def _addresses(finding: ReportedFinding, bundle: ReportBundle) -> list[str]:
    """Pages to ingest again, one per line."""
    urls = _listed("reingest_urls", finding, bundle)
    more = [f"# and {len(urls) - _MOST_LINES:,} more in remediation.json"] if len(urls) > _MOST_LINES else []
    return [*urls[:_MOST_LINES], *more]


def _delete_points(finding: ReportedFinding, bundle: ReportBundle) -> str:
    """Delete in Qdrant what remediation.json lists for a code: at once, or after the pages that it names first.

    Points for a person to decide on are in no code to copy.
    """
    now, later = (_entries(name, finding, bundle) for name in ("delete_point_ids", "delete_after_ingesting"))
    pages = _addresses(finding, bundle)
    if not now and not later:
        return "\n".join(pages)
    named = [f"# {url.removeprefix('# ')}" for url in pages]
    if later:
        before = ["# First ingest these pages:", *named, "# Then delete what is left of their old points:"]
        lists = ["delete_after_ingesting", *(["delete_point_ids"] if now else [])]
        return "\n".join([*before, *_deletion(lists, finding, bundle)])
    after = ["", "# Then ingest these pages again:", *named] if pages else []
    return "\n".join([*_deletion(["delete_point_ids"], finding, bundle), *after])


def _deletion(lists: Sequence[str], finding: ReportedFinding, bundle: ReportBundle) -> list[str]:
    """Lines that delete the points of some lists of remediation.json."""
    return [
        "import json",
        "from pathlib import Path",
        _client(bundle),
        'remedies = json.loads(Path("remediation.json").read_text("utf-8"))  # next to this report',
        f"listed = {' + '.join(f'remedies[{name!r}]' for name in lists)}",
        f'ids = [point["id"] for point in listed if {finding.code!r} in point["codes"]]',
        f"client.delete({bundle.report.collection_name!r}, [int(id) if id.isdecimal() else id for id in ids])",
    ]


def _client(bundle: ReportBundle) -> str:
    path, url = bundle.setting("qdrant", "path"), bundle.setting("qdrant", "url")
    where = f"path={path!r}" if path else f"url={str(url or 'http://localhost:6333')!r}"
    return f"from qdrant_client import QdrantClient\nclient = QdrantClient({where})"


def _yaml(section: str, key: str, values: Sequence[str]) -> str:
    return f"{section}:\n  {key}:\n" + "\n".join(f"    - {json.dumps(value, ensure_ascii=False)}" for value in values)


def _hosts(finding: ReportedFinding, _: ReportBundle) -> str:
    return _yaml("source", "host_aliases", finding.subjects)


def _exclude(finding: ReportedFinding, _: ReportBundle) -> str:
    return _yaml("source", "exclude", [split_url(url).path or "/" for url in finding.subjects[:_MOST_LINES]])


def _fields(finding: ReportedFinding, _: ReportBundle) -> str:
    suggested = read(Whole, finding.details).suggested or {}
    rows = "\n".join(f"    {name}: {json.dumps(path)}" for name, path in suggested.items())
    return f"payload:\n  fields:\n{rows}" if rows else ""


def _calibrate(_: ReportedFinding, bundle: ReportBundle) -> str:
    return "ragval calibrate -s ragval.yaml"


def _payload_index(finding: ReportedFinding, bundle: ReportBundle) -> str:
    name = bundle.report.collection_name
    made = (f'client.create_payload_index({name!r}, {field!r}, "keyword")' for field in finding.subjects)
    return "\n".join([_client(bundle), *made])


_LINES: Mapping[Copied, Callable[[ReportedFinding, ReportBundle], str]] = {
    "nothing": lambda *_: "",
    "host_aliases": _hosts,
    "exclude": _exclude,
    "fields": _fields,
    "calibrate": _calibrate,
    "payload_index": _payload_index,
}
