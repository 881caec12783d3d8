"""Defects of metadata: fields that are absent, empty, of a wrong type, under another name, or the same everywhere."""

from __future__ import annotations

import datetime as dt
import hashlib
import random
import uuid
from collections.abc import Callable
from functools import partial
from itertools import cycle
from typing import Any

from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.testing.defects.choose import choose_points, ids_of, required_fields
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import ONE, Amount, Planted, defect
from ragval_pipeline.testing.defects.store import StoredPoint


@defect("payload.missing_field", kind="points")
def missing_field(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Drops a required field from the payload of a point."""
    return _dropped(corpus, amount, rng, _required(corpus))


@defect("payload.missing_field", kind="points", variant="source_url")
def missing_source(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Drops the source URL from the payload of a point."""
    return _dropped(corpus, amount, rng, "source_url")


@defect("payload.missing_field", kind="points", variant="unasked", amounts=(ONE,))
def missing_unasked(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Drops a field that is mapped but not required from the payload of a point."""
    unasked = next(name for name in ("title", "embedded_at") if name not in corpus.required and corpus.holds(name))
    return _dropped(corpus, amount, rng, unasked)


@defect("payload.empty_field", kind="points")
def empty_field(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Empties a required field of a point: null, an empty text, blanks, a zero-width space."""
    values = cycle((None, "", "  \t", "\u200b"))
    return _spoil(
        corpus, amount, rng, code="payload.empty_field", name=_required(corpus), change=lambda _: next(values)
    )


def _spoil(
    corpus: Corpus, amount: Amount, rng: random.Random, *, code: str, name: str, change: Callable[[Any], Any]
) -> Planted:
    """Change one field of some points that hold it."""
    points = _holding(corpus, amount, rng, name)
    for point in points:
        corpus.put(point, name, change(corpus.get(point, name)))
    return _planted(code, corpus, name, points)


def _dropped(corpus: Corpus, amount: Amount, rng: random.Random, name: str) -> Planted:
    points = _holding(corpus, amount, rng, name)
    for point in points:
        corpus.drop(point, name)
    return _planted("payload.missing_field", corpus, name, points)


def _required(corpus: Corpus) -> str:
    return next(iter(required_fields(corpus)), "source_url")


def _holding(corpus: Corpus, amount: Amount, rng: random.Random, name: str) -> list[StoredPoint]:
    """Points that have a field, for headings a list; not the last of a page for the address: it would leave no gap."""
    last = {id(points[-1]) for points in corpus.pages().values()} if name == "source_url" else set()

    def suits(point: StoredPoint) -> bool:
        held = corpus.get(point, name)
        return id(point) not in last and held is not None and (name != "headings" or isinstance(held, list))

    return choose_points(corpus, amount, rng, suits=suits)


def _planted(code: str, corpus: Corpus, name: str, points: list[StoredPoint]) -> Planted:
    return Planted(code, ids_of(points), scope=corpus.fields[name], field=name)


def _tomorrow(_: Any) -> str:
    return f"{dt.datetime.now(dt.UTC) + dt.timedelta(days=400):%Y-%m-%dT%H:%M:%SZ}"


#: One damaged value of a field each: code, variant, canonical name, what becomes of the value, and a description.
_VALUES: tuple[tuple[str, str | None, str, Callable[[Any], Any], str], ...] = (
    ("payload.empty_field", "headings", "headings", lambda _: [], "Stores a point with an empty list of headings."),
    ("payload.wrong_type", None, "token_count", str, 'Stores the token count of a point as a text: "450".'),
    ("payload.wrong_type", "headings", "headings", " > ".join, "Stores the headings of a point as one text."),
    ("payload.wrong_type", "chunk_index", "chunk_index", str, "Stores the chunk index of a point as a text."),
    ("payload.invalid_value", None, "token_count", lambda _: 0, "Stores a point with a token count of 0."),
    ("payload.invalid_value", "embedded_at", "embedded_at", _tomorrow,
     "Stores a point with an embedding time in the future."),
    ("payload.invalid_value", "headings", "headings", lambda headings: list(range(len(headings))),
     "Stores a point with headings that are not texts."),
    ("payload.invalid_value", "chunk_index", "chunk_index", lambda _: -1, "Stores a point with a negative index."),
    ("payload.invalid_value", "source_url", "source_url", lambda url: url.partition("://")[2],
     "Stores a point with an invalid source URL."),
)  # fmt: skip
for _code, _variant, _name, _change, _describe in _VALUES:
    defect(_code, kind="points", variant=_variant, describe=_describe)(
        partial(_spoil, code=_code, name=_name, change=_change)
    )


@defect("payload.invalid_value", kind="points", variant="title")
def title_of_another_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Stores a point with the title of another page."""
    titles = {page: corpus.get(points[0], "title") for page, points in corpus.pages().items()}
    points = choose_points(corpus, amount, rng)
    for point in points:
        own = corpus.get(point, "title")
        corpus.put(point, "title", rng.choice([title for title in titles.values() if title != own]))
    return _planted("payload.invalid_value", corpus, "title", points)


@defect("payload.unexpected_module", kind="points")
def unexpected_module(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Renames the module of a point."""
    points = choose_points(corpus, amount, rng)
    for point in points:
        corpus.put(point, "module", f"{corpus.get(point, 'module')} Archive")
    subjects = ids_of(points)
    return Planted("payload.unexpected_module", subjects)


def _constant(corpus: Corpus, amount: Amount, rng: random.Random, *, name: str, value: object = None) -> Planted:
    same = corpus.get(corpus.points[0], name) if value is None else value
    for point in corpus.points:
        corpus.put(point, name, same)
    return Planted("payload.constant_field", frozenset({corpus.fields[name]}), field=name)


_constants = partial(defect, "payload.constant_field", kind="points")
_constants(describe="Gives every point the same module.")(partial(_constant, name="module"))
_constants(variant="title", describe="Gives every point the same title.")(partial(_constant, name="title"))
_constants(variant="chunk_index", describe="Gives every point the chunk index 0.")(
    partial(_constant, name="chunk_index", value=0)
)


@defect("payload.field_map", kind="points")
def nested_fields(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Nests everything but the text of every point under `metadata`."""
    text = corpus.fields["text"]
    if any(text not in point.payload for point in corpus.points):
        raise NothingToSpoilError(f"{text} lies inside another field already")
    for point in corpus.points:
        rest = {name: value for name, value in point.payload.items() if name != text}
        point.payload = {text: point.payload[text], "metadata": rest}
    return Planted("payload.field_map", frozenset(corpus.fields[name] for name in corpus.required))


@defect("payload.duplicate_id", kind="points")
def duplicate_id(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Gives a point the chunk id of another."""
    for point in corpus.points:
        corpus.put(point, "chunk_id", f"chunk-{point.id}")
    points = choose_points(corpus, amount, rng)
    chosen = {point.id for point in points}
    others = [point for point in corpus.points if point.id not in chosen] or points[:1]
    givers = [rng.choice(others) for _ in points]
    for point, giver in zip(points, givers, strict=True):
        corpus.put(point, "chunk_id", f"chunk-{giver.id}")
    return Planted("payload.duplicate_id", ids_of((*points, *givers)))


@defect("payload.id_rule", kind="points")
def id_rule(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Uses the profile ``retrieval-pipeline`` with ids by its rule, and gives a point another id."""
    corpus.settings["profile"] = "retrieval-pipeline"
    # The profile counts keywords only in hits above the threshold; the demo's are chosen for any hit.
    corpus.settings["retrieval"].update(judge=["score", "module", "chapter", "url", "keywords"], min_similarity=0.2)
    for point in corpus.points:
        name = f"{corpus.get(point, 'source_url')}_{corpus.get(point, 'chunk_index')}"
        point.id = str(uuid.UUID(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()))
    points = choose_points(corpus, amount, rng)
    for point in points:
        point.id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"other {point.id}"))
    return Planted("payload.id_rule", ids_of(points))


@defect("payload.flat_headings", kind="points")
def flat_headings(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Keeps only the first heading of every point."""
    for point in corpus.points:
        corpus.put(point, "headings", (corpus.get(point, "headings") or [])[:1])
    return Planted("payload.flat_headings", frozenset({corpus.fields["headings"]}))
