"""One page about two runs, or two indexes of one site: what changed, then criteria, questions, findings and corpus."""

from __future__ import annotations

from ragval_pipeline.reporting.comparison import KINDS, comparison_document
from ragval_pipeline.reporting.history.compare import RunComparison, power_words
from ragval_pipeline.reporting.html.page import environment
from ragval_pipeline.text.printing import percent, plural
from ragval_pipeline.validation.regression.neighbours import NEIGHBOURS, KeptNeighbours

#: Names of a kind listed; ``ragval compare --json`` has all.
MOST_LISTED = 200


def comparison_page(comparison: RunComparison, neighbours: KeptNeighbours | None = None) -> bytes:
    """The page in UTF-8; ``neighbours`` of two indexes that stand side by side."""
    about = [] if neighbours is None else _about_indexes(comparison, neighbours)
    moved = [] if neighbours is None else [(percent(share), page) for page, share in neighbours.moved[:MOST_LISTED]]
    template = environment().get_template("comparison.html.j2")
    view = comparison_document(comparison)
    return template.render(view=view, about=about, moved=moved, kinds=KINDS, most=MOST_LISTED).encode()


def _about_indexes(comparison: RunComparison, neighbours: KeptNeighbours) -> list[str]:
    told = [f"What the questions can show: {power_words(len(comparison.answers.pairing.same))}."]
    if neighbours.mean is not None:
        nearest = f"{NEIGHBOURS} nearest pages of {plural(neighbours.pages, 'page')}"
        told.insert(0, f"{percent(neighbours.mean)} of the {nearest} are the same in both indexes.")
    return told
