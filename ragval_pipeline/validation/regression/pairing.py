"""Matching the queries of two runs, and their metrics, one value per query, before and now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ragval_pipeline.suite.queries.model import expected_result
from ragval_pipeline.validation.query_report import HeldTo, QueryReport, query_results_of

#: A query before and now.
Pair: TypeAlias = tuple[QueryReport, QueryReport]


@dataclass(frozen=True)
class Pairing:
    """The queries of two runs.

    Attributes:
        same: Same question and expectation, before and now.
        restated: Same question, other expectation now.
        reworded: Same id, other question.
        vanished: Only in the earlier run.
        added: Only in the later run.
        set_aside: Current id of each restated and reworded query to what changed, e.g. ``its top_k changed from 5 to
            3``.
    """

    same: Sequence[Pair]
    restated: Sequence[Pair]
    reworded: Sequence[Pair]
    vanished: Sequence[QueryReport]
    added: Sequence[QueryReport]
    set_aside: Mapping[str, str] = field(default_factory=dict)

    @property
    def none_asked(self) -> bool:
        """Whether neither run had any query."""
        return not (self.same or self.restated or self.reworded or self.vanished or self.added)


def pair_queries(before: Sequence[QueryReport], after: Sequence[QueryReport]) -> Pairing:
    """Pair the queries of two runs: by id if the question is the same, else by the question itself.

    Ids by position (``q1``, ``q2``) shift when a query is inserted, and names change; the question decides.
    """
    pairs, old, new = _by_id([_asked(query) for query in before], [_asked(query) for query in after])
    renamed, old, new = _by_text(old, new)
    reworded, old, new = _taken(old, new, {query.query_id: query for query in new})
    compared = [(pair, changes_of(*pair)) for pair in (*pairs, *renamed)]
    restated = {pair[1].query_id: ", ".join(f"its {change}" for change in found) for pair, found in compared if found}
    return Pairing(
        same=[pair for pair, found in compared if not found],
        restated=[pair for pair, found in compared if found],
        reworded=reworded,
        vanished=old,
        added=new,
        set_aside={**restated, **{query.query_id: "its question changed" for _, query in reworded}},
    )


def _asked(query: QueryReport) -> QueryReport:
    """A query with its first hit only: all that the comparison needs."""
    return query.model_copy(update={"top_results": query.top_results[:1]})


def question_of(query: QueryReport) -> str:
    """The text of a query, ignoring whitespace and case."""
    return " ".join(str(query.query.get("query_text", "")).split()).casefold()


def is_critical(query: QueryReport) -> bool:
    """Whether the query is critical."""
    return query.query.get("critical") is True


_Taken: TypeAlias = tuple[list[Pair], list[QueryReport], list[QueryReport]]


def _by_id(before: Sequence[QueryReport], after: Sequence[QueryReport]) -> _Taken:
    known = {(query.query_id, question_of(query)): query for query in after}
    found = {query.query_id: known.get((query.query_id, question_of(query))) for query in before}
    return _taken(before, after, {name: query for name, query in found.items() if query is not None})


def _by_text(before: Sequence[QueryReport], after: Sequence[QueryReport]) -> _Taken:
    """Questions that are unique on both sides."""
    often = Counter(question_of(query) for query in before), Counter(question_of(query) for query in after)
    by_text = {question_of(query): query for query in after}
    partners = {
        query.query_id: by_text[text]
        for query in before
        if (text := question_of(query)) in by_text and often[0][text] == often[1][text] == 1
    }
    return _taken(before, after, partners)


def _taken(before: Sequence[QueryReport], after: Sequence[QueryReport], partners: Mapping[str, QueryReport]) -> _Taken:
    """Pairs of queries, by the earlier id; and the unpaired ones on both sides."""
    pairs = [(query, partners[query.query_id]) for query in before if query.query_id in partners]
    used = {new.query_id for _, new in pairs}
    left = [query for query in before if query.query_id not in partners]
    return pairs, left, [query for query in after if query.query_id not in used]


#: Fields of a query read by each condition.
_READ_BY: Mapping[str, tuple[str, ...]] = {
    "module": ("expected_module",), "chapter": ("expected_chapter",), "url": ("relevant_urls", "acceptable_urls"),
    "keywords": ("expected_keywords",), "results": ("expected_results",),
}  # fmt: skip
#: The query's own settings: all that reports of earlier versions have.
_STATED = ("negative", "min_similarity", "top_k", *(name for names in _READ_BY.values() for name in names))


def changes_of(old: QueryReport, new: QueryReport) -> list[str]:
    """What changed in a query's expectation, e.g. ``threshold changed from 0.70 to 0.75``; empty: nothing.

    Its own settings and the suite's both count. For reports of earlier versions, which lack the effective settings,
    only the query's own are compared.
    """
    if old.held_to is None or new.held_to is None:
        return list(_stated(old.query, new.query, _STATED))
    return list(_effective(old, old.held_to, new, new.held_to))


def _effective(old: QueryReport, before: HeldTo, new: QueryReport, after: HeldTo) -> Iterator[str]:
    deciding = {*before.conditions, *after.conditions}
    yield from _stated(old.query, new.query, ("negative",))
    if before.conditions != after.conditions:
        yield _change("conditions", ", ".join(before.conditions) or None, ", ".join(after.conditions) or None)
    elif before.min_similarity != after.min_similarity:
        yield _change("threshold", before.min_similarity, after.min_similarity)
    # The best score is that of the first hit.
    if before.top_k != after.top_k and deciding != {"score"}:
        yield _change("top_k", before.top_k, after.top_k)
    if "module" in before.conditions and before.module_match != after.module_match and "module" in after.conditions:
        yield _change("module_match", before.module_match, after.module_match)
    read = [name for condition, names in _READ_BY.items() if condition in deciding for name in names]
    yield from _stated(old.query, new.query, read)
    if before.judgements != after.judgements:
        yield "judgements changed"


def _stated(old: Mapping[str, Any], new: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        before, after = old.get(name), new.get(name)
        if before != after:
            yield _change("threshold" if name == "min_similarity" else name, before, after)


def _change(name: str, before: object, after: object) -> str:
    if any(isinstance(value, list | tuple) for value in (before, after)):
        return f"{name} changed"
    return f"{name} changed from {_shown(before)} to {_shown(after)}"


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.2f}" if round(value, 2) == value else f"{value:g}"
    return str(value).lower() if isinstance(value, bool) else str(value)


PASSING = "query_pass_rate"


@dataclass(frozen=True)
class RunAnswers:
    """The queries and results of one run.

    Attributes:
        queries: Its queries as in the report.
        rankings: Query id to pages by canonical form, best first.
        judgements: Query id to page to relevance grade, for queries with ground truth.
        rank: The largest k of nDCG in the run; 0 for none.
    """

    queries: Sequence[QueryReport]
    rankings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    judgements: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    rank: int = 0

    def of(self, ids: Collection[str]) -> RunAnswers:
        """Those of some queries, by their ids."""
        return replace(self, queries=[query for query in self.queries if query.query_id in ids])

    @property
    def depth(self) -> int:
        """Depth of its rankings: pages below were not searched for and are not misses."""
        return max((self.rank, *map(len, self.rankings.values())))


def answers_from_sections(sections: Mapping[str, Any], *, rank: int) -> RunAnswers:
    """The queries and results of this run, from the sections of ``query_validation_results``."""
    return RunAnswers(query_results_of(sections), sections.get("run", {}), sections.get("qrels", {}), rank)


@dataclass(frozen=True)
class Series:
    """One metric of the same queries in two runs: query id (now, or before if it vanished) to value 0..1."""

    metric: str
    before: Mapping[str, float]
    after: Mapping[str, float]

    @property
    def differences(self) -> dict[str, float]:
        """``after - before`` by query id."""
        return {name: self.after[name] - value for name, value in self.before.items()}


def all_series(before: RunAnswers, after: RunAnswers, pairing: Pairing) -> list[Series]:
    """Every metric with at least one pair of queries.

    Returns:
        ``query_pass_rate`` and ``ndcg_at_K``, K the largest of this run within the depth of both runs' rankings: with a
        ranking of depth 3, nDCG@10 would be a lower bound. A vanished query scores 0 now: removing a failing query must
        not make a run look better.
    """
    found = [_passing(pairing), _ranking(before, after, pairing, min(after.rank or after.depth, before.depth))]
    return [series for series in found if series.before]


def _passing(pairing: Pairing) -> Series:
    judged = [(old, new) for old, new in pairing.same if old.passed is not None and new.passed is not None]
    gone = [query for query in pairing.vanished if query.passed is not None]
    return Series(
        PASSING,
        {new.query_id: float(old.passed is True) for old, new in judged}
        | {query.query_id: float(query.passed is True) for query in gone},
        {new.query_id: float(new.passed is True) for _, new in judged} | {query.query_id: 0.0 for query in gone},
    )


def _ranking(before: RunAnswers, after: RunAnswers, pairing: Pairing, rank: int) -> Series:
    """Both rankings with the current ground truth: a corrected label is not a change of the index.

    A query that was not judged by pages before, such as a draft, has no ranking of then: it is no gain. One that was
    and found nothing scores 0.
    """
    if rank == 0:
        return Series("ndcg", {}, {})
    pairs = [
        (old, new)
        for old, new in (*pairing.same, *pairing.restated)
        if new.query_id in after.judgements
        and (old.query_id in before.rankings or old.query_id in before.judgements)
        and old.status != "error"
        and new.status != "error"
    ]
    gone = [query for query in pairing.vanished if query.query_id in before.judgements]
    today = {new.query_id: after.judgements[new.query_id] for _, new in pairs}
    name = f"ndcg_at_{rank}"
    old_values = _ndcg({new.query_id: before.rankings.get(old.query_id, ()) for old, new in pairs}, today, rank)
    new_values = _ndcg({new.query_id: after.rankings.get(new.query_id, ()) for _, new in pairs}, today, rank)
    old_gone = _ndcg(
        {query.query_id: before.rankings.get(query.query_id, ()) for query in gone},
        {query.query_id: before.judgements[query.query_id] for query in gone},
        rank,
    )
    return Series(name, old_values | old_gone, new_values | dict.fromkeys(old_gone, 0.0))


def _ndcg(
    rankings: Mapping[str, Sequence[str]], judgements: Mapping[str, Mapping[str, int]], rank: int
) -> dict[str, float]:
    from ragval_pipeline.validation.retrieval.metrics import per_query

    run = {query: list(pages) for query, pages in rankings.items()}
    grades = {query: dict(found) for query, found in judgements.items()}
    return per_query(run, grades, ranks=(rank,), depth=rank).get(f"ndcg_at_{rank}", {})


def without_chunk_labels(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs whose queries do not refer to chunks by id or position."""
    return [pair for pair in pairs if not any(_names_a_chunk(query) for query in pair)]


def _names_a_chunk(query: QueryReport) -> bool:
    expected = map(expected_result, query.query.get("expected_results") or ())
    return any("id" in entry or "chunk_index" in entry for entry in expected)
