"""Which query of a run is which query of an earlier one.

What lives here: pairing, and the queries that have no partner. What does not: what a query was held to (``held``), and
comparing values (``series``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ragval_pipeline.validation.regression.held import changes_of
from ragval_pipeline.validation.report import QueryReport

#: A query before and now.
Pair: TypeAlias = tuple[QueryReport, QueryReport]


@dataclass(frozen=True)
class Pairing:
    """The queries of two runs.

    Args:
        same: Asked the same and held to the same, before and now.
        restated: Asked the same but held to something else now.
        reworded: The same id, another question.
        vanished: Asked before, not any more.
        added: Asked now for the first time.
        set_aside: Id now of each restated and reworded query to what changed, e.g. ``its top_k changed from 5 to 3``.
    """

    same: Sequence[Pair]
    restated: Sequence[Pair]
    reworded: Sequence[Pair]
    vanished: Sequence[QueryReport]
    added: Sequence[QueryReport]
    set_aside: Mapping[str, str] = field(default_factory=dict)

    @property
    def none_asked(self) -> bool:
        """Whether neither run asked any query."""
        return not (self.same or self.restated or self.reworded or self.vanished or self.added)


def pair_queries(before: Sequence[QueryReport], after: Sequence[QueryReport]) -> Pairing:
    """Pair the queries of two runs: by id where the question is the same, else by the question itself.

    Ids by position (``q1``, ``q2``) move when a query is put in between, and names change; the question tells.
    """
    pairs, old, new = _by_id(before, after)
    renamed, old, new = _by_text(old, new)
    reworded, old, new = _taken(old, new, {query.query_id: query for query in new})
    asked = [(pair, changes_of(*pair)) for pair in (*pairs, *renamed)]
    restated = {pair[1].query_id: ", ".join(f"its {change}" for change in found) for pair, found in asked if found}
    return Pairing(
        same=[pair for pair, found in asked if not found],
        restated=[pair for pair, found in asked if found],
        reworded=reworded,
        vanished=old,
        added=new,
        set_aside={**restated, **{query.query_id: "its question changed" for _, query in reworded}},
    )


def question_of(query: QueryReport) -> str:
    """What a query asks, blanks and case folded."""
    return " ".join(str(query.query.get("query_text", "")).split()).casefold()


def is_critical(query: QueryReport) -> bool:
    """Whether the query is one that must not be lost."""
    return query.query.get("critical") is True


_Taken: TypeAlias = tuple[list[Pair], list[QueryReport], list[QueryReport]]


def _by_id(before: Sequence[QueryReport], after: Sequence[QueryReport]) -> _Taken:
    known = {(query.query_id, question_of(query)): query for query in after}
    found = {query.query_id: known.get((query.query_id, question_of(query))) for query in before}
    return _taken(before, after, {name: query for name, query in found.items() if query is not None})


def _by_text(before: Sequence[QueryReport], after: Sequence[QueryReport]) -> _Taken:
    """Questions that stand once on either side."""
    often = Counter(question_of(query) for query in before), Counter(question_of(query) for query in after)
    by_text = {question_of(query): query for query in after}
    partners = {
        query.query_id: by_text[text]
        for query in before
        if (text := question_of(query)) in by_text and often[0][text] == often[1][text] == 1
    }
    return _taken(before, after, partners)


def _taken(before: Sequence[QueryReport], after: Sequence[QueryReport], partners: Mapping[str, QueryReport]) -> _Taken:
    """Pairs of the queries that have a partner, by the id before; and what is left on both sides."""
    pairs = [(query, partners[query.query_id]) for query in before if query.query_id in partners]
    used = {new.query_id for _, new in pairs}
    left = [query for query in before if query.query_id not in partners]
    return pairs, left, [query for query in after if query.query_id not in used]
