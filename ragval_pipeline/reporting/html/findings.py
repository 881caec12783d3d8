"""The findings in report.html: cards with consequences and remedies, and chunks compared with their page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.advice import lines_to_copy
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.document import FindingEntry, RunDocument
from ragval_pipeline.reporting.outline import title_of
from ragval_pipeline.reporting.subjects import Subjects, SubjectWords
from ragval_pipeline.rules.rule import Action
from ragval_pipeline.suite.criteria import criterion_name
from ragval_pipeline.validation.repair.first_steps import first_steps
from ragval_pipeline.validation.repair.tree import also_clears

#: Causes shown in full; the others are counted by code.
MOST_CARDS = 150
#: Subjects always shown; the rest of the first hundred is collapsed.
_OPEN = 3

#: Who acts on a finding, and how.
_ACTIONS: Mapping[Action | Literal["decide"], str] = {
    "reingest": "Ingest again",
    "delete": "Delete from the index",
    "decide": "Decide what to delete",
    "chunker": "Fix the chunker or the extraction",
    "setting": "Change a setting",
    "query": "Correct the test questions",
    "site": "Correct the site",
    "report": "Report a bug in ragval",
    "rule": "",  # its own remedy says what to do
}


@dataclass(frozen=True)
class Card(FindingEntry):
    """A finding in report.html.

    Attributes:
        anchor: Its anchor on the page.
        action: Who acts on it, and how.
        step: Its remedy as a first step: whole if a person decides, else the first sentence.
        lines: What can be copied to carry out its remedy; may be empty.
        facts: What was measured beside its subjects.
        cards: The cards of what follows from it.
    """

    anchor: str
    action: str
    step: str
    lines: str
    facts: str
    cards: list[Card]

    @property
    def first(self) -> list[SubjectWords]:
        """The subjects always shown."""
        return list(self.subjects(0, _OPEN))

    @property
    def rest(self) -> Iterator[SubjectWords]:
        """The other subjects in the report."""
        return self.subjects(_OPEN)


@dataclass(frozen=True)
class Step:
    """A first step: the card of the finding, and the required criteria that fail because of it."""

    card: Card
    gates: list[str]
    follows: list[str]


@dataclass(frozen=True)
class FindingsView:
    """The cards, the first steps, and further causes, counted."""

    cards: list[Card]
    steps: list[Step]
    rest: dict[str, int]


def findings_view(document: RunDocument, bundle: ReportBundle) -> FindingsView:
    """The findings of report.html."""
    anchors = _anchors(document.report.findings)

    def card(entry: FindingEntry) -> Card:
        finding = entry.finding
        elsewhere = {"subjects", "causes", "together_with", "would_clear", "would_fail", "worst"}
        facts = {name: value for name, value in finding.details.items() if name not in elsewhere}
        return Card(
            entry.node,
            entry.below,
            entry.namer,
            anchor=anchors[id(finding)],
            action=_ACTIONS[bundle.plan.action_on(finding)],
            step=finding.remedy if bundle.plan.needs_decision(finding) else _first_clause(finding.remedy),
            lines="" if entry.goes_away else lines_to_copy(finding, bundle),
            facts=entry.namer.facts(facts),
            cards=[card(below) for below in entry.below],
        )

    entries = {id(entry.node): entry for entry in document.entries}
    first = first_steps(bundle.plan, document.report, (entry.node for entry in document.tree))
    steps = [
        Step(
            card(entries[id(step.node)]),
            [criterion_name(name) for name in step.gates],
            [title_of(code) for code in also_clears(step.node)],
        )
        for step in first
    ]
    return FindingsView(
        cards=[card(entry) for entry in document.tree[:MOST_CARDS]],
        steps=steps,
        rest=dict(Counter(entry.finding.code for entry in document.tree[MOST_CARDS:])),
    )


def _first_clause(remedy: str) -> str:
    return f"{re.split('[;.] ', remedy, maxsplit=1)[0].rstrip('.')}."


def _anchors(findings: Sequence[ReportedFinding]) -> dict[int, str]:
    """A stable anchor for each finding: its code, with a number if it has several scopes."""
    seen: Counter[str] = Counter()
    anchors = {}
    for finding in findings:
        seen[finding.code] += 1
        number = f"-{seen[finding.code]}" if seen[finding.code] > 1 else ""
        anchors[id(finding)] = f"finding-{finding.code.replace('.', '-').replace('_', '-')}{number}"
    return anchors


#: Chunks shown, and differences of each; ``evidence/integrity_examples.json`` has more.
MOST_DIFFS = 10
MOST_LINES = 10

#: A piece of text and its kind: ``same``, ``index`` (only in the chunk), ``page`` (only on the page).
Segment = tuple[str, str]


@dataclass(frozen=True)
class DiffLine:
    """One difference with the text around it, in the chunk and on the page."""

    chunk: list[Segment]
    page: list[Segment]


@dataclass(frozen=True)
class TextDiff:
    """One chunk that differs from its page.

    Attributes:
        point_id: The chunk.
        name: Its display name.
        page_url: Its page according to the payload.
        share: Fraction of its letters found on the page.
        lines: The differences shown.
        more: Number of further differences.
    """

    point_id: str
    name: str
    page_url: str
    share: float
    lines: list[DiffLine]
    more: int


def text_diffs(bundle: ReportBundle, subjects: Subjects) -> list[TextDiff]:
    """The chunks that differ most from their page, at most ``MOST_DIFFS``."""
    examples = bundle.extras.get("integrity_examples.json") or []
    found = []
    for example in examples[:MOST_DIFFS]:
        lines = list(_lines([(str(kind), str(text)) for kind, text in example["segments"]]))
        found.append(
            TextDiff(
                point_id=str(example["point_id"]),
                name=subjects.point(str(example["point_id"])),
                page_url=str(example["page_url"]),
                share=float(example["coverage"]),
                lines=lines[:MOST_LINES],
                more=len(lines) - len(lines[:MOST_LINES]),
            )
        )
    return found


def _lines(segments: Sequence[Segment]) -> Iterator[DiffLine]:
    """The pieces between omissions, each as in the chunk and as on the page."""
    line: list[Segment] = []
    for kind, text in [*segments, ("skipped", "")]:
        if kind != "skipped":
            line.append((kind, text))
            continue
        if any(kind != "same" for kind, _ in line):
            yield DiffLine([part for part in line if part[0] != "page"], [part for part in line if part[0] != "index"])
        line = []
