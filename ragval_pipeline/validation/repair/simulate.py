"""Judging the affected queries again, on their hits after a repair."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.graph import can_follow
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.query.weak_oracle import RULE as WEAK_ORACLE
from ragval_pipeline.rules.rule import SEVERITIES
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.facts import Distance
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.validation.repair.cases import LOWERING, PASSING, Case, is_failed_query
from ragval_pipeline.validation.repair.cleared import Simulated, WouldClear, by_code, restored
from ragval_pipeline.validation.repair.mended import Asked, Mended, answer_of, score_of
from ragval_pipeline.validation.repair.repair import Repair, SearchMode, fewest, joined
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings, Rules
from ragval_pipeline.validation.thresholds import FEW

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

#: Maximum additional depth of a search to replace points that a repair removes.
DEEPEST = 2000  # work
#: The same for passed queries that a repair may make fail.
_DEEP_FOR_PASSING = 100  # work
#: Queries per compared text.
_NEAREST = 3  # work

_NOTHING = Repair(PASSING)

#: Code and scope of a finding.
_Cause = tuple[str, str | None]
#: Code and name of a subject.
_Subject = tuple[str, str]
#: Maps queries, each with a number of hits, and the mode, to the vector and hits of each, in order.
_Search = Callable[[Sequence[tuple[str, int]], SearchMode], Iterable[tuple[Any, list[Hit]]]]
#: Uncertainty of scores: down, as a negative number, and up.
Margin = tuple[float, float]


def simulate(
    repairs: Sequence[Repair],
    cases: Sequence[Case],
    findings: Sequence[Finding],
    *,
    vectors: Mapping[str, Vector],
    questions: Sequence[Vector] = (),
    search: _Search,
    settings: RetrievalSettings,
    left_out: Mapping[str, str] | None = None,
    met_by_chance: Callable[[Repair], Collection[str]] = lambda _: (),
) -> Simulated:
    """What each repair would clear.

    Args:
        repairs: The repairs; the texts of their chunks are in ``vectors``.
        cases: The cases; one search each in every mode that a repair needs.
        findings: All findings of the run.
        vectors: Vector of each text, embedded as a document.
        questions: Vectors of the queries.
        search: Maps queries, each with a number of hits, and the mode, to the vector and hits of each, in order.
        settings: Retrieval settings of the suite.
        left_out: Causes whose repair is too large to simulate, with the reason.
        met_by_chance: Maps a repair to the queries that would still pass by chance after it.
    """
    margins = [_margin(repair, vectors, questions, settings.distance) for repair in repairs]
    trials = _Trials(repairs, margins, settings.rules, _gravest_first(repairs, findings))
    score = partial(_score, vectors, settings.distance)
    judged: list[dict[_Subject, list[_Judgement]]] = [{} for _ in repairs]
    together: dict[str, frozenset[str]] = {}
    for question in _questions(repairs, cases, search, score):
        case = question.case
        verdicts = {number: trials.judge(question, number) for number in trials.tried_on(case)}
        for number, judgement in verdicts.items():
            judged[number].setdefault((case.code, case.subject), []).append(judgement)
        if is_failed_query(case.code):
            together[case.subject] = trials.needed_together(question, verdicts)
    needed = {(case.code, case.subject): case.needed for case in cases}
    weak = {entry.name for finding in findings if finding.code == WEAK_ORACLE.code for entry in finding.subjects}
    results: dict[_Cause, WouldClear] = {}
    for repair, judgements in zip(repairs, judged, strict=True):
        well = {
            key for key, verdicts in judgements.items() if _is_enough([one.surely for one in verdicts], needed[key])
        }
        perhaps = {
            key for key, verdicts in judgements.items() if _is_enough([one.perhaps for one in verdicts], needed[key])
        }
        tried = list(judgements)
        # The values of fields at other paths are unknown.
        if weak and can_follow(WEAK_ORACLE.code, repair.code) and not repair.paths:
            tried += [(WEAK_ORACLE.code, name) for name in sorted(weak)]
            well |= {(WEAK_ORACLE.code, name) for name in weak.difference(met_by_chance(repair))}
        result = _result(repair, tried, well, findings, perhaps)
        # It is unknown in which of several ways a finding will be repaired.
        known = results.get(_cause_of(repair), result)
        results[_cause_of(repair)] = known.and_also(result)
    together = {name: causes for name, causes in together.items() if causes}
    return Simulated(tuple(results.values()), together, dict(left_out or {}), frozenset(left_out or ()))


def _is_tried(cause: str, code: str) -> bool:
    """Whether the repair of a cause is tried on results of a code: a hub makes pages dark, not vice versa."""
    if CATALOGUE[cause].explains_queries_only:
        return code == LOWERING or is_failed_query(code)
    return code != cause


def _questions(
    repairs: Sequence[Repair], cases: Sequence[Case], search: _Search, score: Callable[[Vector, str], float]
) -> Iterator[_Question]:
    """The cases' queries with their hits, as many as the repairs may replace; passed queries if they pass again."""
    replaced = len(frozenset().union(*(repair.replaced for repair in repairs)))
    deeper = min(DEEPEST, max([replaced, *(repair.depth for repair in repairs)]))
    depths = {True: min(deeper, _DEEP_FOR_PASSING), False: deeper}
    searches = [(case.text, case.top_k + depths[case.code == PASSING]) for case in cases]
    modes = _modes(repairs)
    for case, (_, limit), *each in zip(cases, searches, *(search(searches, mode) for mode in modes), strict=True):
        question = _Question(
            {
                mode: Asked(case, hits, len(hits) == limit, cache(partial(score, vector)))
                for mode, (vector, hits) in zip(modes, each, strict=True)
            }
        )
        if case.code != PASSING or case.holds(answer_of(case, question.under(_NOTHING).hits), _NOTHING):
            yield question


