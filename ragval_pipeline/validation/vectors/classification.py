"""Every re-embedded point classified: larger patterns first, then single points."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.snapshot.embedded import embedded_text, filled
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.facts.hashes import convention_of, stored_hash
from ragval_pipeline.validation.thresholds import FEWEST, MATCH, MOST, ROUNDING
from ragval_pipeline.validation.vectors import models, trials
from ragval_pipeline.validation.vectors.comparison import COLUMNS, Comparison, same_vectors, unit_rows
from ragval_pipeline.validation.vectors.models import Decision, decide, is_population, worth_trying
from ragval_pipeline.validation.vectors.partition import Label, Partition
from ragval_pipeline.validation.vectors.spaces import (
    Nearest,
    Strangers,
    altered_vectors,
    find_owners,
    name_the_rest,
    nearest_texts,
    sort_strangers,
)
from ragval_pipeline.validation.vectors.trials import Tested, Trial, choose_tested, replaced, try_all

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragval_pipeline.sources.stores.qdrant.protocol import VectorBatch
    from ragval_pipeline.validation.vectors.trials import EmbedAs

    Floats = NDArray[np.float32]

#: Points of a sample whose vectors are searched for in the rest of the collection: as many as in a paid sample.
LOOKED_FOR = 200  # work
_WORDS = re.compile(r"\w+")

Row = Mapping[str, Any]
#: Reads rows of the snapshot for points and columns.
RowsOf = Callable[[Collection[str], Sequence[str]], Mapping[str, Row]]


@dataclass(frozen=True)
class VectorSettings:
    """Settings besides the vectors.

    Attributes:
        collection: Name of the collection.
        vector: Size and distance of the vectors that searches use.
        model: Name of the embedder's model.
        made_for_cosine: Whether that model's vectors are to be compared by cosine; false: not known.
        unsampled: Why nothing was to be re-embedded; None: something was.
        embedded_fields: Canonical names of the fields that are embedded with the text.
        template: How these and the text are put together; None: not known.
        other_vectors: Names of the further dense vectors of each point.
    """

    collection: str
    vector: VectorFacts
    model: str
    made_for_cosine: bool
    unsampled: str | None = None
    embedded_fields: tuple[str, ...] = ()
    template: str | None = None
    other_vectors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lookups:
    """Lookups outside a sample.

    Attributes:
        nearest: Finds the ids of the nearest points of a vector.
        vectors: Reads the stored vectors of some points.
        embed: Embeds texts as documents.
    """

    nearest: Callable[[Floats], Sequence[str]]
    vectors: Callable[[Sequence[str]], Collection[VectorBatch]]
    embed: Callable[[Sequence[str]], Floats]


@dataclass(frozen=True)
class Classified:
    """The classes of the re-embedded points.

    Attributes:
        points: The points with their labels.
        changed: Indices of mismatched points whose stored hash does not match their text.
        copies: Groups of points with the same vector and different texts.
        decision: What the points say of the collection.
        named: The model that the payload of each sampled point names, or None.
        cut_at: Length of most of their texts, in characters, if it is that of the longest; None if it is not.
    """

    points: Partition
    changed: frozenset[int]
    copies: Sequence[Sequence[str]]
    decision: Decision
    named: Sequence[str | None] = ()
    cut_at: int | None = None


def classify(
    found: Comparison,
    settings: VectorSettings,
    *,
    rows_of: RowsOf,
    embed_as: EmbedAs | None,
    lookups: Lookups | None,
) -> Classified:
    """Classify the points of the pass.

    Arguments as in ``measure_vectors``.

    Raises:
        SystemFailure: Qdrant or the embedder fails.
    """
    points = Partition(found)
    stored = _Stored(points, settings, rows_of, embed_as)
    changed = stored.changed_texts()
    near = _with_owners(points, changed, rows_of, lookups) if len(points.off()) else None
    copies = stored.copied_vectors(same_vectors(found), changed)
    if near is None or not len(points.off()):
        return Classified(points, changed, copies, Decision(compared=points.sampled))
    held = frozenset().union(*copies)
    copied = frozenset(place for place in points.off().tolist() if points.ids[place] in held)
    altered = altered_vectors(points)
    labelled = stored.labelled(changed)
    if labelled:
        known = {points.ids[place] for place in labelled}
        aside = {points.ids[place] for place in copied - labelled}
        copies = [group for group in copies if known.isdisjoint(group) or aside & set(group)]
        copied -= labelled
    # Single vectors are described by how they were altered; as a part of the collection they are a way of embedding.
    related = labelled.union(altered) if is_population(len(altered), points.sampled) else labelled
    strangers = sort_strangers(points, near, changed | copied).with_related(related)
    emptied = stored.emptied(strangers)
    strangers = replace(strangers, related=[place for place in strangers.related if place not in emptied])
    as_empty = stored.embedded_empty(emptied)
    points.assign(as_empty, Label.MATCHING)
    rows = rows_of(frozenset(points.ids[: points.sampled]), models.COLUMNS)
    decision = decide(points, strangers, stored.tried(strangers), rows, stored.given)
    right = models.usual_model(points.names(Label.MATCHING), rows)
    name_the_rest(
        points,
        strangers,
        altered=altered,
        emptied=emptied - as_empty,
        copied=copied,
        changed=changed,
        other_model=[place for place in points.off().tolist() if rows[points.ids[place]]["model"] not in (None, right)],
    )
    cut_at = _cut_at([row["text_chars"] for row in rows.values() if row["text_chars"]])
    return Classified(points, changed, copies, decision, [row["model"] for row in rows.values()], cut_at)


def _cut_at(lengths: Sequence[int]) -> int | None:
    longest = max(lengths, default=0)
    count = lengths.count(longest)
    return longest if count >= FEWEST and count > MOST * len(lengths) else None


def _with_owners(points: Partition, changed: Collection[int], rows_of: RowsOf, lookups: Lookups | None) -> Nearest:
    """What the mismatched vectors are close to, after labelling those of another mismatched point's text."""
    if lookups is not None:
        _look_up_holders(points, lookups, rows_of)
    near = nearest_texts(points)
    find_owners(points, near, changed)
    if lookups is not None:
        # The points whose vectors those have are swapped, too: whose text theirs match may be outside the sample.
        points.assign([owner.point for owner in points.owners.values() if owner.off], Label.SWAPPED)
    return near


