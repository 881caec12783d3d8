"""The queries simulated for a repair, and when a result is as it should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.rules.details import read
from ragval_pipeline.rules.regression.significant_drop import RULE as SIGNIFICANT_DROP
from ragval_pipeline.rules.retrieval.crowded_top_k import RULE as CROWDED_TOP_K
from ragval_pipeline.rules.retrieval.dark_page import RULE as DARK_PAGE
from ragval_pipeline.rules.retrieval.dark_page import Details as DarkPage
from ragval_pipeline.rules.retrieval.hub_chunk import RULE as HUB_CHUNK
from ragval_pipeline.rules.retrieval.hub_chunk import Details as Hub
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.text.numbers import TOLERANCE
from ragval_pipeline.validation.regression.pairing import PASSING as PASS_RATE
from ragval_pipeline.validation.repair.repair import GUESSED, Guess, Repair
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings, Rules
from ragval_pipeline.validation.retrieval.hits import expected_pages, page_qrels, page_ranking
from ragval_pipeline.validation.retrieval.judge import judge_query
from ragval_pipeline.validation.retrieval.metrics import per_query
from ragval_pipeline.validation.retrieval.repeats import crowded_answers
from ragval_pipeline.validation.thresholds import HUB_QUERIES, HUB_SHARE

#: Pseudo codes for cases of passed queries, which a repair may make fail, and of queries that lower a metric.
PASSING, LOWERING = "passing", "lowering"
#: Maximum queries simulated, and those per page or hub: its first ones, and its last.
MOST_ASKED = 300  # work
_ASKED_EACH = 3  # work
#: Hits per page of a ranking.
_HITS_A_PAGE = 4  # work


def is_failed_query(code: str) -> bool:
    """Whether a code, or a pseudo code of cases, is that of test queries that were not answered as expected."""
    return code in CATALOGUE and CATALOGUE[code].is_failed_query


@dataclass(frozen=True)
class Case:
    """One simulated query, and whether a result is as it should be.

    Attributes:
        code: Code of its finding, ``PASSING`` or ``LOWERING``.
        subject: Subject of that finding.
        text: Text of the query.
        top_k: Hits by which it is judged.
        holds: Whether a result is as it should be, given the repair.
        needed: Share of the subject's cases that must hold to clear it; 0: one of them.
        pages: The pages that the query expects.
    """

    code: str
    subject: str
    text: str
    top_k: int
    holds: Callable[[Answer, Repair], bool]
    needed: float = 0.0
    pages: frozenset[str] = frozenset()


def cases_of(findings: Sequence[Finding], queries: Sequence[TestQuery], settings: RetrievalSettings) -> list[Case]:
    """The cases: of failed queries, crowded results, dark pages, hubs and metrics that fell, then of others."""
    by_id = {query.id: query for query in queries}
    cases: list[Case] = []
    for finding in findings:
        for subject in finding.subjects if CATALOGUE[finding.code].simulated_as else ():
            query = by_id.get(subject.name)
            if is_failed_query(finding.code) and query is not None:
                cases.append(_case(finding.code, query, settings, _passes(query, settings)))
            elif finding.code == CROWDED_TOP_K.code and query is not None:
                cases.append(_case(finding.code, query, settings, _is_no_crowd(query, settings)))
            elif finding.code == DARK_PAGE.code and subject.page is not None:
                cases += [
                    Case(finding.code, subject.name, text, settings.top_k, _finds(subject.page, settings.rules))
                    for text in _some(read(DarkPage, subject.details).asked)
                ]
            elif finding.code == HUB_CHUNK.code:
                hub = read(Hub, subject.details)
                needed = 1 - max(HUB_QUERIES, HUB_SHARE * hub.of) / hub.queries
                cases += [
                    Case(finding.code, subject.name, text, settings.top_k, _is_without(subject.name), needed)
                    for text in hub.asked
                ]
            elif finding.code == SIGNIFICANT_DROP.code:
                before = zip(subject.queries, subject.values, strict=True)
                cases += [
                    _lowering(subject.name, by_id[name], value, settings) for name, value in before if name in by_id
                ]
    failing = {case.subject for case in cases if is_failed_query(case.code)}
    passing = (query for query in queries if query.id not in failing)
    others = (_case(PASSING, query, settings, _passes(query, settings)) for query in passing)
    return list(islice(chain(_in_turn(cases), others), MOST_ASKED))


def _in_turn(cases: Iterable[Case]) -> list[Case]:
    """The first case of every subject before the second of any."""
    asked = Counter[tuple[str, str]]()
    turns = []
    for case in cases:
        turns.append((asked[case.code, case.subject], case))
        asked[case.code, case.subject] += 1
    return [case for _, case in sorted(turns, key=lambda turn: turn[0])]


def _case(code: str, query: TestQuery, settings: RetrievalSettings, holds: Callable[[Answer, Repair], bool]) -> Case:
    pages = frozenset(expected_pages(query, settings.rules.read.page_key))
    return Case(code, query.id, query.query_text, query.top_k or settings.top_k, holds, pages=pages)


def _passes(query: TestQuery, settings: RetrievalSettings) -> Callable[[Answer, Repair], bool]:
    """Whether the query passes, judged as in the run except for what the repair sets."""

    def holds(answer: Answer, repair: Repair) -> bool:
        rules, asked, judge = _rules(settings.rules, repair), query, settings.judge
        threshold = repair.thresholds.get(rules.threshold(query))
        if threshold is not None:
            asked = asked.model_copy(update={"min_similarity": threshold})
        report = judge_query(asked, answer, rules, judge=judge, top_k=settings.top_k)
        # Without its expectation the query would be judged by the threshold, which may never have applied.
        met = repair.dropped.get(query.id, frozenset()) | _taken_as_met(query, answer, rules)
        return report.passed is not None and met.issuperset(report.failed_conditions)

    return holds


def _taken_as_met(query: TestQuery, answer: Answer, rules: Rules) -> frozenset[str]:
    """Conditions on fields whose right value is only guessed: on a page that the query expects, it is the right one."""
    wanted = expected_pages(query, rules.read.page_key)
    pages = [hit.payload for hit in answer.hits if rules.read.page(hit.payload) in wanted]
    return frozenset(name for name in GUESSED for payload in pages if isinstance(rules.read.get(payload, name), Guess))


def lowering(metric: str, query: str) -> str:
    """The subject of the case of a query that lowers a metric."""
    return f"{metric} {query}"


def _lowering(metric: str, query: TestQuery, before: float, settings: RetrievalSettings) -> Case:
    """Whether a query that lowers a metric has the value again that it had before the metric fell."""
    name = lowering(metric, query.id)
    if metric == PASS_RATE:
        return Case(LOWERING, name, query.query_text, query.top_k or settings.top_k, _passes(query, settings))
    rank = int(metric.rpartition("_")[2])
    qrels = page_qrels([query], settings.rules.read)

    def holds(answer: Answer, repair: Repair) -> bool:
        ranking = page_ranking(answer, _rules(settings.rules, repair).read, depth=rank)
        return per_query({query.id: ranking}, qrels, ranks=(rank,), depth=rank)[metric][query.id] >= before - TOLERANCE

    return Case(LOWERING, name, query.query_text, _HITS_A_PAGE * rank, holds)


def _is_no_crowd(query: TestQuery, settings: RetrievalSettings) -> Callable[[Answer, Repair], bool]:
    return lambda answer, _: not crowded_answers([query], {query.id: answer}, settings.rules.read)


def _finds(page: str, rules: Rules) -> Callable[[Answer, Repair], bool]:
    return lambda answer, repair: any(_rules(rules, repair).read.page(hit.payload) == page for hit in answer.hits)


def _rules(rules: Rules, repair: Repair) -> Rules:
    """The rules with fields at the repair's payload paths."""
    if not repair.paths:
        return rules
    return replace(rules, read=replace(rules.read, fields={**rules.read.fields, **repair.paths}))


def _is_without(point: str) -> Callable[[Answer, Repair], bool]:
    return lambda answer, _: all(hit.id != point for hit in answer.hits)


def _some(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*texts[: _ASKED_EACH - 1], *texts[-1:]]))