@dataclass(frozen=True)
class _Judgement:
    """Whether a result is as it should be in all variants of a repair, and in any."""

    surely: bool
    perhaps: bool


@dataclass(frozen=True)
class _Question:
    """A query searched for in every mode that a repair needs."""

    asked: Mapping[SearchMode, Asked]

    @property
    def case(self) -> Case:
        return self.under(_NOTHING).case

    def under(self, repair: Repair) -> Asked:
        return self.asked[repair.search_mode]


@dataclass(frozen=True)
class _Trials:
    """The repairs, by number, each with the margin of its scores; causes in order of severity."""

    repairs: Sequence[Repair]
    margins: Sequence[Margin]
    rules: Rules
    causes: Sequence[_Cause]
    _joined: dict[tuple[int, ...], Repair] = field(default_factory=dict)

    def tried_on(self, case: Case) -> list[int]:
        """The repairs that can change the results of a case's query, and whose cause is not its own finding."""
        return [
            number
            for number, repair in enumerate(self.repairs)
            if case.code == PASSING or _is_tried(repair.code, case.code)
        ]

    def judge(self, question: _Question, number: int) -> _Judgement:
        """The judgement of the possible results of a repair."""
        repair, case = self.repairs[number], question.case
        mended = Mended(question.under(repair), repair, self.margins[number], self.rules)
        answers = mended.answers()
        other = [answers[0] is None or case.holds(answers[0], way) for way in _other_thresholds(repair)]
        open_ = not repair.unread.isdisjoint(case.pages) or any(
            answer and not repair.unknown.isdisjoint(hit.id for hit in answer.hits) for answer in answers
        )
        possible = list(chain(answers, mended.best_for_a_page()))
        possible += [mended.with_whole_pages(answer) for answer in possible if answer is not None]
        return _Judgement(
            surely=_all_hold(answers, case, repair),
            perhaps=open_ or any(other) or any(answer is None or case.holds(answer, repair) for answer in possible),
        )

    def needed_together(self, question: _Question, alone: Mapping[int, _Judgement]) -> frozenset[str]:
        """A minimal set of causes whose repairs together let a query pass; empty if a single one is enough."""
        ways: dict[_Cause, list[int]] = {}
        for number in alone:
            ways.setdefault(_cause_of(self.repairs[number]), []).append(number)
        if any(all(alone[number].surely for number in numbers) for numbers in ways.values()):
            return frozenset()
        causes = [cause for cause in self.causes if cause in ways]
        return frozenset(
            code for code, _ in fewest(causes, lambda some: self._clear(question, [ways[one] for one in some]))
        )

    def _clear(self, question: _Question, ways: Sequence[Sequence[int]]) -> bool:
        # It is unknown in which of several ways a finding will be repaired.
        for turn in range(max(map(len, ways), default=0)):
            numbers = tuple(numbers[turn % len(numbers)] for numbers in ways)
            if numbers not in self._joined:
                self._joined[numbers] = joined([self.repairs[number] for number in numbers])
            repair = self._joined[numbers]
            lows, highs = zip(*(self.margins[number] for number in numbers), strict=True)
            mended = Mended(question.under(repair), repair, (min(lows), max(highs)), self.rules)
            if not _all_hold(mended.answers(), question.case, repair):
                return False
        return bool(ways)


