"""What to do first: the findings of a plan whose repair meets most gates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.suite.criteria import criterion_of
from ragval_pipeline.validation.repair.repair_plan import RepairPlan, key_of
from ragval_pipeline.validation.repair.tree import FindingNode, every_node, going_away, gravest, is_simulated
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import ERRORS, counted_errors


@dataclass(frozen=True)
class FirstStep:
    """A finding to fix first.

    Attributes:
        node: The finding.
        gates: The required criteria that fail because of it, or that its repair clears.
    """

    node: FindingNode
    gates: list[str]


def first_steps(plan: RepairPlan, report: ValidationReport, tree: Iterable[FindingNode]) -> list[FirstStep]:
    """The three findings of the plan to fix first: their repair meets most gates, then clears most and affects most.

    With a log of real questions, those that most readers meet come first, errors before warnings. Info findings are
    never included.

    Args:
        plan: What to act on.
        report: The run.
        tree: The findings of the report, each below the one that it follows from.
    """
    gates = _Gates(report)
    nodes = [
        node for node in every_node(tree) if key_of(node.finding) in plan.acted_on and node.finding.severity != "info"
    ]

    def weight(node: FindingNode) -> tuple[float, ...]:
        cleared = sum(len(each.names) for each in node.finding.would_clear.values())
        gained, gravity = -sum(gates.gained(node).values()), gravest(node)
        return (gained, -cleared, *gravity) if report.traffic is None else (*gravity, gained, -cleared)

    return [FirstStep(node, gates.kept(node)) for node in sorted(nodes, key=weight)[:3]]  # shown


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


def _judging(finding: ReportedFinding, missed: Sequence[str]) -> set[str]:
    known = CATALOGUE.get(finding.code)
    names = set(known.criteria if known else ())
    if known and known.fails_rankings:
        names.update(name for name in missed if (each := criterion_of(name)) is not None and each.ranks_pages)
    return names
