"""The hits of one query after a repair."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.facts import Distance
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.validation.repair.cases import Case
from ragval_pipeline.validation.repair.repair import Chunk, Repair
from ragval_pipeline.validation.retrieval.conditions import Rules
from ragval_pipeline.validation.thresholds import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Asked:
    """A query with its hits.

    Attributes:
        case: The case.
        hits: The hits, best first.
        cut: Whether there may be more hits.
        score: Maps a text to its score for this query.
    """

    case: Case
    hits: Sequence[Hit]
    cut: bool
    score: Callable[[str], float]


class Mended:
    """The results of one query after a repair; None: the search was not deep enough.

    Args:
        asked: The query.
        repair: The repair.
        margin: Uncertainty of the scores of rewritten points, down and up.
        rules: How hits are read.
    """

    def __init__(self, asked: Asked, repair: Repair, margin: tuple[float, float], rules: Rules) -> None:
        self._fields = fields = {**rules.read.fields, **repair.paths}
        self._higher = rules.higher_is_better
        gone = repair.replaced
        self._case, self._repair, self._cut = asked.case, repair, asked.cut
        self._left = [
            replace(hit, payload={**hit.payload, **_payload(repair.values[hit.id], fields)})
            if hit.id in repair.values
            else hit
            for hit in asked.hits
            if hit.id not in gone
            and not (repair.editions and repair.hides(rules.read.page(hit.payload), asked.case.pages))
        ]
        self._worst = asked.hits[-1].score if self._cut else (-math.inf if self._higher else math.inf)
        self._written = [
            Hit(0, chunk.id, asked.score(chunk.embedded), _payload({**chunk.values, "text": chunk.text}, fields))
            for chunk in repair.chunks
        ]
        # Scores that are equal up to rounding may be in any order.
        self._low, self._high = margin[0] - ROUNDING, margin[1] + ROUNDING

    def answers(self) -> list[Answer | None]:
        """Results with unchanged, lowest and highest scores of the written points."""
        shifts = dict.fromkeys((0.0, self._low, self._high) if self._written else (0.0,))
        return [self._answer([shift] * len(self._written)) for shift in shifts]

    def best_for_a_page(self) -> Iterator[Answer | None]:
        """Results with one right page scored highest and the others lowest: each is rewritten separately."""
        worse, better = (self._low, self._high) if self._higher else (self._high, self._low)
        pages = [chunk.values.get("source_url") for chunk in self._repair.chunks]
        for page in dict.fromkeys(pages):
            shifts = [better if other == page else worse for other in pages]
            own = [hit for hit, other in zip(self._written, pages, strict=True) if other == page]
            best = (max if self._higher else min)(own, key=lambda hit: hit.score)
            if self._case.holds(
                answer_of(self._case, [replace(best, rank=1, score=best.score + better)]), self._repair
            ):
                yield self._answer(shifts)

    def with_whole_pages(self, answer: Answer) -> Answer:
        """The result with all added text of a page in each of its added hits: it is uncertain where they are cut."""
        text = self._fields.get("text", "")
        unsure = {chunk.id: chunk for chunk in self._repair.chunks if chunk.is_new and not chunk.is_sure}
        whole = {url: "\n".join(texts) for url, texts in _texts_by_page(unsure.values()).items()}
        hits = tuple(
            replace(hit, payload={**hit.payload, text: whole[unsure[hit.id].values.get("source_url")]})
            if hit.id in unsure
            else hit
            for hit in answer.hits
        )
        return replace(answer, hits=hits)

    def _answer(self, shifts: Sequence[float]) -> Answer | None:
        # Unseen points may score better than those below the worst hit.
        moved = [
            hit if chunk.is_sure else replace(hit, score=hit.score + shift)
            for hit, chunk, shift in zip(self._written, self._repair.chunks, shifts, strict=True)
        ]
        kept = (hit for hit in moved if (hit.score >= self._worst if self._higher else hit.score <= self._worst))
        merged = sorted([*self._left, *kept], key=lambda hit: -hit.score if self._higher else hit.score)
        if self._cut and len(merged) < self._case.top_k:
            return None
        return answer_of(self._case, [replace(hit, rank=rank) for rank, hit in enumerate(merged, 1)])


def answer_of(case: Case, hits: Sequence[Hit]) -> Answer:
    """The result of the hits, cut at the case's top_k."""
    return Answer(case.subject, tuple(hits[: case.top_k]), tuple(hits[case.top_k :]))


def _texts_by_page(chunks: Iterable[Chunk]) -> dict[Any, list[str]]:
    texts: dict[Any, list[str]] = {}
    for chunk in chunks:
        texts.setdefault(chunk.values.get("source_url"), []).append(chunk.text)
    return texts


def _payload(values: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    return {fields[name]: value for name, value in values.items() if name in fields}


def score_of(one: Vector, two: Vector, distance: Distance) -> float:
    """The score of two vectors in a collection with this distance."""
    if distance == "Cosine":
        lengths = float(np.linalg.norm(one) * np.linalg.norm(two))
        return float(one @ two) / lengths if lengths else 0.0
    if distance == "Dot":
        return float(one @ two)
    return float(np.abs(one - two).sum() if distance == "Manhattan" else np.linalg.norm(one - two))
