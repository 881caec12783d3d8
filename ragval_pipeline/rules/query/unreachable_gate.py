"""Gates that cannot be reached."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Found, Rule, Told
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """A gate, and what is possible.

    Attributes:
        ceiling: The highest possible value.
        gate: The threshold.
        n: Queries that it is measured by.
        state: Whether it is unreachable, or barely reachable.
    """

    ceiling: float
    gate: float
    n: int
    state: str = ""

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        possible = f"{self.ceiling:.3g} is possible with {plural(self.n, 'query')}"
        return f"the gate is {self.gate:g}, at most {possible}"


SQL = """
select name, ceiling, gate, n,
  case when gate > ceiling + $TOLERANCE then 'unreachable' else 'barely reachable' end as state,
  list(name order by place) over () as all_names
from ranking_gates
where ceiling < 1 - $TOLERANCE and gate > ceiling - $FEW
"""


def tell(found: Found) -> Told:
    """Each gate with the highest value that is possible."""
    gates = {row["name"]: row for row in found.rows}
    words = [f"{name} {gates[name]['state']} (at most {gates[name]['ceiling']:.3f})" for name in found.whole["names"]]
    return Told(message=f"Gates against the ground truth: {', '.join(words)}.", details={})


RULE = Rule(
    code="query.unreachable_gate",
    severity="warning",
    level="run",
    group="queries",
    subject_kind="metric",
    action="setting",
    title="Gates that cannot be reached",
    means="has a gate above, or just below, the best value that the ground truth allows",
    many="have a gate above, or just below, the best value that the ground truth allows",
    measured=(
        "The best value that a perfect ranking could reach with this ground truth is computed and "
        "compared with the gate."
    ),
    cause="There are fewer relevant pages than ranks in the top k.",
    remedy="Gate on recall or on a smaller k, or list all relevant pages.",
    fails_rankings=True,
    details=Details,
    sql=SQL,
    tell=tell,
)
