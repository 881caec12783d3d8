"""Judging the queries concerned again, over their hits with a repair made in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import repeat
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.graph import can_follow
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.facts import Distance
from ragval_pipeline.sources.stores.qdrant.reader import Hit
from ragval_pipeline.validation.repair.cases import JUDGED, QUERIES, Case
from ragval_pipeline.validation.repair.repair import Repair
from ragval_pipeline.validation.retrieval.settings import RetrievalSettings

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

#: Questions of each text that is compared.
_NEAREST = 3  # work

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
    """

    code: str
    scope: str | None
    cleared: Mapping[str, frozenset[str]]
    kept: Mapping[str, frozenset[str]]
    refuted: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def without(self, kept: Mapping[str, frozenset[str]]) -> WouldClear:
        """The same, with subjects that another repair of the same finding, or that of its root, would not clear."""
        codes = self.cleared.keys() | self.kept.keys()
        none = frozenset[str]()
        cleared = {code: self.cleared.get(code, none) - kept.get(code, none) for code in codes}
        tried = {code: self.cleared.get(code, none) | self.kept.get(code, none) for code in codes}
        return replace(self, cleared=cleared, kept={code: tried[code] - cleared[code] for code in codes})


@dataclass(frozen=True)
class Simulated:
    """All repairs that were tried.

    Attributes:
        results: One for each repair, in the order of the findings.
        left_out: Causes that have a repair and were not simulated, with the reason.
    """

    results: tuple[WouldClear, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def links(self) -> Links:
        """Codes of the causes by finding code and subject; subjects that no repair clears are left out."""
        return _by_subject((result.code, result.cleared) for result in self.results)

    @property
    def refuted(self) -> Links:
        """The same for causes whose repair surely does not clear it."""
        return _by_subject((result.code, result.refuted) for result in self.results)

    def below_roots(self, findings: Iterable[Finding]) -> Simulated:
        """The same without what a repair clears that is only tried because of a cause whose own repair does not.

        Args:
            findings: With ``because``, which names the root of what follows.
        """
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
    """The findings, each with what its repair would clear: ``details.would_clear`` maps a code to cleared and of."""
    results = {(result.code, result.scope): result for result in simulated.results}
    return [
        finding.model_copy(update={"details": {**finding.details, "would_clear": _told(result)}})
        if (result := results.get((finding.code, finding.scope))) is not None
        else finding
        for finding in findings
    ]


def _told(result: WouldClear) -> dict[str, Any]:
    return {
        code: {"cleared": sorted(names), "of": len(names) + len(result.kept[code])}
        for code, names in result.cleared.items()
        if names
    }


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
        left_out: Causes that are not tried, with the reason.
        met_by_chance: From a repair to the queries that chance still passes once it is made.
    """
    weak = {entry.name for finding in findings if finding.code == _WEAK for entry in finding.subjects}
    deeper = min(DEEPEST, max((len(repair.replaced) for repair in repairs), default=0))
    held: dict[tuple[int, str, str], list[bool]] = {}
    perhaps: dict[tuple[int, str, str], list[bool]] = {}
    needed = {(case.code, case.subject): case.needed for case in cases}
    asked = [(case.text, case.top_k + deeper) for case in cases]
    margins = [_margin(repair, vectors, questions, settings.distance) for repair in repairs]
    exactly: Iterable[tuple[Any, list[Hit]]] = repeat((None, []))
    if any(repair.exact for repair in repairs):
        exactly = search(asked, True)
    for case, (_, limit), (vector, hits), (_, exact) in zip(cases, asked, search(asked, False), exactly, strict=False):
        cut = len(hits) == limit
        for number, repair in enumerate(repairs):
            if case.code not in _EXPLAINS.get(repair.code, JUDGED) or case.code == repair.code:
                continue
            base = exact if repair.exact else hits
            answers = [
                _mended(case, repair, vector, base, vectors, settings, cut=cut, shift=shift)
                for shift in dict.fromkeys((0.0, -margins[number], margins[number]))
            ]
            outcomes = [_holds(case, answer, repair) for answer in answers]
            held.setdefault((number, case.code, case.subject), []).append(all(outcomes))
            outcomes += [_holds(case, answers[0], other) for other in _other_thresholds(repair)]
            perhaps.setdefault((number, case.code, case.subject), []).append(any(outcomes))
    results: dict[tuple[str, str | None], WouldClear] = {}
    for number, repair in enumerate(repairs):
        judged = {key[1:]: outcomes for key, outcomes in held.items() if key[0] == number}
        well = {key for key, outcomes in judged.items() if _is_enough(outcomes, needed[key])}
        # Of fields that are read elsewhere it is not known what they hold.
        if weak and can_follow(_WEAK, repair.code) and not repair.paths:
            still = weak.intersection(met_by_chance(repair))
            judged |= {(_WEAK, name): [] for name in weak}
            well |= {(_WEAK, name) for name in weak - still}
        unsure = {
            key[1:] for key, outcomes in perhaps.items() if key[0] == number and _is_enough(outcomes, needed[key[1:]])
        }
        result = _result(repair, set(judged), well, findings, unsure)
        # Which of several ways a finding is repaired in is not known.
        known = results.get((repair.code, repair.scope), result)
        both = {code: names & result.refuted.get(code, frozenset()) for code, names in known.refuted.items()}
        results[repair.code, repair.scope] = replace(known.without(result.kept), refuted=both)
    return Simulated(tuple(results.values()), dict(left_out or {}))


def _holds(case: Case, answer: Answer | None, repair: Repair) -> bool:
    return answer is not None and case.holds(answer, repair)


def _other_thresholds(repair: Repair) -> list[Repair]:
    """The repair with its thresholds as low and as high as can be: which one a person takes is not known."""
    if not repair.thresholds:
        return []
    return [replace(repair, thresholds=dict.fromkeys(repair.thresholds, bound)) for bound in (-math.inf, math.inf)]


def _result(
    repair: Repair,
    judged: set[tuple[str, str]],
    well: set[tuple[str, str]],
    findings: Sequence[Finding],
    unsure: set[tuple[str, str]],
) -> WouldClear:
    queries = {name for code, name in well if code in QUERIES}
    cleared = {code: frozenset(name for other, name in well if other == code) for code, _ in judged}
    kept = {code: frozenset(name for other, name in judged - well if other == code) for code, _ in judged}
    if not QUERIES.isdisjoint(cleared):
        for finding in findings:
            if finding.code.startswith("regression.") and finding.code in JUDGED:
                names = frozenset(entry.name for entry in finding.subjects if _is_made_good(finding, entry, queries))
                others = frozenset(entry.name for entry in finding.subjects) - names
                cleared[finding.code] = cleared.get(finding.code, frozenset()) | names
                kept[finding.code] = kept.get(finding.code, frozenset()) | others
    perhaps = {code: frozenset(name for other, name in unsure if other == code) for code in kept}
    refuted = {code: names - perhaps[code] for code, names in kept.items()}
    return WouldClear(repair.code, repair.scope, cleared, kept, refuted)


def _is_made_good(finding: Finding, subject: Any, queries: Collection[str]) -> bool:
    """Whether a lost query passes again, or every query that pulls a metric down does."""
    if finding.code == "regression.query_lost":
        return subject.name in queries
    lower = subject.details.get("queries", ())
    return bool(lower) and set(lower) <= set(queries)


def _is_enough(outcomes: Sequence[bool], needed: float) -> bool:
    return sum(outcomes) > needed * len(outcomes) if needed > 0 else any(outcomes)


def _margin(repair: Repair, vectors: Mapping[str, Vector], questions: Sequence[Vector], distance: Distance) -> float:
    """How far the scores of a repair's chunks may be off: as far as those of right texts that are rewritten like them.

    Of each text the questions count that it answers best.
    """
    if repair.compared is None:
        return 0.0
    best = min if distance in {"Euclid", "Manhattan"} else max
    off = []
    for pieces, stored in repair.compared:
        scores = [score_of(question, vectors[stored], distance) for question in questions]
        order = sorted(range(len(scores)), key=scores.__getitem__, reverse=best is max)
        for number in order[:_NEAREST]:
            again = best(score_of(questions[number], vectors[piece], distance) for piece in pieces)
            off.append(abs(again - scores[number]))
    return max(off, default=math.inf)


def _mended(
    case: Case,
    repair: Repair,
    vector: Vector,
    hits: Sequence[Hit],
    vectors: Mapping[str, Vector],
    settings: RetrievalSettings,
    *,
    cut: bool,
    shift: float,
) -> Answer | None:
    """The answer with the repair made in its hits; None when the search was not deep enough to know it."""
    read, higher = settings.rules.read, settings.rules.higher_is_better
    gone = repair.replaced
    merged = [
        replace(hit, payload={**hit.payload, **_payload(repair.values[hit.id], read.fields)})
        if hit.id in repair.values
        else hit
        for hit in hits
        if hit.id not in gone
    ]
    worst = hits[-1].score if cut else (-math.inf if higher else math.inf)
    for chunk in repair.chunks:
        score = score_of(vector, vectors[chunk.embedded], settings.distance) + shift
        # Below the worst hit seen there may be others that are better.
        if score >= worst if higher else score <= worst:
            payload = _payload({**chunk.values, "text": chunk.text}, read.fields)
            merged.append(Hit(0, chunk.id, score, payload))
    merged.sort(key=lambda hit: -hit.score if higher else hit.score)
    if cut and len(merged) < case.top_k:
        return None
    ranked = [replace(hit, rank=rank) for rank, hit in enumerate(merged, 1)]
    return Answer(case.subject, tuple(ranked[: case.top_k]), tuple(ranked[case.top_k :]))


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
