"""Findings with what follows from them: which ones to act on, and what goes away with each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.graph import is_presumed
from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.rules.rule import SEVERITIES
from ragval_pipeline.validation.thresholds import MOST


@dataclass(frozen=True)
class FindingNode:
    """A finding with the findings that follow from it."""

    finding: ReportedFinding
    consequences: tuple[FindingNode, ...] = ()


def finding_tree(findings: Sequence[ReportedFinding]) -> list[FindingNode]:
    """Attach each finding to the first one with the code of its ``because``; what costs readers most comes first.

    Every finding appears exactly once: one whose cause is not reported is a root. A root weighs as much as the gravest,
    then the largest, of all that follows from it, wholly or for the most part; of any other only its part counts.
    """
    first = {finding.code: index for index, finding in reversed(list(enumerate(findings)))}
    children: dict[int | None, list[int]] = {}
    for index, finding in enumerate(findings):
        children.setdefault(first.get(finding.because or ""), []).append(index)

    def node(index: int) -> FindingNode:
        return FindingNode(findings[index], tuple(node(child) for child in children.get(index, ())))

    nodes = [node(index) for index in children.get(None, ())]
    weights = [(*gravest(each), 0) for each in nodes]
    holding: dict[str, list[int]] = {}
    for at, each in enumerate(nodes):
        for code in {finding.code for finding in _all_of(each)}:
            holding.setdefault(code, []).append(at)
    links = [
        (cause, at, finding, count / finding.count)
        for at, each in enumerate(nodes)
        for finding in _all_of(each)
        for code, count in finding.causes.items()
        for cause in holding.get(code, ())
        if cause != at
    ]
    for _ in nodes:  # no chain of causes is longer
        for cause, at, finding, part in links:
            severity, share, step = weights[at] if part > MOST else (*_weight(finding, part), 1)
            weights[cause] = min(weights[cause], (severity, share, step - 1))
    return [nodes[at] for at in sorted(range(len(nodes)), key=weights.__getitem__)]


def gravest(node: FindingNode) -> tuple[int, float]:
    """The rank of the gravest severity in a tree, and the largest share, negative, of its findings of this severity."""
    return min(map(_weight, _all_of(node)))


def _weight(finding: ReportedFinding, part: float = 1.0) -> tuple[int, float]:
    return SEVERITIES.index(finding.severity), -finding.weight * part


def _all_of(node: FindingNode) -> Iterable[ReportedFinding]:
    yield node.finding
    for below in node.consequences:
        yield from _all_of(below)


def every_node(nodes: Iterable[FindingNode]) -> Iterator[FindingNode]:
    """The nodes of a tree, each before what follows from it."""
    for node in nodes:
        yield node
        yield from every_node(node.consequences)


def by_level(nodes: Iterable[FindingNode]) -> list[ReportedFinding]:
    """A tree as a list, level by level, so that its first entries are causes; what is for information comes last."""
    levels: list[list[FindingNode]] = [list(nodes)]
    while levels[-1]:
        levels.append([below for node in levels[-1] for below in node.consequences])
    found = [node.finding for level in levels for node in level]
    return sorted(found, key=lambda finding: finding.severity == "info")


def causes(findings: Sequence[ReportedFinding]) -> list[FindingNode]:
    """Findings to act on: the roots of the tree, and consequences that need not go away with them."""
    return [each for node in finding_tree(findings) for each in (node, *_open_below(node))]


def _open_below(node: FindingNode) -> Iterable[FindingNode]:
    for below in node.consequences:
        if not goes_away(below.finding):
            yield below
        yield from _open_below(below)


def is_simulated(code: str) -> bool:
    """Whether subjects of a code are query results, of which only a simulation shows what a repair clears."""
    return code in CATALOGUE and bool(CATALOGUE[code].simulated_as)


def goes_away(finding: ReportedFinding) -> bool:
    """Whether a consequence certainly goes away with its cause; for query results only simulations show that."""
    cause = finding.because
    return is_simulated(finding.code) or cause not in CATALOGUE or not is_presumed(finding.code, cause)


def also_clears(node: FindingNode) -> list[str]:
    """Codes of certain consequences of a finding that were not simulated."""
    return list(dict.fromkeys(finding.code for finding in going_away(node) if not is_simulated(finding.code)))


def going_away(node: FindingNode) -> Iterable[ReportedFinding]:
    """Direct and indirect consequences of a finding that certainly go away with it."""
    for below in node.consequences:
        if goes_away(below.finding):
            yield below.finding
            yield from going_away(below)
