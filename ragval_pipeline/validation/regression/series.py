"""The metrics that two runs are compared by: one value a query, before and now.

Two metrics are tested, so that no quality counts twice: whether a query passes, which holds its score, module, page and
words to what the suite asks; and where its relevant pages rank, which no condition looks at. Scores themselves are not
tested: another embedder has another scale, and a score that falls without failing a query costs nobody anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.suite.queries.model import expected_result
from ragval_pipeline.validation.regression.pairing import Pair, Pairing
from ragval_pipeline.validation.report import QueryReport, query_results_of

PASSING = "query_pass_rate"


@dataclass(frozen=True)
class RunAnswers:
    """What one run asked and got.

    Args:
        queries: Its queries as the report holds them.
        rankings: Query id to pages by canonical form, best first.
        judgements: Query id to page to relevance grade, for queries with ground truth.
        rank: The largest k of nDCG that the run measured; 0 for none.
    """

    queries: Sequence[QueryReport]
    rankings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    judgements: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    rank: int = 0

    @property
    def depth(self) -> int:
        """Ranks that its rankings hold: below them nothing was looked for, which is no miss."""
        return max((self.rank, *map(len, self.rankings.values())))


def answers_from_sections(sections: Mapping[str, Any], *, rank: int) -> RunAnswers:
    """What this run asked and got, from the sections that ``query_validation_results`` measured."""
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
    """Every metric that at least one pair of queries has.

    Args:
        before: The earlier run.
        after: This run.
        pairing: Their queries.

    Returns:
        ``query_pass_rate`` and ``ndcg_at_K``, K the largest that this run measures and both runs' rankings hold: of a
        ranking that was kept three deep, nDCG@10 would be a lower bound. A query that vanished scores 0 now: leaving
        out a query that fails must not make a run look better.
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
    """Both rankings by today's ground truth: a label that was corrected is no change of the index."""
    if rank == 0:
        return Series("ndcg", {}, {})
    pairs = [
        (old, new)
        for old, new in (*pairing.same, *pairing.restated)
        if new.query_id in after.judgements and old.status != "error" and new.status != "error"
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
    """The pairs whose queries name no chunk by its id or position."""
    return [pair for pair in pairs if not any(_names_a_chunk(query) for query in pair)]


def _names_a_chunk(query: QueryReport) -> bool:
    expected = map(expected_result, query.query.get("expected_results") or ())
    return any("id" in entry or "chunk_index" in entry for entry in expected)
