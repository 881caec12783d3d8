"""Defects made by changing points, as a script, a migration or a failed write leaves them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from indexdefects.defects.ingestion import give_tenants
from indexdefects.defects.registry import family
from indexdefects.draft import Draft, NotHereError
from indexdefects.embed import embed
from indexdefects.points import Point, point_id

_ZERO_WIDTH = "\u200b"


def _ids(points: Iterable[Point]) -> list[str]:
    return [point.id for point in points]


@family("edit", "source", "page")
def page_deleted(draft: Draft) -> Iterable[str]:
    """All points of a page are gone."""
    urls = [draft.url(page) for page in draft.some_pages()]
    draft.points = draft.without(draft.of(urls))
    return urls


@family("edit", "source", "page")
def middle_lost(draft: Draft) -> Iterable[str]:
    """A passage in the middle of a page has no point."""
    by_url: dict[str, list[Point]] = {}
    for point in draft.points:
        by_url.setdefault(draft.url_of(point), []).append(point)
    urls = draft.some([url for url, points in by_url.items() if len(points) >= 4])
    # Two neighbours go, so that no overlap keeps what was between them.
    lost = [point for url in urls for point in _middle(by_url[url])]
    draft.points = draft.without(lost)
    return urls


def _middle(points: list[Point]) -> list[Point]:
    return points[len(points) // 2 - 1 : len(points) // 2 + 1]


@family("edit", "index", "point")
def vector_zero(draft: Draft) -> Iterable[str]:
    """The stored vector is zero."""
    points = draft.some_points()
    for point in points:
        point.vector = np.zeros_like(point.vector)
    return _ids(points)


@family("edit", "embedder", "point")
def vector_swapped(draft: Draft) -> Iterable[str]:
    """Two points hold each other's vector."""
    points = draft.some_points(draft.distinct())
    pairs = list(zip(points[::2], points[1::2], strict=False)) or [(points[0], _other(draft, points[0]))]
    for one, two in pairs:
        one.vector, two.vector = two.vector, one.vector
    return _ids(point for pair in pairs for point in pair)


def _other(draft: Draft, point: Point) -> Point:
    distinct = draft.distinct()
    candidates = [other for other in draft.points if other is not point and distinct(other)]
    if not candidates:
        raise NotHereError
    return draft.rng.choice(candidates)


@family("edit", "embedder", "point")
def vector_noise(draft: Draft) -> Iterable[str]:
    """The stored vector is random numbers."""
    points = draft.some_points()
    numbers = np.random.default_rng(draft.rng.randrange(2**32))
    for point in points:
        noise = numbers.standard_normal(point.vector.shape)
        point.vector = (noise / np.linalg.norm(noise)).astype(np.float32)
    return _ids(points)


@family("edit", "index", "point")
def vector_copied(draft: Draft) -> Iterable[str]:
    """The vector of one point was written to others, whose texts differ."""
    points = draft.some_points(draft.distinct())
    donor = _other(draft, points[0])
    points = [point for point in points if point is not donor]
    for point in points:
        point.vector = donor.vector.copy()
    draft.also = {donor.id}
    return _ids(points)


@family("edit", "index", "point")
def point_copied(draft: Draft) -> Iterable[str]:
    """A point is stored again under another id."""
    originals = draft.some_points(draft.distinct())
    copies = [point.copy(id=point_id("copy", point.id)) for point in originals]
    draft.also = set(_ids(originals))
    draft.points += copies
    return _ids(copies)


@family("edit", "index", "point")
def url_dropped(draft: Draft) -> Iterable[str]:
    """The payload names no page."""
    points = draft.some_points()
    for point in points:
        draft.recipe.shape.drop(point, draft.recipe.shape.url)
    return _ids(points)


@family("edit", "index", "point")
def text_emptied(draft: Draft) -> Iterable[str]:
    """The stored text is empty."""
    points = draft.some_points()
    for point in points:
        draft.recipe.shape.set(point, draft.recipe.shape.text, "")
    return _ids(points)


@family("edit", "source", "point")
def text_of_another_page(draft: Draft) -> Iterable[str]:
    """The text, with its vector, is that of a point of another page."""
    points = draft.some_points(draft.distinct())
    chosen = {point.id for point in points}
    shape = draft.recipe.shape
    for point in points:
        distinct = draft.distinct()
        others = [other for other in draft.points if other.id not in chosen and distinct(other)]
        others = [other for other in others if draft.url_of(other) != draft.url_of(point)]
        if not others:
            raise NotHereError
        other = draft.rng.choice(others)
        shape.set(point, shape.text, draft.text(other))
        point.vector, point.embedded = other.vector.copy(), other.embedded
    return _ids(points)


