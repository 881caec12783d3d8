"""Writes the reference pages that come from the code: `python docs/generate.py`. A test holds them to the code."""

from __future__ import annotations

from pathlib import Path

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.orchestration.assets.table import asset_of
from ragval_pipeline.suite.criteria import DEFAULT_GATES, all_criteria
from ragval_pipeline.suite.profiles.table import PROFILES

FOLDER = Path(__file__).parent
_NOTE = "<!-- Written by docs/generate.py from the code. -->\n"


def findings_page() -> str:
    """Every finding code: what it means, its usual cause and remedy."""
    lines = [
        "# Findings",
        _NOTE,
        "A finding names what is wrong: a code, a severity, the exact subjects, the cause and the remedy. One finding",
        "per code and scope. A finding that follows from another carries `because` and stands after it.",
        "A suite may change severities: `severity: {chunk.near_duplicate: off}`. Level: planted and named per subject,",
        "for the corpus as a whole, or once a run.",
        "",
        "| code | severity | level | subjects | means | usual cause | remedy |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in CATALOGUE.values():
        cells = (f"`{row.code}`", row.severity, row.level, row.subject_kind, row.means, row.cause, row.remedy)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def criteria_page() -> str:
    """Every criterion: what it measures, its gate, and which profiles require it."""
    lines = [
        "# Criteria",
        _NOTE,
        "Every criterion is met, not met or not measured. `K` stands for the ranks of `retrieval.k` and of the gates.",
        "The default gate is shown, and required only where the last column says so; `none` means no profile.",
        "",
        "| criterion | value | asset | default gate | required by |",
        "|---|---|---|---|---|",
    ]
    for criterion in all_criteria([5]):
        name = criterion.name.replace("_at_5", "_at_K")
        gate = "" if criterion.threshold is None else f"{criterion.operator} {criterion.threshold:g}"
        means = criterion.means.replace("first 5", "first K").replace("/ 5", "/ K")
        lines.append(f"| `{name}` | {means} | `{asset_of(criterion.asset)}` | {gate} | {_required_by(name)} |")
    return "\n".join(lines) + "\n"


def _required_by(name: str) -> str:
    gates = {"none": DEFAULT_GATES, **{profile.name: profile.gates for profile in PROFILES.values()}}
    found = []
    for owner, by_name in gates.items():
        for criterion, gate in by_name.items():
            if gate.required and _family(criterion) == name:
                at = "" if criterion == name else f" ({criterion})"
                found.append(f"{owner} {gate.threshold:g}{at}")
    if name == "critical_queries":
        found.append("every suite that has critical queries 1")
    return ", ".join(found)


def _family(name: str) -> str:
    head, separator, rank = name.rpartition("_at_")
    return f"{head}_at_K" if separator and rank.isdigit() else name


PAGES = {"findings.md": findings_page, "criteria.md": criteria_page}


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
