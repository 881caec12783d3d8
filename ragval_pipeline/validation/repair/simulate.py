"""Judging the queries concerned again, over their hits with a repair made in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.graph import can_follow
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.facts import Distance
from ragval_pipeline.sources.stores.qdrant.points import Hit
from ragval_pipeline.validation.repair.cases import JUDGED, PASSING, QUERIES, Case
from ragval_pipeline.validation.repair.repair import Repair
from ragval_pipeline.validation.retrieval.settings import RetrievalSettings
from ragval_pipeline.validation.thresholds import MOST, ROUNDING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_WEAK = "query.weak_oracle"
#: What is seen in answers is a cause of other answers, and never of its own kind: a hub darkens pages, not they it.
_EXPLAINS = {
    "retrieval.dark_page": QUERIES,
    "retrieval.hub_chunk": QUERIES | {"retrieval.dark_page", "retrieval.crowded_top_k"},
    "query.dead_target": QUERIES,
    "query.threshold_unfit": QUERIES,
}
#: Points that a search goes deeper at most to make up for those that a repair takes out.
DEEPEST = 2000  # work
#: The same where a query passes that a repair may make fail.
_DEEP_FOR_PASSING = 100  # work
#: Questions of each text that is compared.
_NEAREST = 3  # work

_NOTHING = Repair(PASSING)

Links = Mapping[str, Mapping[str, frozenset[str]]]


@dataclass(frozen=True)
class WouldClear:
    """What the repair of one cause would clear, found by simulating it.

    Attributes:
        code: Of the cause.
        scope: Of the cause.
        cleared: Subjects that would be well, by the code of their finding; only findings that were judged again.
        kept: Subjects that would not, or not surely, of those that were judged again.
        refuted: Those of them that surely would not.
        passing: Queries that pass as the index is, of those that were asked again.
        failing: Those of them that surely would fail.
    """

    code: str
    scope: str | None
    cleared: Mapping[str, frozenset[str]]
    kept: Mapping[str, frozenset[str]]
    refuted: Mapping[str, frozenset[str]] = field(default_factory=dict)
    passing: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()

    def without(self, kept: Mapping[str, frozenset[str]]) -> WouldClear:
        """The same, with subjects that another repair of the same finding, or that of its root, would not clear."""
        codes = self.cleared.keys() | self.kept.keys()
        none = frozenset[str]()
        cleared = {code: self.cleared.get(code, none) - kept.get(code, none) for code in codes}
        tried = {code: self.cleared.get(code, none) | self.kept.get(code, none) for code in codes}
        return replace(self, cleared=cleared, kept={code: tried[code] - cleared[code] for code in codes})

    def and_also(self, other: WouldClear) -> WouldClear:
        """What both ways to repair the same finding have in common."""
        none = frozenset[str]()
        both = {code: names & other.refuted.get(code, none) for code, names in self.refuted.items()}
        return replace(self.without(other.kept), refuted=both, failing=self.failing & other.failing)


@dataclass(frozen=True)
class Simulated:
    """All repairs that were tried.

    Attributes:
        results: One for each repair, in the order of the findings.
        left_out: Causes that have a repair and were not simulated, with the reason.
        too_large: Those of them whose repair is too much to try: nothing else speaks against it.
    """

    results: tuple[WouldClear, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    too_large: frozenset[str] = frozenset()

    @property
    def links(self) -> Links:
        """Codes of the causes by finding code and subject; subjects that no repair clears are left out."""
        return _by_subject((result.code, result.cleared) for result in self.results)

    @property
    def refuted(self) -> Links:
        """The same for causes whose repair surely does not clear it."""
        return _by_subject((result.code, result.refuted) for result in self.results)

    def below_roots(self, findings: Iterable[Finding]) -> Simulated:
        """The same without what a repair clears that is only tried because of a cause whose own repair does not."""
        roots = {(finding.code, finding.scope): finding.because for finding in findings}
        results = []
        for result in self.results:
            root = roots.get((result.code, result.scope))
            above = (other.kept for other in self.results if other.code == root)
            results.append(reduce(WouldClear.without, above, result))
        return replace(self, results=tuple(results))


def _by_subject(results: Iterable[tuple[str, Mapping[str, frozenset[str]]]]) -> Links:
    found: dict[str, dict[str, frozenset[str]]] = {}
    for cause, subjects in results:
        for code, names in subjects.items():
            for name in names:
                causes = found.setdefault(code, {})
                causes[name] = causes.get(name, frozenset()) | {cause}
    return found


def with_would_clear(findings: Sequence[Finding], simulated: Simulated) -> list[Finding]:
    """The findings, each with what its repair would change.

    ``details.would_clear`` maps a code to cleared and of, ``details.would_fail`` names the queries that pass and no
    longer would, with of how many; it is left out when there are none.
    """
    results = {(result.code, result.scope): result for result in simulated.results}
    return [
        finding.model_copy(update={"details": {**finding.details, **_told(result)}})
        if (result := results.get((finding.code, finding.scope))) is not None
        else finding
        for finding in findings
    ]


def _told(result: WouldClear) -> dict[str, Any]:
    cleared = {
        code: {"cleared": sorted(names), "of": len(names) + len(result.kept[code])}
        for code, names in result.cleared.items()
        if names
    }
    failing = {"failing": sorted(result.failing), "of": len(result.passing)}
    return {"would_clear": cleared, **({"would_fail": failing} if result.failing else {})}


def simulate(
    repairs: Sequence[Repair],
    cases: Sequence[Case],
    findings: Sequence[Finding],
    *,
    vectors: Mapping[str, Vector],
    questions: Sequence[Vector] = (),
    search: Callable[[Sequence[tuple[str, int]], bool], Iterable[tuple[Vector, list[Hit]]]],
    settings: RetrievalSettings,
    left_out: Mapping[str, str] | None = None,
    met_by_chance: Callable[[Repair], Collection[str]] = lambda _: (),
) -> Simulated:
    """What each repair would clear.

    Args:
        repairs: What is tried; the texts of their chunks are in ``vectors``.
        cases: What is judged again; one search each, and one more where a repair makes searches exact.
        findings: All findings of the run.
        vectors: Vector of each text, as documents are embedded.
        questions: Vectors of what is asked.
        search: From questions, each with a number of hits, and whether to search exactly to the vector and the hits of
            each, in their order.
        settings: What the suite asks of retrieval.
        left_out: Causes whose repair is too large to be tried, with the reason.
        met_by_chance: From a repair to the queries that chance still passes once it is made.
    """
    weak = {entry.name for finding in findings if finding.code == _WEAK for entry in finding.subjects}
    deeper = min(DEEPEST, max((len(repair.replaced) for repair in repairs), default=0))
    depths = {case.code: min(deeper, _DEEP_FOR_PASSING) if case.code == PASSING else deeper for case in cases}
    asked = [(case.text, case.top_k + depths[case.code]) for case in cases]
    margins = [_margin(repair, vectors, questions, settings.distance) for repair in repairs]
    judged: list[dict[tuple[str, str], list[_Judgement]]] = [{} for _ in repairs]
    exactly: Iterable[tuple[Any, list[Hit]]] = repeat((None, []))
    if any(repair.exact for repair in repairs):
        exactly = search(asked, True)
    for case, (_, limit), (vector, hits), (_, exact) in zip(cases, asked, search(asked, False), exactly, strict=False):
        cut = len(hits) == limit
        if case.code == PASSING and not case.holds(_answer(case, hits), _NOTHING):
            continue
        for repair, margin, judgements in zip(repairs, margins, judged, strict=True):
            if not _is_tried_on(repair, case):
                continue
            base = exact if repair.exact else hits
            mended = _Mended(case, repair, vector, base, vectors, settings, cut=cut, margin=margin)
            judgements.setdefault((case.code, case.subject), []).append(_judge(case, repair, mended))
    needed = {(case.code, case.subject): case.needed for case in cases}
    results: dict[tuple[str, str | None], WouldClear] = {}
    for repair, judgements in zip(repairs, judged, strict=True):
        well = {key for key, found in judgements.items() if _is_enough([one.surely for one in found], needed[key])}
        perhaps = {key for key, found in judgements.items() if _is_enough([one.perhaps for one in found], needed[key])}
        tried = set(judgements)
        # Of fields that are read elsewhere it is not known what they hold.
        if weak and can_follow(_WEAK, repair.code) and not repair.paths:
            still = weak.intersection(met_by_chance(repair))
            tried |= {(_WEAK, name) for name in weak}
            well |= {(_WEAK, name) for name in weak - still}
        result = _result(repair, tried, well, findings, perhaps)
        # Which of several ways a finding is repaired in is not known.
        known = results.get((repair.code, repair.scope), result)
        results[repair.code, repair.scope] = known.and_also(result)
    return Simulated(tuple(results.values()), dict(left_out or {}), frozenset(left_out or ()))


@dataclass(frozen=True)
class _Judgement:
    """Whether an answer is as it should be in every way that a repair may be made in, and in any."""

    surely: bool
    perhaps: bool


def _is_tried_on(repair: Repair, case: Case) -> bool:
    """Whether a repair can change what the question of a case finds, and the cause is not what is seen there."""
    return case.code == PASSING or (case.code in _EXPLAINS.get(repair.code, JUDGED) and case.code != repair.code)


def _judge(case: Case, repair: Repair, mended: _Mended) -> _Judgement:
    """The judgement of the answers that a repair may lead to."""
    answers = mended.answers()
    other = [answers[0] is None or case.holds(answers[0], way) for way in _other_thresholds(repair)]
    open_ = any(answer and not repair.unknown.isdisjoint(hit.id for hit in answer.hits) for answer in answers)
    possible = chain(answers, mended.best_for_a_page())
    return _Judgement(
        surely=all(answer is not None and case.holds(answer, repair) for answer in answers),
        perhaps=open_ or any(other) or any(answer is None or case.holds(answer, repair) for answer in possible),
    )


def _other_thresholds(repair: Repair) -> list[Repair]:
    """The repair with its thresholds as low and as high as can be: which one a person takes is not known."""
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
    subjects, good, possible = _by_code(judged), _by_code(well), _by_code(perhaps)
    passing = subjects.pop(PASSING, frozenset())
    none = frozenset[str]()
    cleared = {code: good.get(code, none) for code in subjects}
    kept = {code: names - cleared[code] for code, names in subjects.items()}
    queries = frozenset[str]().union(*(names for code, names in cleared.items() if code in QUERIES))
    if not QUERIES.isdisjoint(cleared):
        failed = {entry.name for finding in findings if finding.code in QUERIES for entry in finding.subjects}
        for finding in findings:
            if finding.code.startswith("regression.") and finding.code in JUDGED:
                names = frozenset(
                    entry.name for entry in finding.subjects if _is_made_good(finding, entry, failed, queries)
                )
                others = frozenset(entry.name for entry in finding.subjects) - names
                cleared[finding.code] = cleared.get(finding.code, none) | names
                kept[finding.code] = kept.get(finding.code, none) | others
    refuted = {code: names - possible.get(code, none) for code, names in kept.items()}
    failing = passing - possible.get(PASSING, none)
    return WouldClear(repair.code, repair.scope, cleared, kept, refuted, passing, failing)


def _by_code(keys: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for code, name in keys:
        found.setdefault(code, set()).add(name)
    return {code: frozenset(names) for code, names in found.items()}


def _is_made_good(finding: Finding, subject: Any, failed: Collection[str], cleared: Collection[str]) -> bool:
    """Whether a lost query passes again, or all that pull a metric down and fail do, where these are most of them.

    Some that pull it down may pass, with what they expect at a lower rank.
    """
    if finding.code == "regression.query_lost":
        return subject.name in cleared
    lower = set(subject.details.get("queries", ()))
    good = lower.intersection(cleared)
    return lower.intersection(failed) == good and len(good) > MOST * len(lower)


def _is_enough(outcomes: Sequence[bool], needed: float) -> bool:
    return sum(outcomes) > needed * len(outcomes) if needed > 0 else any(outcomes)


def _margin(
    repair: Repair, vectors: Mapping[str, Vector], questions: Sequence[Vector], distance: Distance
) -> tuple[float, float]:
    """By how much the scores of a repair's chunks may have to be lower and higher.

    As much as those of right texts that are rewritten like them, of each the questions count that it answers best.
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
    return (min(0.0, *off), max(0.0, *off)) if off else (-math.inf, math.inf)