@dataclass(frozen=True)
class _Stored:
    """What the stored rows of the points say about their vectors."""

    points: Partition
    settings: VectorSettings
    rows_of: RowsOf
    embed_as: EmbedAs | None

    def changed_texts(self) -> frozenset[int]:
        """Indices of mismatched points whose stored hash does not match their text, if hashes are stored."""
        points = self.points
        off = points.off().tolist()
        if not off:
            return frozenset()
        references = points.references()
        asked = frozenset(points.ids[place] for place in (*off, *references))
        rows = self.rows_of(asked, ("point_id", "text", "text_hash", "text_sha256"))
        holds = {name: _hash_holds(row) for name, row in rows.items()}
        # Hashes do not match by chance; if none does, they are salted, truncated or of something else.
        if not any(holds.get(points.ids[place]) for place in references):
            return frozenset()
        return frozenset(place for place in off if holds.get(points.ids[place]) is False)

    def emptied(self, strangers: Strangers) -> frozenset[int]:
        """Indices of points that lack a field embedded with the text, and whose vectors are close to it.

        Those that match it are right: an empty field embedded with a line break changes a vector a little. None if most
        of the points with the field differ as well: then the whole collection is wrong.
        """
        points, fields = self.points, self.settings.embedded_fields
        differing = set(strangers.related)
        if not fields or not differing:
            return frozenset()
        rows = self.rows_of(frozenset(points.ids[: points.sampled]), ("point_id", *fields))
        lacking = {
            place
            for place, name in enumerate(points.ids[: points.sampled])
            if name in rows and any(is_blank(filled(f"{{{field}}}", rows[name])) for field in fields)
        }
        is_whole = len(differing - lacking) > MOST * (points.sampled - len(lacking))
        return frozenset() if is_whole else frozenset(differing & lacking)

    def embedded_empty(self, emptied: Collection[int]) -> frozenset[int]:
        """Which of these were embedded with the field as it is: empty, with what parts it from the text."""
        points, template, fields = self.points, self.settings.template, self.settings.embedded_fields
        places = [place for place in points.off(with_vector=True).tolist() if place in emptied]
        if self.embed_as is None or template is None or not places:
            return frozenset()
        rows = self.rows_of(frozenset(points.ids[place] for place in places), ("point_id", "text", *fields))
        texts = [filled(template, rows[points.ids[place]], as_written=True) for place in places]
        again = unit_rows(self.embed_as(texts, "search_document"))
        is_near = np.einsum("ij,ij->i", again, points.vectors(places)) >= MATCH
        return frozenset(compress(places, is_near))

    def copied_vectors(self, groups: Sequence[Collection[str]], changed: Collection[int]) -> list[list[str]]:
        """Groups of points with the same vector and different texts, at least one of which does not match it.

        Static models give the same vector to texts that differ only in word order, and every model to texts that differ
        only beyond its input limit: if each text of a group was re-embedded and matches, nothing was copied.
        """
        points = self.points
        place = {name: number for number, name in enumerate(points.ids)} if groups else {}
        rows = self.rows_of(frozenset().union(*groups), ("point_id", "text", "text_sha256"))
        aside = {points.ids[number] for number in (*points.places(Label.SWAPPED), *changed)}
        looks = []
        for group in groups:
            # A blank text was emptied after embedding: it did not get another one's vector.
            known = (name for name in group if name in rows and not is_blank(rows[name]["text"] or ""))
            members = sorted(name for name in known if name not in aside)
            if len({rows[name]["text_sha256"] for name in members} - {None}) < 2:
                continue
            if all(name in place for name in members):
                explained = all(points.labels[place[name]] in (Label.MATCHING, Label.NEAR) for name in members)
            else:
                explained = len({_same_words(rows[name]["text"]) for name in members}) == 1
            if not explained and not _were_the_same([rows[name]["text"] for name in members]):
                looks.append(members)
        return looks

    def tried(self, strangers: Strangers) -> list[Trial]:
        """Trials of ways of embedding on a few related points, the closest first."""
        points, related = self.points, set(strangers.related)
        if self.embed_as is None or not worth_trying(points, strangers):
            return []
        kept = points.at[points.at < points.sampled].tolist()
        matching = {number for number in points.references() if points.labels[number] == Label.MATCHING}
        tested = self._tested(
            [number for number in kept if number in related], [number for number in kept if number in matching]
        )
        return try_all(tested, self.embed_as) if tested.off else []

    def _tested(self, off: Collection[int], matching: Collection[int]) -> Tested:
        """Some of these points, for trials."""
        points = self.points
        place = {points.ids[number]: number for number in (*off, *matching)}
        chosen = choose_tested([points.ids[number] for number in off], [points.ids[number] for number in matching])
        rows = self.rows_of(frozenset(chosen), trials.COLUMNS)
        chosen = [name for name in chosen if name in rows]
        places = np.array([place[name] for name in chosen], dtype=np.intp)
        count = sum(number in off for number in places.tolist())
        return Tested(
            [_as_embedded(rows[name]) for name in chosen], points.vectors(places), points.cosine[places], count
        )

    def labelled(self, changed: Collection[int]) -> frozenset[int]:
        """Indices of points whose vectors are of a label instead of the text, if there are many.

        Such a vector may be unrelated to the text, and is the same for all chunks with the label.
        """
        points = self.points
        off = [place for place in points.off(with_vector=True).tolist() if place not in changed]
        if self.embed_as is None or not is_population(len(off), points.sampled):
            return frozenset()
        tested = self._tested(off, ())
        way = replaced(tested, self.embed_as) if tested.off else None
        found = frozenset(self.given(way)).intersection(off) if way else frozenset()
        return found if is_population(len(found), points.sampled) else frozenset()

    def given(self, trial: Trial) -> list[int]:
        """Indices of unexplained or nearly matching points whose vectors a way of embedding reproduces."""
        points = self.points
        places = np.union1d(points.off(with_vector=True), points.inexact(ROUNDING, with_vector=True))
        rows = self.rows_of(frozenset(points.ids[place] for place in places), trials.COLUMNS)
        tried = [_as_embedded(rows[points.ids[place]]) for place in places]
        return list(places[trial.gives(tried, points.vectors(places), points.cosine[places])])


