"""The verdict on one query, with every condition of the five profiles."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.query_report import HeldTo, QueryReport
from ragval_pipeline.validation.retrieval.conditions import (
    CONDITIONS,
    Outcome,
    Rules,
    best_score,
    hits_in_module,
)

_UNJUDGED = "no document was judged relevant to it: it is asked and shown, but not counted"


def judge_query(
    query: TestQuery, answer: Answer, rules: Rules, *, judge: Sequence[str] | None, top_k: int
) -> QueryReport:
    """Judge one result.

    Args:
        query: The query.
        answer: Its result.
        rules: How hits are read and matched.
        judge: Deciding conditions; None: all that the query states. A query without any is judged by score.
        top_k: Default number of hits.

    Returns:
        The query's part of the report. ``passed`` is None if the search failed, and for a query that does not count;
        for a draft ``failed_conditions`` and ``fail_reason`` show how it would be judged.
    """
    outcomes = {name: CONDITIONS[name](query, answer.hits, rules) for name in query.stated_conditions}
    best = best_score(answer.hits, rules)
    passed, pass_reason, failed = None, None, {}
    if answer.error is None and not query.unjudged:
        failed = _failed(query, answer, rules, judge)
        passed = not failed if query.counted else None
        pass_reason = _pass_reason(query, answer.hits, rules) if passed else None
    return QueryReport(
        query_id=query.id,
        query=query.as_given(),
        status="error" if answer.error else "success" if answer.hits else "no_matches",
        passed=passed,
        pass_reason=pass_reason,
        fail_reason=answer.error or _fail_reason(query, "; ".join(failed.values())),
        failed_conditions=list(failed),
        best_similarity=best,
        module_match=_match(outcomes, "module", answer),
        chapter_match=_match(outcomes, "chapter", answer),
        returned_k=len(answer.hits),
        embedding_ms=answer.embedding_ms,
        search_time_ms=answer.search_ms,
        top_results=[rules.read.top_result(hit) for hit in answer.hits],
        held_to=held_to(query, rules, judge=judge, top_k=top_k),
    )


def held_to(query: TestQuery, rules: Rules, *, judge: Sequence[str] | None, top_k: int) -> HeldTo:
    """The effective settings of a query, with the arguments of ``judge_query``, for comparison with later runs."""
    conditions = ["score"] if query.negative else deciding_conditions(query, judge)
    conditions = conditions if query.counted else []
    return HeldTo(
        top_k=query.top_k or top_k,
        conditions=conditions,
        min_similarity=rules.threshold(query) if "score" in conditions else None,
        module_match=rules.module_match if "module" in conditions else None,
        judgements=_fingerprint(query.judgements),
    )


def _fingerprint(judgements: Mapping[str, int]) -> str | None:
    """The first 16 hex digits of a SHA-256, to detect changed grades."""
    if not judgements:
        return None
    return hashlib.sha256(json.dumps(judgements, sort_keys=True).encode()).hexdigest()[:16]  # definition


def deciding_conditions(query: TestQuery, judge: Sequence[str] | None) -> list[str]:
    """The deciding conditions of a positive query, in a fixed order.

    A profile's choice is limited to what a query states; its score is judged against the suite's threshold if it has
    none. Unjudged queries have no conditions.
    """
    if query.unjudged:
        return []
    stated = query.stated_conditions
    chosen = stated if judge is None else [name for name in CONDITIONS if name in judge and name in {*stated, "score"}]
    return chosen or ["score"]


def _fail_reason(query: TestQuery, missed: str) -> str | None:
    if query.unjudged:
        return _UNJUDGED
    if query.counted:
        return missed or None
    return f"a draft, which is not counted; it would currently {f'fail: {missed}' if missed else 'pass'}"


def _failed(query: TestQuery, answer: Answer, rules: Rules, judge: Sequence[str] | None) -> dict[str, str]:
    unscored = [hit for hit in answer.hits if not math.isfinite(hit.score)]
    if unscored:
        # Neither their order nor their distance from the query is known: nothing can be said for or against it.
        return {"score": f"{plural(len(unscored), 'hit')} of {len(answer.hits)} without a score that is a number"}
    if query.negative:
        return _failed_negative(query, answer, rules)
    if not answer.hits:
        return {"nothing returned": "nothing was returned"}
    outcomes = {name: CONDITIONS[name](query, answer.hits, rules) for name in deciding_conditions(query, judge)}
    return {name: outcome.why_not for name, outcome in outcomes.items() if not outcome.holds}


def _failed_negative(query: TestQuery, answer: Answer, rules: Rules) -> dict[str, str]:
    best, threshold = best_score(answer.hits, rules), rules.threshold(query)
    # Strictly below: a score that reaches the limit, rounding included, is a hit.
    if best is None or not rules.reaches(best, threshold):
        return {}
    kind = "similarity" if rules.higher_is_better else "distance"
    return {"score": f"out of scope, yet best {kind} {best:.4f} reaches {threshold:g}"}


def _pass_reason(query: TestQuery, hits: Sequence[Hit], rules: Rules) -> str:
    best, kind = best_score(hits, rules), "similarity" if rules.higher_is_better else "distance"
    if query.negative:
        return "Nothing relevant was found, as expected" + ("" if best is None else f" (best {kind}={best:.2f})")
    score = "" if best is None else f" ({kind}={best:.2f})"
    inside = hits_in_module(query, hits, rules) if query.expected_module else []
    if not inside:
        return f"Found relevant chunk{score}"
    module, own = f"expected module '{query.expected_module}'", best_score(inside, rules)
    if own is None or own == best:
        return f"Found relevant chunk{score} in {module}"
    return f"Found relevant chunk{score}; {module} at rank {inside[0].rank} ({kind}={own:.2f})"


def _match(outcomes: dict[str, Outcome], name: str, answer: Answer) -> bool | None:
    outcome = outcomes.get(name)
    return None if outcome is None or answer.error else outcome.holds