class _Mended:
    """The answers to one question with a repair made in its hits; None: the search was not deep enough to know one.

    Args:
        cut: Whether there may be more hits than were searched for.
        margin: By how much the scores of what the repair writes may have to be lower and higher.
    """

    def __init__(
        self,
        case: Case,
        repair: Repair,
        vector: Vector,
        hits: Sequence[Hit],
        vectors: Mapping[str, Vector],
        settings: RetrievalSettings,
        *,
        cut: bool,
        margin: tuple[float, float],
    ) -> None:
        read, self._higher = settings.rules.read, settings.rules.higher_is_better
        gone = repair.replaced
        self._case, self._repair, self._cut = case, repair, cut
        self._left = [
            replace(hit, payload={**hit.payload, **_payload(repair.values[hit.id], read.fields)})
            if hit.id in repair.values
            else hit
            for hit in hits
            if hit.id not in gone
        ]
        self._worst = hits[-1].score if cut else (-math.inf if self._higher else math.inf)
        self._written = [
            Hit(
                0,
                chunk.id,
                score_of(vector, vectors[chunk.embedded], settings.distance),
                _payload({**chunk.values, "text": chunk.text}, read.fields),
            )
            for chunk in repair.chunks
        ]
        # Of scores that are equal but for rounding any may come first.
        self._low, self._high = margin[0] - ROUNDING, margin[1] + ROUNDING

    def answers(self) -> list[Answer | None]:
        """With what is written as it is, all of it scored as low, and as high as can be."""
        shifts = dict.fromkeys((0.0, self._low, self._high) if self._written else (0.0,))
        return [self._answer([shift] * len(self._written)) for shift in shifts]

    def best_for_a_page(self) -> Iterator[Answer | None]:
        """With one page that is right scored as high as can be and the others as low: each is rewritten by itself."""
        worse, better = (self._low, self._high) if self._higher else (self._high, self._low)
        pages = [chunk.values.get("source_url") for chunk in self._repair.chunks]
        for page in dict.fromkeys(pages):
            shifts = [better if other == page else worse for other in pages]
            own = [hit for hit, other in zip(self._written, pages, strict=True) if other == page]
            best = (max if self._higher else min)(own, key=lambda hit: hit.score)
            if self._case.holds(_answer(self._case, [replace(best, rank=1, score=best.score + better)]), self._repair):
                yield self._answer(shifts)

    def _answer(self, shifts: Sequence[float]) -> Answer | None:
        # Below the worst hit seen there may be others that are better.
        moved = [replace(hit, score=hit.score + shift) for hit, shift in zip(self._written, shifts, strict=True)]
        kept = (hit for hit in moved if (hit.score >= self._worst if self._higher else hit.score <= self._worst))
        merged = sorted([*self._left, *kept], key=lambda hit: -hit.score if self._higher else hit.score)
        if self._cut and len(merged) < self._case.top_k:
            return None
        return _answer(self._case, [replace(hit, rank=rank) for rank, hit in enumerate(merged, 1)])


def _answer(case: Case, hits: Sequence[Hit]) -> Answer:
    return Answer(case.subject, tuple(hits[: case.top_k]), tuple(hits[case.top_k :]))


def _payload(values: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    return {fields[name]: value for name, value in values.items() if name in fields}


def score_of(one: Vector, two: Vector, distance: Distance) -> float:
    """The score that a collection of this distance gives two vectors of equal length."""
    import numpy as np

    if distance == "Cosine":
        lengths = float(np.linalg.norm(one) * np.linalg.norm(two))
        return float(one @ two) / lengths if lengths else 0.0
    if distance == "Dot":
        return float(one @ two)
    return float(np.abs(one - two).sum() if distance == "Manhattan" else np.linalg.norm(one - two))
