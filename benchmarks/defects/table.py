"""The matrix as text: on the terminal, and in docs/evidence/defects.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.defects.matrix import Row
from ragval_pipeline.testing.defects import Outcome, defects

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "defects.md"
NOTHING = "(nothing planted)"
_WIDTHS = (46, 9, 6, 7, 7, 6, 6, 5)
_TITLES = ("defect", "corpus", "amount", "planted", "named", "recall", "prec.", "place")
_HEAD = """# Defects
<!-- The table is written by python -m benchmarks.defects --write. -->

Every defect of the catalogue (`ragval demo --list-defects`) is planted alone, in the demo and in a generated handbook
of about 260 pages and 2,100 chunks: in one subject and, if the code names subjects, in 10 % and 50 %. A row is a whole
validation of the damaged corpus. *planted* and *named* count subjects; *place* is the position of the finding in the
report (causes come before their consequences); *followers* are codes that the defect triggers too, each with a
`because`; *besides* are errors and warnings that should not be there. No single chunk can be near every question of the
handbook, so `retrieval.hub_chunk` is planted in the demo only.

    python -m benchmarks.defects --codes payload --corpus demo --amounts 1,0.1
    python -m benchmarks.defects --pairs 60 --corpus demo

"""
_COLUMNS = ("defect", "corpus", "amount", "planted", "named", "recall", "precision", "place", "followers", "besides")
_RULE = "|---|---|---|--:|--:|--:|--:|--:|---|---|"

Cells = tuple[str, ...]


def header() -> str:
    """The terminal's first line."""
    return f"{_line(_TITLES)} {'s':>5}  followers | besides"


def lines(row: Row) -> list[str]:
    """The terminal's lines for one run: a line for each planted defect, then what is not as declared."""
    if row.refused is not None:
        return [f"{' + '.join(row.names)} in {row.corpus}: {row.refused}"]
    shown = []
    for number, cells in enumerate(cells_of(row)):
        seconds = f"{row.wall_s:5.1f}" if not number else " " * 5
        besides = f" | {cells[9]}" if cells[9] else ""
        shown.append(f"{_line(cells[:8])} {seconds}  {cells[8]}{besides}".rstrip())
    return [*shown, *(f"    NOT AS DECLARED: {problem}" for problem in row.problems)]


def cells_of(row: Row) -> list[Cells]:
    """The columns of ``docs/evidence/defects.md``, a line for each planted defect."""
    if not row.names:
        return [(NOTHING, row.corpus, row.amount, *[""] * 6, ", ".join(row.problems))]
    return [
        _cells(row, name if len(row.names) == 1 else f"{name} {'+' if not number else '.'}", outcome)
        for number, (name, outcome) in enumerate(zip(row.names, row.outcomes, strict=True))
    ]


def write_page(rows: Iterable[Row], file: Path = PAGE) -> None:
    """Put runs of single defects into the page; what it has of other cells stays."""
    known = {cells[:3]: cells for cells in _read(file)}
    known.update({cells[:3]: cells for row in rows if len(row.names) < 2 for cells in cells_of(row)})
    order = {name: number for number, name in enumerate([NOTHING, *(defect.name for defect in defects().values())])}
    kept = [cells for cells in known.values() if cells[0] in order]
    kept.sort(key=lambda cells: (cells[1], order[cells[0]]))
    table = [_row(_COLUMNS), _RULE, *(_row((f"`{cells[0]}`", *cells[1:])) for cells in kept)]
    file.write_text(_HEAD + "\n".join(table) + "\n", encoding="utf-8")


def _cells(row: Row, name: str, outcome: Outcome) -> Cells:
    numbers = (str(len(outcome.planted.subjects)), str(outcome.named))
    ratios = (f"{outcome.recall:.3f}", f"{outcome.precision:.3f}", str(outcome.place or "-"))
    return (name, row.corpus, row.amount, *numbers, *ratios, ", ".join(outcome.followers), ", ".join(outcome.extra))


def _read(file: Path) -> list[Cells]:
    if not file.is_file():
        return []
    table = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]
    return [(row[0].strip("`"), *row[1:]) for row in rows if len(row) == len(_COLUMNS)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _line(cells: Sequence[str]) -> str:
    left = [f"{cell:{width}}" for cell, width in zip(cells[:2], _WIDTHS[:2], strict=True)]
    return " ".join([*left, *(f"{cell:>{width}}" for cell, width in zip(cells[2:], _WIDTHS[2:], strict=True))])