def _as_embedded(row: Row) -> Row:
    """The row with the embedded text instead of the stored one."""
    return {**row, "text": embedded_text(row), "stored_text": row["text"]}


def _hash_holds(row: Row) -> bool | None:
    """Whether a stored hash matches the stored text; None without either."""
    stored = stored_hash(row["text_hash"])
    if stored is None or row["text"] is None:
        return None
    return convention_of(row["text"], stored, row["text_sha256"]) is not None


def _were_the_same(texts: Sequence[str | None]) -> bool:
    """Whether each text is a part of the longest: then some were cut after embedding, and no vector was copied."""
    seen = sorted((" ".join((text or "").split()) for text in texts), key=len)
    return all(text and text in seen[-1] for text in seen)


def _same_words(text: str | None) -> tuple[str, ...]:
    """The words of a text regardless of case and order, which some models ignore."""
    return tuple(sorted(_WORDS.findall((text or "").casefold())))


def _look_up_holders(points: Partition, ask: Lookups, rows_of: RowsOf) -> None:
    """Add the points outside the sample with the vector of a sampled text.

    A sample of 200 points rarely has both members of a swapped pair; one search per mismatched point finds the other.

    Raises:
        SystemFailure: Qdrant or the embedder fails.
    """
    wanted = points.texts[points.off(with_vector=True)[:LOOKED_FOR]].astype(np.float32)
    near = {name for text in wanted for name in ask.nearest(text)} - set(points.ids)
    stored = {
        name: vector / np.linalg.norm(vector)
        for batch in (ask.vectors(sorted(near)) if near else ())
        for name, vector in zip(batch.ids, batch.matrix, strict=True)
        if vector.any()
    }
    holders = [name for name, vector in stored.items() if float((wanted @ vector).max()) >= MATCH]
    rows = rows_of(frozenset(holders), COLUMNS)
    holders = [name for name in holders if name in rows and rows[name]["text"] and not is_blank(rows[name]["text"])]
    if holders:
        again = unit_rows(ask.embed([embedded_text(rows[name]) for name in holders]))
        points.look_up(holders, np.stack([stored[name] for name in holders]), again)
