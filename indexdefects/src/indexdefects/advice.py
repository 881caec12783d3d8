"""Carry out a tool's advice on a copy of the points, and compare what is left with the right index."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from indexdefects.addresses import folded
from indexdefects.points import Point, get, put

#: What advice can hold, in the order in which it is carried out.
STEPS = ("delete_points", "delete_pages", "reingest_pages", "delete_points_after")


@dataclass(frozen=True)
class Outcome:
    """What carrying out the advice led to.

    Attributes:
        advised: Whether there was anything to carry out.
        removed: Whether the index is right afterwards.
        wrong: Wrong, surplus and missing points before and after.
        lost: Right passages that stood in the index before and do not afterwards.
    """

    advised: bool
    removed: bool
    wrong: tuple[int, int]
    lost: int


def carry_out(
    advice: Mapping[str, Sequence[str]] | None,
    points: Sequence[Point],
    right: Sequence[Point],
    text: str,
    url: str,
    ids: Sequence[str] = (),
) -> Outcome:
    """Carry out ``advice``: ids to delete, pages to delete, pages to ingest again, ids to delete after that.

    A page is ingested again by an ingestion that is right: it deletes the page's points and stores the right ones.
    These overwrite points with the same ids.
    ``text`` and ``url`` are paths of the payload, ``ids`` those that repeat the point's id.
    """
    advice = {step: list((advice or {}).get(step, ())) for step in STEPS}
    before = list(points)
    after = _without(before, advice["delete_points"])
    gone = {stored_spelling(page) for page in advice["delete_pages"]}
    after = [point for point in after if stored_spelling(_url(point, url)) not in gone]
    again = {folded(page) for page in advice["reingest_pages"]}
    # Points of a development host have the page's path too: an ingestion of the site does not know them.
    hosts = {_url(point, url).split("/")[2] for point in right if "://" in _url(point, url)}
    kept = [point for point in after if not (folded(_url(point, url)) in again and _host(_url(point, url)) in hosts)]
    written = {point.id: point for point in right if folded(_url(point, url)) in again}
    # A point with an id that is written again is overwritten, wherever it stood.
    after = [point for point in kept if point.id not in written] + [*written.values()]
    after = _without(after, advice["delete_points_after"])
    wrong = _wrong(before, right, ids), _wrong(after, right, ids)
    passages = {_passage(point, text, url) for point in right}
    lost = passages & {_passage(point, text, url) for point in before}
    lost -= {_passage(point, text, url) for point in after}
    return Outcome(any(advice.values()), wrong[1] == 0, wrong, len(lost))


def stored_spelling(url: str) -> str:
    """An address as it is stored: a page to delete names exactly one spelling."""
    return url.strip()


def _host(url: str) -> str:
    return url.split("/")[2] if "://" in url else ""


def _without(points: Sequence[Point], ids: Sequence[str]) -> list[Point]:
    gone = set(ids)
    return [point for point in points if point.id not in gone]


def _url(point: Point, path: str) -> str:
    return str(get(point.payload, path) or "")


def _passage(point: Point, text: str, url: str) -> tuple[str, str]:
    # Blanks and marks alone are no text that can be lost.
    return folded(_url(point, url)), "".join(filter(str.isalnum, str(get(point.payload, text) or "")))


def _content(point: Point, ids: Sequence[str]) -> tuple[object, ...]:
    """What makes two points equal: payload and vectors, not the id."""
    point = point.copy()
    for path in ids:
        put(point.payload, path, None, drop=True)
    vector = np.round(point.vector.astype(np.float64), 3) + 0.0
    words = (
        None if point.sparse is None else tuple((each, round(point.sparse[each], 3)) for each in sorted(point.sparse))
    )
    return json.dumps(point.payload, ensure_ascii=False, sort_keys=True), vector.tobytes(), words


def _wrong(points: Sequence[Point], right: Sequence[Point], ids: Sequence[str]) -> int:
    have, want = (Counter(_content(point, ids) for point in each) for each in (points, right))
    return (have - want).total() + (want - have).total()
