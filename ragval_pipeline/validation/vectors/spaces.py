"""Location of mismatched vectors: at another text, elsewhere in the collection's space, or outside it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np
from ragval_pipeline.rules.vector.text_mismatch import Look
from ragval_pipeline.validation.thresholds import CHANCE, FEWEST, MATCH, MUCH_CLOSER, NOISE
from ragval_pipeline.validation.vectors.comparison import REFERENCES, unit_rows
from ragval_pipeline.validation.vectors.partition import Label, Owner, Partition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Rows = NDArray[np.intp]

#: Vectors, and texts, compared at once.
_BLOCK, _TEXTS = 1024, 8192  # work
#: Comparisons of a vector with all texts: 4 s of one core at 256 dimensions.
COMPARISONS = 400_000_000  # work
#: Lower bound of norms, against division by zero.
_TINY = 1e-6  # definition


@dataclass(frozen=True, eq=False)
class Nearest:
    """What the mismatched vectors are close to.

    Attributes:
        places: Indices of the points, in the order of all arrays here.
        own: Cosines with their own texts, without the common direction of all texts.
        energy: Mean squares of such cosines with the other texts, times the dimension: 1 for random vectors.
        owner: The closest other text, separately for matching and mismatched points; -1 without any.
        owner_cosine: Its cosine.
    """

    places: Rows
    own: Floats
    energy: Floats
    owner: dict[bool, Rows] = field(default_factory=dict)
    owner_cosine: dict[bool, Floats] = field(default_factory=dict)


def nearest_texts(points: Partition) -> Nearest:
    """Compare the vector of each mismatched point with every text.

    Above ``COMPARISONS`` only an even sample is compared; the others only if one of these matches another text, which
    never happens in a collection embedded with another model.
    """
    places = np.concatenate([points.off(with_vector=True), np.arange(points.sampled, len(points.ids))])
    places = places[points.labels[places] == Label.OFF]
    found, lean, once = _nothing_near(places), _lean(points.texts), _once(points.texts)
    against = np.arange(len(points.texts))
    step = max(1, -(-len(places) * len(against) // COMPARISONS))
    for turn in range(step):
        if turn == 1 and max(cosines.max() for cosines in found.owner_cosine.values()) < MATCH:
            against = np.array(points.references())
        rows = np.arange(turn, len(places), step)
        for start in range(0, len(rows), _BLOCK):
            _compare(found, rows[start : start + _BLOCK], points, against, lean, once)
    return found


def _nothing_near(places: Rows) -> Nearest:
    def none(kind: type) -> Any:
        return np.full(len(places), -1, dtype=kind)

    both = (True, False)
    return Nearest(
        places, none(np.float32), np.zeros(len(places), dtype=np.float32),
        {off: none(np.intp) for off in both}, {off: none(np.float32) for off in both},
    )  # fmt: skip


def _compare(
    found: Nearest, rows: Rows, points: Partition, against: Rows, lean: Floats, once: NDArray[np.bool_]
) -> None:
    """Compare some vectors with the texts of some points, in blocks of texts."""
    places, counted = found.places[rows], max(int(once[against].sum()) - 1, 1)
    stored = points.vectors(places)
    stored_lean = stored @ lean
    found.own[rows] = _without_lean(points.cosine[places], stored_lean, points.texts[places].astype(np.float32) @ lean)
    for start in range(0, len(against), _TEXTS):
        numbers = against[start : start + _TEXTS]
        block = points.texts[numbers].astype(np.float32)
        cosines = stored @ block.T
        cosines[places[:, None] == numbers[None, :]] = -1.0
        freed = _without_lean(cosines, stored_lean[:, None], (block @ lean)[None, :])
        freed[places[:, None] == numbers[None, :]] = 0.0
        freed[:, ~once[numbers]] = 0.0
        found.energy[rows] += np.einsum("ij,ij->i", freed, freed) * (points.texts.shape[1] / counted)
        is_off = points.labels[numbers] == Label.OFF
        for off in (True, False):
            columns = np.flatnonzero(is_off == off)
            if not len(columns):
                continue
            top = cosines[:, columns].argmax(axis=1)
            cosine = cosines[np.arange(len(rows)), columns[top]]
            better = cosine > found.owner_cosine[off][rows]
            found.owner_cosine[off][rows[better]] = cosine[better]
            found.owner[off][rows[better]] = numbers[columns[top[better]]]


def _once(texts: NDArray[np.float16]) -> NDArray[np.bool_]:
    """Which texts are the first of those that are the same: one written to many points is one text."""
    seen: dict[bytes, int] = {}
    first = (seen.setdefault(text.tobytes(), place) == place for place, text in enumerate(texts))
    return np.fromiter(first, dtype=np.bool_, count=len(texts))


def _lean(texts: NDArray[np.float16]) -> Floats:
    """The common direction of all texts, of length 1; zeros if there are too few."""
    mean = texts.mean(axis=0, dtype=np.float32)
    length = float(np.linalg.norm(mean))
    lean: Floats = mean / length if len(texts) >= FEWEST and length > 0 else np.zeros_like(mean)
    return lean


def _without_lean(cosine: Floats, one: Floats, other: Floats) -> Floats:
    """Cosines of vectors without their components ``one`` and ``other`` along a common direction."""
    rest = np.sqrt(np.maximum(1 - one**2, _TINY)) * np.sqrt(np.maximum(1 - other**2, _TINY))
    freed: Floats = (cosine - one * other) / rest
    return freed


def of_their_pages(points: Partition, places: Sequence[int], pages: Sequence[str | None]) -> float:
    """The share of some vectors that contain, besides their texts, other content of their pages; 0 within chance.

    A model that reads a chunk within its page, or with a context before it, leaves a trace of that in the vector.
    Differences due to another model version, input type or text clean-up are unrelated to the page. ``places`` are
    those that match only nearly or not, ``pages`` the page of each point of the sample.
    """
    known = {page: number for number, page in enumerate(sorted({page for page in pages if page is not None}))}
    of = np.array([-1 if page is None else known[page] for page in pages[: len(points.texts)]], dtype=np.intp)
    texts = points.texts[: len(of)].astype(np.float32)
    said = np.zeros((len(known), texts.shape[1]), dtype=np.float32)
    np.add.at(said, of[of >= 0], texts[of >= 0])
    chunks = np.bincount(of[of >= 0], minlength=len(known))
    chosen = np.array([place for place in places if of[place] >= 0 and chunks[of[place]] > 1], dtype=np.intp)
    several = np.unique(of[chosen])
    if min(len(chosen), len(several)) < FEWEST:
        return 0.0
    own, stored = texts[chosen], points.vectors(chosen)
    beside = stored - np.einsum("ij,ij->i", stored, own)[:, None] * own
    beside -= beside.mean(axis=0)
    toward = np.zeros((len(chosen), len(several)), dtype=np.float32)
    for column, page in enumerate(several):
        # Compare a vector with the other chunks of its page, without the component of its own text.
        there = said[page] - own * (of[chosen] == page)[:, None]
        there = there - np.einsum("ij,ij->i", there, own)[:, None] * own
        toward[:, column] = np.einsum("ij,ij->i", beside, there) / np.maximum(np.linalg.norm(there, axis=1), _TINY)
    hits = int((several[toward.argmax(axis=1)] == of[chosen]).sum())
    chance = 1 / len(several)
    by_chance = chance * len(chosen) + CHANCE * math.sqrt(len(chosen) * chance * (1 - chance))
    return hits / len(chosen) if hits > by_chance else 0.0


def find_owners(points: Partition, near: Nearest, changed: Collection[int]) -> None:
    """Record whose text the vectors match, and label those ``SWAPPED`` whose owner is mismatched too.

    If the texts of a matching and a mismatched point are equally close, such as twins, the mismatched one is the owner.
    """
    for row, place in enumerate(near.places.tolist()):
        off = bool(near.owner_cosine[True][row] >= near.owner_cosine[False][row] - NOISE)
        cosine = float(near.owner_cosine[off][row])
        if cosine >= MATCH and 1 - cosine <= MUCH_CLOSER * (1 - float(points.cosine[place])) and place not in changed:
            points.owners[place] = Owner(int(near.owner[off][row]), cosine, off)
    points.assign([place for place, owner in points.owners.items() if owner.off], Label.SWAPPED)


def altered_vectors(points: Partition) -> dict[int, Look]:
    """How mismatched vectors were altered, if that is their only difference from their texts' vectors.

    All signs may be inverted, a constant added to all numbers, as when they are stored unsigned, or some numbers be 0
    and the others right, as when a shortened vector was padded to the dimension of the collection.
    """
    looks: dict[int, Look] = {}
    places = points.off(with_vector=True)
    places = places[places < len(points.texts)]
    for start in range(0, len(places), _BLOCK):
        block = places[start : start + _BLOCK]
        stored, texts = points.vectors(block), points.texts[block].astype(np.float32)
        cosine, there = points.cosine[block], stored != 0
        shown = np.where(there, texts, 0.0)
        # Sparse vectors, such as word counts, may have no non-zero number in common.
        known = (shown != 0).sum(axis=1) >= FEWEST
        padded = ~there.all(axis=1) & known & (cosine >= MATCH * np.linalg.norm(shown, axis=1))
        centred = (unit_rows(every - every.mean(axis=1, keepdims=True)) for every in (stored, texts))
        shifted = np.einsum("ij,ij->i", *centred) >= MATCH
        looks.update(dict.fromkeys(block[cosine <= -MATCH].tolist(), "negated"))
        looks.update(dict.fromkeys(block[shifted].tolist(), "shifted"))
        looks.update(dict.fromkeys(block[padded].tolist(), "zero_padded"))
    return looks


@dataclass(frozen=True, eq=False)
class Strangers:
    """The mismatched points, by the relation of their vectors to texts.

    Attributes:
        related: Closer to the own text than unrelated vectors.
        other_space: Unrelated to every text, but not to each other: from another model.
        noise: Unrelated to every text and to each other.
        stray: In the same space, unrelated to the own text.
    """

    related: list[int]
    other_space: list[int]
    noise: list[int]
    stray: list[int]

    def with_related(self, places: Collection[int]) -> Strangers:
        """The same with some points moved to the related ones."""
        lists = {field.name: [at for at in getattr(self, field.name) if at not in places] for field in fields(self)}
        return Strangers(**{**lists, "related": [*lists["related"], *sorted(places)]})


def sort_strangers(points: Partition, near: Nearest, left_out: Collection[int]) -> Strangers:
    """Classify the points that are still mismatched.

    Vectors of two models are unrelated: with each other's texts they have the cosines of random directions, so their
    energy is about 1, and their cosines with their own texts average to zero. Vectors of the collection's own model are
    in the region of its texts, even if the point's text was changed: their energy is that of the texts among each
    other. A vector is of another space if it is nearer, as a ratio, to the first than to the second.
    """
    aside = np.array(sorted(left_out), dtype=np.intp)
    fits = points.labels[near.places] == Label.OFF
    fits &= (near.places < points.sampled) & ~np.isin(near.places, aside)
    places, own, energy = near.places[fits], near.own[fits], near.energy[fits]
    dimension = max(points.texts.shape[1], 1)
    limit = chance_limit(points.sampled, dimension)
    unrelated = own <= limit
    # Unrelated texts give little information: then the spread of the energy of random vectors is the limit.
    chance = 1 + CHANCE * math.sqrt(2 / max(len(points.texts), 1))
    most = max(math.sqrt(_energy_of_texts(points)), chance)
    nowhere = unrelated & (energy <= most)
    # The collection's own texts with the least energy are all near the limit, not around that of chance.
    is_apart = nowhere.any() and float(np.median(energy[nowhere])) <= math.sqrt(most)
    nowhere &= is_apart | (energy <= chance)
    strangers = places[nowhere]
    centred = is_apart and abs(float(own[nowhere].mean())) <= CHANCE / math.sqrt(dimension)
    model, stray = strangers[:0], places[unrelated & ~nowhere]
    if centred and _have_structure(points, strangers):
        # A few of another model's vectors have more energy by chance.
        alike = _are_like(points, stray, strangers)
        model, stray = np.concatenate([strangers, stray[alike]]), stray[~alike]
    # Vectors that were not kept are judged by their own cosine.
    unseen = np.setdiff1d(np.setdiff1d(points.off(), points.at), aside)
    near_own = points.cosine[unseen] > limit
    return Strangers(
        related=[*places[~unrelated].tolist(), *unseen[near_own].tolist()],
        other_space=model.tolist(),
        noise=[*np.setdiff1d(strangers, model).tolist(), *unseen[~near_own].tolist()],
        stray=stray.tolist(),
    )


def chance_limit(points: int, dimension: int) -> float:
    """Upper limit of the cosine of so many unrelated vectors with their own text."""
    return (math.sqrt(2 * math.log(max(points, 2))) + CHANCE) / math.sqrt(max(dimension, 1))


def _energy_of_texts(points: Partition) -> float:
    """Mean square of the cosines of the different texts among each other, times the dimension."""
    places = np.array(points.references(), dtype=np.intp)
    some, lean = points.texts[places[places < len(points.texts)]], _lean(points.texts)
    texts = some[_once(some)].astype(np.float32)
    freed = _without_lean(texts @ texts.T, (texts @ lean)[:, None], (texts @ lean)[None, :])
    np.fill_diagonal(freed, 0.0)
    return float((freed**2).sum()) * int(texts.shape[1]) / max(len(texts) * (len(texts) - 1), 1)


def _have_structure(points: Partition, places: Rows) -> bool:
    """Whether some vectors are more, or less, similar to each other than noise.

    The cosines of noise have a standard deviation of ``1 / sqrt(d)`` around zero, those of every model a larger one.
    Noise of positive numbers tends to the diagonal, which is removed. For noise, the energy times the number of pairs
    has a chi-squared distribution; Wilson and Hilferty's transformation gives standard deviations.
    """
    vectors = points.vectors(places[:: max(1, len(places) // REFERENCES)])
    pairs = len(vectors) * (len(vectors) - 1) // 2
    if not pairs:
        return False
    vectors = vectors - vectors.mean(axis=1, keepdims=True)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _TINY)
    cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    energy, spread = float(np.mean(cosines**2)) * vectors.shape[1], 2 / (9 * pairs)  # definition
    deviations = (math.cbrt(energy) - (1 - spread)) / math.sqrt(spread)
    return deviations >= CHANCE


def _are_like(points: Partition, places: Rows, model: Rows) -> NDArray[np.bool_]:
    """Which vectors are as similar to those of another model as these are to each other, beyond chance."""
    others = points.vectors(model[:: max(1, len(model) // REFERENCES)])

    def energy(some: Rows) -> Floats:
        squares = (points.vectors(some) @ others.T) ** 2
        found: Floats = squares.mean(axis=1) * others.shape[1]
        return found

    usual = float(np.median(energy(model))) if len(model) else 0.0
    like: NDArray[np.bool_] = energy(places) >= math.sqrt(usual)
    return like


def name_the_rest(
    points: Partition,
    sorted_points: Strangers,
    *,
    altered: Mapping[int, Look],
    emptied: Collection[int],
    copied: Collection[int],
    changed: Collection[int],
    other_model: Collection[int],
) -> None:
    """Label remaining points ``TEXT_MISMATCH``, with the likely reason for each vector.

    ``other_model`` are points whose payload names another model than that of the matching points.
    """
    alien, noise, changed = set(sorted_points.other_space), set(sorted_points.noise), set(changed)
    rest = points.off().tolist()
    points.assign(rest, Label.TEXT_MISMATCH)
    for place in rest:
        if place in points.owners:
            points.looks[place] = "another_point"
        elif place in altered:
            points.looks[place] = altered[place]
        elif place in emptied:
            points.looks[place] = "emptied"
        elif place in copied:
            points.looks[place] = "copied"
        elif place in changed:
            points.looks[place] = "older_text"
        elif place in alien or (place in noise and place in other_model):
            points.looks[place] = "another_model"
        else:
            points.looks[place] = "noise" if place in noise else "another_text"
