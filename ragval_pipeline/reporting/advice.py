"""What can be copied to carry out the plan of a run: for each finding the command, the settings, or the list."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.rules.details import read
from ragval_pipeline.rules.payload.field_map import Whole
from ragval_pipeline.rules.rule import Copied
from ragval_pipeline.sources.http.addresses import split_url
from ragval_pipeline.validation.repair.repair_plan import Listed

#: Addresses to copy; remediation.json has all.
_MOST_LINES = 100


def lines_to_copy(finding: ReportedFinding, bundle: ReportBundle) -> str:
    """The command, settings or list for a remedy; empty if it needs a decision.

    Points and addresses are those that the plan lists for the code. Ragval runs none of this: it never writes
    points.
    """
    known = CATALOGUE.get(finding.code)
    if known is None:
        return ""
    if known.to_copy is not None:
        return _LINES[known.to_copy](finding, bundle)
    return _delete_points(finding, bundle)


def _named_in(listed: Listed, finding: ReportedFinding) -> list[str]:
    """What a list of the plan names for a finding's code."""
    return [name for name, codes in listed.items() if finding.code in codes]


def _addresses(finding: ReportedFinding, bundle: ReportBundle) -> list[str]:
    """Pages to ingest again, one per line."""
    urls = _named_in(bundle.plan.reingest, finding)
    more = [f"# and {len(urls) - _MOST_LINES:,} more in remediation.json"] if len(urls) > _MOST_LINES else []
    return [*urls[:_MOST_LINES], *more]


def _delete_points(finding: ReportedFinding, bundle: ReportBundle) -> str:
    """Delete in Qdrant what the plan lists for a code: at once, or after the pages to ingest before.

    Points for a person to decide on are in no code to copy.
    """
    now, later = (_named_in(listed, finding) for listed in (bundle.plan.delete, bundle.plan.replaced))
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
