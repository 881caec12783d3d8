"""Was the whole collection embedded with the queries' model?

Among the points that are neither swapped, copied nor changed since:

- mixed: at least ``FEW`` and ``FEWEST`` of another space next to as many matching ones; or as many related ones that
  the model name separates from the rest, or that one way of embedding explains, but not the matching ones;
- mismatch: ``WHOLE`` of them mismatched, or fewer if one way of embedding explains both mismatched and matching ones;
  or any number if many more only match nearly, and one way reproduces all vectors exactly (a prefix hardly shows in
  long texts), or none does and the vectors contain other content of their pages.

Everything else is about single points.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ragval_pipeline.lazy import np
from ragval_pipeline.rules.vector.model_mismatch import Kind
from ragval_pipeline.sources.stores.qdrant.names import id_order
from ragval_pipeline.validation.thresholds import CHANCE, FEW, FEWEST, MOST, WHOLE
from ragval_pipeline.validation.vectors.partition import Label, Partition
from ragval_pipeline.validation.vectors.spaces import Strangers, chance_limit, of_their_pages
from ragval_pipeline.validation.vectors.trials import Trial

#: Snapshot columns that may explain a split.
COLUMNS = ("point_id", "page_key", "model", "embedded_at", "text_chars")

Row = Mapping[str, Any]
KINDS: Mapping[str, Kind] = {
    "added": "preprocessing", "instructed": "preprocessing", "cleaned": "preprocessing", "input_type": "input_type",
    "replaced": "preprocessing", "truncated": "truncation", "altered": "altered",
}  # fmt: skip
#: Kinds of ways that explain an index even if most points match and none of those becomes closer: they change the
#: content of a text.
_TELLING = frozenset({"added", "instructed", "replaced", "input_type", "truncated"})


@dataclass(frozen=True)
class Decision:
    """The decision about the collection from the compared points.

    Attributes:
        mismatch: Why the collection as a whole is mismatched; None if it is not.
        median: Median cosine of the mismatched points, without another model's part; None without any.
        best: The closest way of embedding, if any were tried.
        split: What separates the part of another model from the rest, from ``explain_split``.
        way: How that part was embedded, if a tried way explains it.
        compared: Points used for the decision, without another model's part.
    """

    mismatch: Kind | None = None
    median: float | None = None
    best: Trial | None = None
    split: Mapping[str, Any] | None = None
    way: Trial | None = None
    compared: int = 0


def worth_trying(points: Partition, strangers: Strangers) -> bool:
    """Whether enough mismatched vectors are related to their texts to try other ways of embedding."""
    related = len(strangers.related)
    return bool(related) and is_population(related + len(points.inexact()), _belonging(points) + len(_off(strangers)))


def decide(
    points: Partition,
    strangers: Strangers,
    trials: Sequence[Trial],
    rows: Mapping[str, Row],
    given: Callable[[Trial], Collection[int]],
) -> Decision:
    """Decide, and label the points of the patterns found.

    ``trials`` are ways of embedding, the closest first; ``rows`` have ``COLUMNS`` of the sampled points; ``given`` maps
    a way to those mismatched or nearly matching points whose vectors it reproduces.
    """
    matching, best = _belonging(points), trials[0] if trials else None
    total, split = matching + len(_off(strangers)), None
    alien, related = strangers.other_space, strangers.related
    if is_population(len(alien), total) and is_population(matching + len(related), total):
        split = explain_split(_ids(points, alien), _ids(points, _right(points), related), rows)
        points.assign(alien, Label.OTHER_MODEL)
        # The rest may also be mismatched as a whole.
        total, strangers = total - len(alien), replace(strangers, other_space=[])
    off = _off(strangers)
    if not off:
        return Decision(split=split, compared=total)
    decision = Decision(median=float(np.median(points.cosine[off])), best=best, split=split, compared=total)
    # Noise next to many right vectors is not another way of embedding.
    single = len(strangers.noise) if is_population(matching, total) else 0
    most = len(off) - single >= max(FEWEST, WHOLE * total)
    many = is_population(len(related), matching + len(_off(strangers)))
    explaining = next((trial for trial in trials if _explains_whole(trial, most=most, many=many)), None)
    if explaining is None and split is None:
        part = _part(points, related, trials, rows, given)
        places = {*related, *part.own}
        is_named = part.split is not None and part.split["by"] == "model"
        if is_population(len(places), total) and (part.way is not None or is_named):
            points.assign(places, Label.OTHER_MODEL, instead_of=(Label.MATCHING, Label.NEAR))
            return replace(decision, split=part.split, way=part.way, compared=total - len(places))
    # Old texts of single points, those that were cut, and cleaned ones, say something of their pages, too.
    of_pages = explaining is None and bool(trials) and _of_their_pages(points, related, rows, whole=not most) > MOST
    if explaining is None and not of_pages and not (most and total >= FEWEST):
        return decision
    kind = KINDS[explaining.kind] if explaining else "context" if of_pages else _kind_of(points, strangers, decision)
    # Next to texts embedded in a known way, vectors of no text are reported separately.
    limit = CHANCE / math.sqrt(points.texts.shape[1]) if explaining else -1.0
    resembling = {*strangers.related, *strangers.stray}
    points.assign(
        [place for place in points.off().tolist() if place in resembling or abs(points.cosine[place]) > limit],
        Label.MISMATCH,
    )
    return replace(decision, mismatch=kind, best=explaining or best)


@dataclass(frozen=True)
class _Part:
    """Points that one way of embedding may explain.

    Attributes:
        split: What separates them from the rest.
        way: The way; None when no way does.
        own: Those whose vectors it reproduces, which may be more than the mismatched ones.
    """

    split: Mapping[str, Any] | None = None
    way: Trial | None = None
    own: frozenset[int] = frozenset()


def _part(
    points: Partition,
    related: Sequence[int],
    trials: Sequence[Trial],
    rows: Mapping[str, Row],
    given: Callable[[Trial], Collection[int]],
) -> _Part:
    """The part of the collection formed by the related points, by the first way that explains most of them.

    Older texts are often beginnings too, but of different lengths: one way must explain most of them, unless they were
    embedded at another time than the rest.
    """
    by = explain_split(_ids(points, related), _ids(points, _right(points)), rows)
    dated = by is not None and by["by"] in {"model", "embedded_at"}
    for way in trials:
        if not way.explains or (way.keeps and not dated):
            continue
        own_words = frozenset(given(way))
        if dated or len(own_words.intersection(related)) > MOST * len(related):
            rest = [place for place in _right(points) if place not in own_words]
            return _Part(
                by or explain_split(_ids(points, [*{*related, *own_words}]), _ids(points, rest), rows), way, own_words
            )
    return _Part(by)


def _of_their_pages(points: Partition, related: Sequence[int], rows: Mapping[str, Row], *, whole: bool) -> float:
    """The share of the related points, and of those that only come close, that hold something of their pages.

    If ``whole``, these must be most of the chunks that share a page with others: a collection that was embedded within
    its pages has few others, whose vectors are those of their texts alone.
    """
    pages = [rows[name]["page_key"] if name in rows else None for name in points.ids[: points.sampled]]
    chunks = Counter(pages)
    touched = [*related, *points.inexact(with_vector=True).tolist()]
    beside = sum(chunks[pages[place]] > 1 for place in touched)
    if whole and beside <= MOST * sum(count for page, count in chunks.items() if page is not None and count > 1):
        return 0.0
    return of_their_pages(points, touched, pages)


def _kind_of(points: Partition, strangers: Strangers, decision: Decision) -> Kind:
    off, median = _off(strangers), decision.median or 0.0
    if len(strangers.noise) > MOST * len(off):
        return "noise"
    if median <= chance_limit(points.sampled, points.texts.shape[1]):
        return "another_model"
    return "preprocessing"


def _belonging(points: Partition) -> int:
    return points.count(Label.MATCHING, Label.NEAR)


def _off(strangers: Strangers) -> list[int]:
    return [*strangers.related, *strangers.other_space, *strangers.noise, *strangers.stray]


def _right(points: Partition) -> list[int]:
    return [place for place in points.places(Label.MATCHING, Label.NEAR) if place < points.sampled]


def _ids(points: Partition, *places: Sequence[int]) -> list[str]:
    return [points.ids[place] for part in places for place in part]


def _explains_whole(trial: Trial, *, most: bool, many: bool) -> bool:
    """Whether the collection was embedded in this way.

    ``most``: most points are mismatched. ``many``: more than single points are; with fewer, a way needs stronger
    evidence.
    """
    if not trial.explains:
        return False
    explains_all = trial.keeps and (trial.kind in _TELLING or trial.raises)
    return most or (explains_all and (many or trial.exact))


def is_population(count: int, total: int) -> bool:
    """Whether some points are more than exceptions among all."""
    return count >= FEWEST and count >= FEW * total


def explain_split(other: Collection[str], rest: Collection[str], rows: Mapping[str, Row]) -> dict[str, Any] | None:
    """The one attribute that separates two groups of points: the model's name, the day of embedding, or the id.

    ``rows`` have ``COLUMNS``, of all of them.

    Returns:
        ``{"by": "model" | "embedded_at" | "id", ...}`` with the values of both sides; None if nothing separates them.
    """
    by_model = _by_model(_values(other, rows, "model"), _values(rest, rows, "model"))
    if by_model is not None:
        return by_model
    by_date = _by_order(_values(other, rows, "embedded_at"), _values(rest, rows, "embedded_at"))
    if by_date is not None:
        return {"by": "embedded_at", **by_date}
    by_id = _by_order([id_order(name) for name in other], [id_order(name) for name in rest])
    if by_id is None:
        return None
    return {"by": "id", **{name: value[2] or str(value[1]) for name, value in by_id.items()}}


def usual_model(names: Collection[str], rows: Mapping[str, Row]) -> str | None:
    """The model in the payload of most of some points; None if most have none."""
    counted = Counter(rows[name]["model"] for name in names if name in rows)
    return str(counted.most_common(1)[0][0]) if counted and counted.most_common(1)[0][0] else None


def _values(ids: Collection[str], rows: Mapping[str, Row], column: str) -> list[Any]:
    values = [rows[name][column] for name in ids if name in rows]
    return [value for value in values if value] if all(values) or column == "model" else []


def _by_model(other: Sequence[str], rest: Sequence[str]) -> dict[str, Any] | None:
    if not other or not rest:
        return None
    (first, count), (second, rest_count) = Counter(other).most_common(1)[0], Counter(rest).most_common(1)[0]
    if first == second or count < (1 - FEW) * len(other) or rest_count < (1 - FEW) * len(rest):
        return None
    return {"by": "model", "other": first, "rest": second}


def _by_order(other: Sequence[Any], rest: Sequence[Any]) -> dict[str, Any] | None:
    """The value that separates the other group from the rest in sorted order."""
    if not other or not rest:
        return None
    ordered = sorted([*((value, True) for value in other), *((value, False) for value in rest)])
    seen = [0, 0]
    best: tuple[float, dict[str, Any] | None] = (0.0, None)
    for (value, is_other), (following, _) in pairwise(ordered):
        seen[is_other] += 1
        if value == following:
            continue
        before, rest_before = seen[1] / len(other), seen[0] / len(rest)
        later = min(1 - before, rest_before)
        earlier = min(before, 1 - rest_before)
        if later > max(best[0], earlier):
            best = later, {"other_from": following, "rest_until": value}
        elif earlier > best[0]:
            best = earlier, {"other_until": value, "rest_from": following}
    return best[1] if best[0] >= 1 - FEW else None
