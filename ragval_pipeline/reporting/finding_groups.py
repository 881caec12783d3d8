"""Findings by who acts on them and how: the catalogue's ``action``.

What lives here: the groups and how many findings of a large report are shown in full. What does not: markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ragval_pipeline.findings.catalogue import CATALOGUE, Action
from ragval_pipeline.findings.model import Severity
from ragval_pipeline.reporting.outline import FindingNode, worst_severity

#: Causes shown in full; the rest is counted by code.
MOST_CARDS = 150

#: Action to the heading, and the list of ``remediation.json`` that a script works off.
_TITLES: dict[Action, tuple[str, str]] = {
    "reingest": ("Ingest again", "reingest_urls"),
    "delete": ("Delete from the index", "delete_point_ids"),
    "chunker": ("Repair the chunker or the extraction", "chunker"),
    "setting": ("Change a setting", "settings"),
    "query": ("Correct the test queries", "queries"),
    "site": ("Correct the site", "site"),
    "report": ("Report a fault of ragval", "report"),
}


@dataclass(frozen=True)
class FindingGroup:
    """Findings with one kind of remedy.

    Args:
        title: What to do.
        listed: The list of ``remediation.json`` that holds it.
        severity: The worst in the group, consequences included.
        nodes: The causes that are shown in full, with what follows from them.
        rest: Code to the number of causes that are not.
    """

    title: str
    listed: str
    severity: Severity
    nodes: list[FindingNode]
    rest: dict[str, int]


def finding_groups(tree: Sequence[FindingNode]) -> list[FindingGroup]:
    """The groups that have findings, by the first finding of each; within a group in the order of ``tree``."""
    by_action: dict[Action, list[FindingNode]] = {}
    for node in tree:
        by_action.setdefault(_action(node), []).append(node)
    full = {id(node) for node in tree[:MOST_CARDS]}
    return [
        FindingGroup(
            *_TITLES[action],
            severity=worst_severity(nodes),
            nodes=[node for node in nodes if id(node) in full],
            rest=dict(Counter(node.finding.code for node in nodes if id(node) not in full)),
        )
        for action, nodes in by_action.items()
    ]


def _action(node: FindingNode) -> Action:
    known = CATALOGUE.get(node.finding.code)
    return known.action if known else "report"