@family("edit", "source", "point")
def words_changed(draft: Draft) -> Iterable[str]:
    """A fifth of the words are others than those of the page, and the vector is that of the new text."""
    distinct = draft.distinct()
    points = draft.some_points(lambda point: len(draft.text(point).split()) >= 15 and distinct(point))
    words = sorted({word for point in draft.points for word in draft.text(point).split() if word.isalpha()})
    for point in points:
        draft.store_texts([point], ["".join(_changed(draft, draft.text(point), words))])
    return _ids(points)


def _changed(draft: Draft, text: str, words: list[str]) -> Iterator[str]:
    parts = re.split(r"(\s+)", text)
    places = [place for place, part in enumerate(parts) if part.isalpha()]
    chosen = set(draft.rng.sample(places, max(1, min(len(places), len(parts) // 10))) if places else [])
    for place, part in enumerate(parts):
        yield draft.rng.choice(words) if place in chosen else part


@family("edit", "embedder", "point")
def vector_of_older_text(draft: Draft) -> Iterable[str]:
    """The vector is that of an older text of the point: the text was corrected, the vector was kept."""
    distinct = draft.distinct()
    points = draft.some_points(lambda point: len(draft.text(point).split()) >= 15 and distinct(point))
    words = sorted({word for point in draft.points for word in draft.text(point).split() if word.isalpha()})
    for point in points:
        half = draft.text(point).split()
        draft.rng.shuffle(words)
        point.vector = embed([" ".join([*half[: len(half) // 3], *words[: len(half)]])])[0]
    return _ids(points)


@family("edit", "index", "point")
def zero_width(draft: Draft) -> Iterable[str]:
    """Zero-width blanks stand within the words of the stored text."""
    points = draft.some_points(lambda point: len(draft.text(point).split()) >= 8)
    texts = [re.sub(r"(\w{3})(?=\w{2})", rf"\1{_ZERO_WIDTH}", draft.text(point)) for point in points]
    draft.store_texts(points, texts)
    return _ids(point for point in points if _ZERO_WIDTH in draft.text(point))


@family("edit", "source", "point")
def url_of_another_page(draft: Draft) -> Iterable[str]:
    """The point is stored under the address of another page."""
    points = draft.some_points(draft.distinct())
    urls = [draft.url(page) for page in draft.pages]
    for point in points:
        url = draft.rng.choice([url for url in urls if url != draft.url_of(point)])
        draft.recipe.shape.set(point, draft.recipe.shape.url, url)
    return _ids(points)


@family("edit", "source", "page")
def order_shuffled(draft: Draft) -> Iterable[str]:
    """The positions of a page's chunks are in another order than its text."""
    shape = draft.recipe.shape
    if not shape.index:
        raise NotHereError
    by_url: dict[str, list[Point]] = {}
    for point in draft.points:
        by_url.setdefault(draft.url_of(point), []).append(point)
    urls = draft.some([url for url, points in by_url.items() if len(points) >= 4])
    for url in urls:
        order = list(range(len(by_url[url])))
        while order == sorted(order):
            draft.rng.shuffle(order)
        for point, position in zip(by_url[url], order, strict=True):
            shape.set(point, shape.index, position)
    return urls


@family("edit", "index", "point")
def tenant_dropped(draft: Draft) -> Iterable[str]:
    """Two tenants have pages of their own: some points lost their tag."""
    field = give_tenants(draft)
    points = draft.some_points()
    for point in points:
        draft.recipe.shape.drop(point, [field])
    return _ids(points)


@family("edit", "embedder", "point")
def sparse_of_another_text(draft: Draft) -> Iterable[str]:
    """A collection for hybrid search: some points hold the sparse vector of another point's text."""
    draft.give_sparse()
    distinct = draft.distinct()
    points = draft.some_points(distinct)
    donors = [*points[1:], points[0]] if len(points) > 1 else [_other(draft, points[0])]
    for point, words in zip(points, [dict(donor.sparse or {}) for donor in donors], strict=True):
        point.sparse = words
    return _ids(points)