def _modes(repairs: Sequence[Repair]) -> list[SearchMode]:
    """The modes that the repairs and their combinations need."""
    known = [_NOTHING.search_mode, *(repair.search_mode for repair in repairs)]
    return [SearchMode(*mode) for mode in product(*map(set, zip(*known, strict=True)))]


def _all_hold(answers: Iterable[Answer | None], case: Case, repair: Repair) -> bool:
    return all(answer is not None and case.holds(answer, repair) for answer in answers)


def _cause_of(repair: Repair) -> _Cause:
    return repair.code, repair.scope


def _gravest_first(repairs: Iterable[Repair], findings: Iterable[Finding]) -> list[_Cause]:
    graded = {
        (finding.code, finding.scope): (SEVERITIES.index(finding.severity), -finding.count) for finding in findings
    }
    return sorted(dict.fromkeys(map(_cause_of, repairs)), key=lambda cause: graded.get(cause, (len(SEVERITIES), 0)))


def _score(vectors: Mapping[str, Vector], distance: Distance, question: Vector, text: str) -> float:
    return score_of(question, vectors[text], distance)


def _other_thresholds(repair: Repair) -> list[Repair]:
    """The repair with its thresholds as low and as high as possible: the user's choice is unknown."""
    if not repair.thresholds:
        return []
    return [replace(repair, thresholds=dict.fromkeys(repair.thresholds, bound)) for bound in (-math.inf, math.inf)]


def _result(
    repair: Repair,
    judged: Collection[tuple[str, str]],
    well: Collection[tuple[str, str]],
    findings: Sequence[Finding],
    perhaps: Collection[tuple[str, str]],
) -> WouldClear:
    subjects, good, possible = by_code(judged), by_code(well), by_code(perhaps)
    passing = subjects.pop(PASSING, frozenset())
    none = frozenset[str]()
    cleared = {code: good.get(code, none) for code in subjects}
    kept = {code: names - cleared[code] for code, names in subjects.items()}
    for finding in findings:
        if (rule := CATALOGUE.get(finding.code)) and rule.compares_results:
            made, might = (restored(finding, found) for found in (cleared, possible))
            tried = restored(finding, subjects, at_all=True)
            cleared[finding.code] = cleared.get(finding.code, none) | made
            kept[finding.code] = kept.get(finding.code, none) | tried - made
            possible[finding.code] = possible.get(finding.code, none) | might
    refuted = {code: names - possible.get(code, none) for code, names in kept.items()}
    failing = passing - possible.get(PASSING, none)
    return WouldClear(repair.code, repair.scope, cleared, kept, refuted, passing, failing)


def _is_enough(outcomes: Sequence[bool], needed: float) -> bool:
    return sum(outcomes) > needed * len(outcomes) if needed > 0 else any(outcomes)


def _margin(repair: Repair, vectors: Mapping[str, Vector], questions: Sequence[Vector], distance: Distance) -> Margin:
    """The uncertainty of the scores of a repair's chunks: all but a few errors lie within.

    Measured on correct texts rewritten in the same way, for the queries that each answers best.
    """
    if repair.compared is None:
        return 0.0, 0.0
    best = min if distance in {"Euclid", "Manhattan"} else max

    def scores(texts: Iterable[str]) -> list[float]:
        return [best(score_of(question, vectors[text], distance) for text in texts) for question in questions]

    off = []
    for pieces, stored in repair.compared:
        again, as_stored = scores(pieces), scores(stored)
        order = sorted(range(len(again)), key=again.__getitem__, reverse=best is max)
        off += [as_stored[number] - again[number] for number in order[:_NEAREST]]
    if not off:
        return -math.inf, math.inf
    low, high = np.quantile(off, [FEW, 1 - FEW]).tolist()
    return min(0.0, low), max(0.0, high)
