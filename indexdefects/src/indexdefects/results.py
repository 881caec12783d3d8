"""Scores as Parquet, and the figures of the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from statistics import mean, median

from indexdefects.scoring import Score


def write(scores: Sequence[Score], path: Path) -> None:
    """Write scores, sorted: two runs write the same rows, except for the times."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist([asdict(each) for each in sorted(scores, key=_order)]), path)


def _order(score: Score) -> tuple[str, ...]:
    return score.tool, score.tier, score.family, score.share, str(score.seed), score.world


@dataclass(frozen=True)
class Row:
    """One tool at one tier, over all worlds.

    Attributes:
        tool: The tool.
        tier: What it was given.
        claimed: Families that it can name and was shown.
        detected: Of these, families found in at least half of their worlds.
        f1: Mean over families of the mean F1; None if it claims none.
        first: Share of worlds in scope whose first error or warning names the family.
        clean: Clean worlds.
        alarmed: Clean worlds with an error or a warning.
        alarms: Errors and warnings on clean worlds.
        advised: Defect worlds with advice to carry out.
        removed: Share of these that the advice made right.
        losing: Worlds in which it lost a right passage.
        cpu: Median of the CPU seconds.
        calls: Mean of the embedding calls.
        errors: Worlds that it did not answer.
    """

    tool: str
    tier: str
    claimed: int
    detected: int
    f1: float | None
    first: float | None
    clean: int
    alarmed: int
    alarms: int
    advised: int
    removed: float | None
    losing: int
    cpu: float
    calls: float
    errors: int


def rows(scores: Iterable[Score]) -> list[Row]:
    """A row for each tool and tier, the best first."""
    found = [_row(key[0], key[1], list(group)) for key, group in _groups(scores, lambda each: (each.tool, each.tier))]
    return sorted(found, key=lambda row: (-row.detected, -(row.f1 or 0.0), row.tool, row.tier))


def _groups(
    scores: Iterable[Score], key: Callable[[Score], tuple[str, ...]]
) -> Iterable[tuple[tuple[str, ...], Iterable[Score]]]:
    return groupby(sorted(scores, key=lambda each: (key(each), _order(each))), key=key)


def _row(tool: str, tier: str, scores: list[Score]) -> Row:
    scope = [each for each in scores if each.in_scope]
    clean = [each for each in scores if each.made == "clean"]
    advised = [each for each in scores if each.made != "clean" and each.advised]
    cells = [by_family(list(group)) for _, group in _groups(scope, lambda each: (each.family,))]
    return Row(
        tool,
        tier,
        claimed=len(cells),
        detected=sum(cell.detected >= 0.5 for cell in cells),
        f1=mean(cell.f1 for cell in cells) if cells else None,
        first=mean(bool(each.first) for each in scope) if scope else None,
        clean=len(clean),
        alarmed=sum(each.alarms > 0 for each in clean),
        alarms=sum(each.alarms for each in clean),
        advised=len(advised),
        removed=mean(bool(each.removed) for each in advised) if advised else None,
        losing=sum(each.lost > 0 for each in advised),
        cpu=median(each.cpu_seconds for each in scores),
        calls=mean(each.embedding_calls for each in scores),
        errors=sum(bool(each.error) for each in scores),
    )


@dataclass(frozen=True)
class Cell:
    """One tool on the worlds of one family: share detected, mean F1, number of worlds."""

    detected: float
    f1: float
    worlds: int


def by_family(scores: Sequence[Score]) -> Cell:
    """The cell of scores of one tool, tier and family."""
    return Cell(mean(bool(each.detected) for each in scores), mean(each.f1 or 0.0 for each in scores), len(scores))


def cells(scores: Iterable[Score]) -> dict[tuple[str, str], dict[str, Cell]]:
    """Cells by (family, tier) and tool, where the family is in the tool's scope."""
    table: dict[tuple[str, str], dict[str, Cell]] = {}
    scope = [each for each in scores if each.in_scope]
    for (family, tier, tool), group in _groups(scope, lambda each: (each.family, each.tier, each.tool)):
        table.setdefault((family, tier), {})[tool] = by_family(list(group))
    return table
