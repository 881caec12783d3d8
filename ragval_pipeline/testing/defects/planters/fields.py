"""Defects of the payload as a whole: names, ids and values that make sense one by one and not together."""

from __future__ import annotations

import hashlib
import random
import uuid

from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.testing.defects.choose import choose_points
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import Amount, Planted, defect


@defect("payload.unexpected_module", kind="points", describe="Renames the module of a point.")
def unexpected_module(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    points = choose_points(corpus, amount, rng)
    for point in points:
        corpus.put(point, "module", f"{corpus.get(point, 'module')} Archive")
    subjects = frozenset(str(point.id) for point in points)
    return Planted("payload.unexpected_module", subjects)


@defect("payload.constant_field", kind="points", describe="Gives every point the module of the first.")
def constant_module(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    return _constant(corpus, "module")


@defect("payload.constant_field", kind="points", variant="title", describe="Gives every point the title of the first.")
def constant_title(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    return _constant(corpus, "title")


@defect("payload.constant_field", kind="points", variant="chunk_index", describe="Gives every point the chunk index 0.")
def constant_index(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    return _constant(corpus, "chunk_index", value=0)


@defect("payload.field_map", kind="points", describe="Nests everything but the text of every point under `metadata`.")
def nested_fields(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    text = corpus.fields["text"]
    if any(text not in point.payload for point in corpus.points):
        raise NothingToSpoilError(f"{text} lies inside another field already")
    for point in corpus.points:
        rest = {name: value for name, value in point.payload.items() if name != text}
        point.payload = {text: point.payload[text], "metadata": rest}
    return Planted("payload.field_map", frozenset(corpus.fields[name] for name in corpus.required))


@defect("payload.duplicate_id", kind="points", describe="Gives a point the chunk id of another one.")
def duplicate_id(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    for point in corpus.points:
        corpus.put(point, "chunk_id", f"chunk-{point.id}")
    points = choose_points(corpus, amount, rng)
    chosen = {point.id for point in points}
    others = [point for point in corpus.points if point.id not in chosen] or points[:1]
    givers = [rng.choice(others) for _ in points]
    for point, giver in zip(points, givers, strict=True):
        corpus.put(point, "chunk_id", f"chunk-{giver.id}")
    return Planted("payload.duplicate_id", frozenset(str(point.id) for point in (*points, *givers)))


@defect(
    "payload.id_rule",
    kind="points",
    describe="Takes the profile of ``retrieval-pipeline`` with ids by its rule, and gives a point another id.",
)
def id_rule(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.settings["profile"] = "retrieval-pipeline"
    # The profile counts keywords only in hits that reach the threshold; the demo's are chosen for any hit.
    corpus.settings["retrieval"].update(judge=["score", "module", "chapter", "url", "keywords"], min_similarity=0.2)
    for point in corpus.points:
        name = f"{corpus.get(point, 'source_url')}_{corpus.get(point, 'chunk_index')}"
        point.id = str(uuid.UUID(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()))
    points = choose_points(corpus, amount, rng)
    for point in points:
        point.id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"other {point.id}"))
    return Planted("payload.id_rule", frozenset(str(point.id) for point in points))


@defect("payload.flat_headings", kind="points", describe="Cuts the headings of every point down to the first.")
def flat_headings(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    for point in corpus.points:
        corpus.put(point, "headings", (corpus.get(point, "headings") or [])[:1])
    return Planted("payload.flat_headings", frozenset({corpus.fields["headings"]}))


def _constant(corpus: Corpus, name: str, *, value: object = None) -> Planted:
    first = corpus.get(corpus.points[0], name)
    same = first if value is None else value
    for point in corpus.points:
        corpus.put(point, name, same)
    return Planted("payload.constant_field", frozenset({corpus.fields[name]}), field=name)
