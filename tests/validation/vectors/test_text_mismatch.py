"""Vectors that are not those of their texts: every point is named, at any number, in exactly one finding."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Collection

import numpy as np
import pytest

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.validation.thresholds import MATCH
from ragval_pipeline.validation.vectors import spaces
from tests.validation.vectors.space import SIZE, Floats, Space, embedded, other_model, space, subjects


def chosen(amount: int, number: int = 90) -> list[int]:
    return random.Random(amount).sample(range(number), amount)


def mismatch(points: Space) -> Finding:
    [finding] = points.examined().findings
    assert finding.code == "vector.text_mismatch"
    return finding


def cosines(points: Space) -> Floats:
    again = points.embedder.embed([row["text"] for row in points.rows], input_type="search_document").vectors
    stored = np.array([np.zeros(SIZE) if vector is None else vector for vector in points.vectors], dtype=np.float32)
    lengths = np.linalg.norm(stored, axis=1)
    found: Floats = np.einsum("ij,ij->i", stored, again) / np.where(lengths > 0, lengths, 1)
    return found


def reword(points: Space, place: int, share: float, rng: random.Random) -> None:
    """Change words of a text and keep its vector."""
    words, foreign = points.rows[place]["text"].split(" "), " ".join(row["text"] for row in points.rows).split(" ")
    for at in rng.sample(range(len(words)), max(1, round(share * len(words)))):
        words[at] = rng.choice(foreign)
    points.set_text(place, " ".join(words))


@pytest.mark.parametrize(("first", "number"), [(0, 1), (20, 1), (20, 2), (0, 4)])
def test_texts_overwritten_by_one_text_of_their_batch_have_no_vectors_of_another_model(first: int, number: int) -> None:
    points, batch = space(), 16
    for start in range(first, first + number * batch, batch):
        for place in range(start, start + batch - 1):
            points.set_text(place, points.rows[start + batch - 1]["text"])
    finding = mismatch(points)
    assert finding.count == number * (batch - 1)
    assert finding.details["looks_like"]["another_text"] >= 0.8 * finding.count


@pytest.mark.parametrize("drawn", ["normal", "positive"])
@pytest.mark.parametrize("amount", [1, 2, 9, 45])
def test_noise_is_named_at_any_number_and_is_no_other_model(amount: int, drawn: str) -> None:
    points, rng = space(), np.random.default_rng(amount)
    for place in chosen(amount):
        points.vectors[place] = (rng.standard_normal(SIZE) if drawn == "normal" else rng.random(SIZE)).astype(
            np.float32
        )
    finding = mismatch(points)
    assert {entry.name for entry in finding.subjects} == points.named(chosen(amount))
    # A few positive vectors are as similar to each other as those of a model that leans in one direction.
    if drawn == "normal" or amount != 2:
        assert finding.details["looks_like"]["noise"] >= 0.95 * amount
        assert "of no text" in finding.message


@pytest.mark.parametrize("number", [1, 2, 3, 5, 13])
def test_noise_in_a_small_collection_is_named(number: int) -> None:
    points = space(number)
    points.vectors[0] = np.random.default_rng(2).standard_normal(SIZE).astype(np.float32)
    assert {entry.name for entry in mismatch(points).subjects} == points.named([0])


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("amount", [2, 10, 44])
def test_an_older_text_is_named_wherever_it_moved_the_vector(amount: int, share: float) -> None:
    points, rng = space(), random.Random(5)
    for place in rng.sample(range(90), amount):
        reword(points, place, share, rng)
    finding = mismatch(points)
    off = np.flatnonzero(cosines(points) < MATCH).tolist()
    assert off
    assert {entry.name for entry in finding.subjects} == points.named(off)
    assert finding.details["looks_like"] == {"another_text": len(off)}
    assert all(0 < entry.details["cosine"] < MATCH for entry in finding.subjects)


def test_a_text_that_was_cut_after_it_was_embedded_is_to_be_ingested_and_not_embedded_as_it_is() -> None:
    points = space()
    for place in chosen(9):
        points.set_text(place, points.rows[place]["text"][:120].rstrip() + "…")
    assert mismatch(points).remedy.startswith("Re-ingest the pages of these points")
    points = space()
    points.vectors[4] = np.random.default_rng(4).standard_normal(SIZE).astype(np.float32)
    assert mismatch(points).remedy == "Re-embed these points."


@pytest.mark.parametrize("changed", [range(0, 60, 2), range(80)])
def test_a_text_that_its_hash_disowns_is_an_older_one_however_little_is_left_of_it(changed: range) -> None:
    points = space()
    for row in points.rows:
        row["text_hash"] = hashlib.md5(row["text"].encode(), usedforsecurity=False).hexdigest().upper()
    for place in changed:
        points.set_text(place, points.rows[(place + 31) % 90]["text"] + " and something else")
    measurement = points.examined()
    assert subjects(measurement) == {"vector.text_mismatch": points.named(changed)}
    assert measurement.findings[0].details["looks_like"] == {"older_text": len(changed)}
    assert measurement.sections["vectors"]["changed_texts"] == len(changed)


@pytest.mark.parametrize("amount", [1, 2, 4])
def test_a_few_points_of_another_model_are_named_and_are_no_part_of_the_collection(amount: int) -> None:
    points = space()
    turned = other_model([points.vectors[place] for place in chosen(amount)])
    for place, vector in zip(chosen(amount), turned, strict=True):
        points.vectors[place] = vector
        points.rows[place]["model"] = "another-model"
    finding = mismatch(points)
    assert {entry.name for entry in finding.subjects} == points.named(chosen(amount))
    assert finding.details["looks_like"] == {"another_model": amount}
    assert f"{amount} vector{'s' if amount > 1 else ''} of another model" in finding.message
    holds = "have vectors that do not belong to their texts" if amount > 1 else (
        "has a vector that does not belong to its text"
    )  # fmt: skip
    assert holds in finding.message


def test_a_vector_of_another_text_is_about_the_fields_that_are_embedded_with_the_text() -> None:
    points = space()
    points.embedded_fields = ("headings",)
    points.vectors[0] = embedded([f"An older heading of this chunk\n\n{points.rows[0]['text']}"])[0]
    points.vectors[1] = -np.asarray(points.vectors[1])
    assert [entry.fields for entry in mismatch(points).subjects] == [("headings",), ()]


def with_headings(number: int = 90) -> Space:
    """A collection whose headings are embedded with the texts."""
    points = space(number, embedded_fields=("headings",))
    for row in points.rows:
        row["embedded_text"] = f"{' > '.join(row['headings'])}\n{row['text']}"
    points.vectors = list(embedded([row["embedded_text"] for row in points.rows]))
    return points


def empty_headings(points: Space, places: Collection[int], value: object) -> None:
    """Empty the headings of some points, as what is embedded again shows it, and keep their vectors."""
    for place in places:
        points.rows[place].update(headings=value, embedded_text=points.rows[place]["text"])


@pytest.mark.parametrize("value", [None, [], [" "]])
@pytest.mark.parametrize("amount", [1, 9, 45])
def test_a_vector_that_holds_a_heading_which_was_emptied_says_so_and_is_no_other_way_of_embedding(
    amount: int, value: object
) -> None:
    points = with_headings()
    empty_headings(points, chosen(amount), value)
    finding = mismatch(points)
    assert {entry.name for entry in finding.subjects} == points.named(chosen(amount))
    assert finding.details["looks_like"] == {"emptied": amount}
    assert "was emptied or removed" in finding.cause
    assert "Fill in the field again (headings)" in finding.remedy
    assert {entry.fields for entry in finding.subjects} == {("headings",)}


def test_points_that_never_had_a_heading_and_were_embedded_without_one_are_right() -> None:
    points = with_headings()
    empty_headings(points, range(0, 90, 3), None)
    points.vectors = list(embedded([row["embedded_text"] for row in points.rows]))
    assert subjects(points.examined()) == {}


def test_a_point_with_a_vector_slightly_changed_by_an_empty_heading_is_right_next_to_one_that_was_emptied() -> None:
    points, rng = with_headings(), np.random.default_rng(3)
    empty_headings(points, range(9), "")
    for place in range(1, 9):
        own = np.asarray(embedded([points.rows[place]["embedded_text"]])[0])
        aside = rng.standard_normal(SIZE)
        aside -= (aside @ own) / (own @ own) * own
        # A cosine of 0.9968, as a line break without a heading gives.
        points.vectors[place] = own + 0.08 * np.linalg.norm(own) * aside / np.linalg.norm(aside)
    assert {entry.name for entry in mismatch(points).subjects} == points.named([0])


def test_a_heading_that_was_empty_when_its_text_was_embedded_is_right_beside_one_that_was_emptied() -> None:
    points = with_headings()
    points.template = "{headings}\n{text}"
    empty_headings(points, range(9), "")
    for place in range(1, 9):
        # So short a text that a line break before it moves its vector beyond what is taken for the same.
        points.rows[place].update(text=f"Step {place}", embedded_text=f"Step {place}")
        points.vectors[place] = embedded([f"\nStep {place}"])[0]
    assert {entry.name for entry in mismatch(points).subjects} == points.named([0])


def test_noise_on_a_point_without_headings_stays_noise() -> None:
    points, rng = with_headings(), np.random.default_rng(3)
    empty_headings(points, range(9), None)
    points.vectors[:3] = [rng.standard_normal(SIZE).astype(np.float32) for _ in range(3)]
    assert mismatch(points).details["looks_like"] == {"emptied": 6, "noise": 3}


@pytest.mark.parametrize("amount", [1, 9, 45])
def test_the_vector_of_another_point_names_that_point(amount: int) -> None:
    points = space()
    for place in range(amount):
        points.vectors[place] = np.asarray(points.vectors[89 - place], dtype=np.float16).astype(np.float32)
    finding = mismatch(points)
    details = {entry.name: entry.details for entry in finding.subjects}
    assert details.keys() == points.named(range(amount))
    assert {details[points.ids[place]]["belongs_to"] for place in range(amount)} == points.named(range(90 - amount, 90))
    assert finding.details["looks_like"] == {"another_point": amount}


def shortened(vector: Floats) -> Floats:
    return np.where(np.arange(len(vector)) < 64, vector, np.float32(0))


def unsigned(vector: Floats) -> Floats:
    return np.round(vector / np.abs(vector).max() * 127 + 128).astype(np.float32)


@pytest.mark.parametrize(
    ("altered", "look", "words"),
    [
        (np.negative, "negated", "with the sign of each number flipped"),
        (unsigned, "shifted", "with a constant added to each number"),
        (shortened, "zero_padded", "they were shortened, and padded"),
    ],
)
def test_single_altered_vectors_of_their_texts_are_described_by_the_alteration(
    altered: Callable[[Floats], Floats], look: str, words: str
) -> None:
    points = space()
    for place in range(4):
        points.vectors[place] = altered(np.asarray(points.vectors[place]))
    finding = mismatch(points)
    assert {entry.name for entry in finding.subjects} == points.named(range(4))
    assert finding.details["looks_like"] == {look: 4}
    assert words in finding.cause


def test_a_collection_of_unsigned_numbers_is_of_the_right_model() -> None:
    points = space()
    points.vectors = [unsigned(np.asarray(vector)) for vector in points.vectors]
    [finding] = points.examined().findings
    assert (finding.code, finding.details["kind"]) == ("vector.model_mismatch", "altered")
    assert "a constant was added to each number before storing" in finding.cause


def as_int8(vectors: Floats) -> Floats:
    step = np.abs(vectors).max() / 127
    return (np.round(vectors / step) * step).astype(np.float32)


def as_bfloat16(vectors: Floats) -> Floats:
    return (vectors.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def jittered(distance: float) -> Callable[[Floats], Floats]:
    """Vectors of a model whose answers or weights are a little different: about so far away, each differently."""

    def apply(vectors: Floats) -> Floats:
        rng = np.random.default_rng(5)
        size = np.sqrt(2 * distance * rng.lognormal(0, 0.4, size=(len(vectors), 1)))
        noise = rng.standard_normal(vectors.shape)
        moved = vectors + size * noise / np.linalg.norm(noise, axis=1, keepdims=True)
        return (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)

    return apply


HONEST = {
    "float16": lambda vectors: vectors.astype(np.float16).astype(np.float32),
    "bfloat16": as_bfloat16,
    "int8": as_int8,
    "provider": jittered(1e-4),
    "quantised model": jittered(0.005),
    "coarse model": jittered(0.008),
}


@pytest.mark.parametrize("stored", HONEST)
def test_what_honest_storage_and_honest_models_change_is_never_named(stored: str) -> None:
    points = space(160)
    points.vectors = list(HONEST[stored](embedded([row["text"] for row in points.rows])))
    assert points.examined().findings == ()


@pytest.mark.parametrize("stored", HONEST)
def test_beside_honest_differences_an_older_text_and_noise_stand_out(stored: str) -> None:
    points, rng = space(160), random.Random(8)
    points.vectors = list(HONEST[stored](embedded([row["text"] for row in points.rows])))
    points.vectors[3] = np.random.default_rng(2).standard_normal(SIZE).astype(np.float32)
    for place in (40, 41):
        reword(points, place, 0.4, rng)
    assert {entry.name for entry in mismatch(points).subjects} == points.named([3, 40, 41])


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_wrong_every_point_that_does_not_match_is_named_in_one_finding_and_copies_in_two(seed: int) -> None:
    points, rng = space(150), random.Random(seed)
    vectors = list(points.vectors)
    places = rng.sample(range(150), 60)
    for place in places[:4]:
        points.vectors[place] = None
    for place in places[4:8]:
        points.vectors[place] = np.zeros(SIZE, dtype=np.float32)
    for place, other in zip(places[8:12], places[12:16], strict=True):
        points.vectors[place], points.vectors[other] = vectors[other], vectors[place]
    for place in places[16:20]:
        points.vectors[place] = vectors[places[59]]
    for place in places[20:26]:
        points.vectors[place] = np.random.default_rng(place).standard_normal(SIZE).astype(np.float32)
    for place, vector in zip(places[26:46], other_model([vectors[place] for place in places[26:46]]), strict=True):
        points.vectors[place] = vector if seed % 2 else points.vectors[place]
    for place in places[46:58]:
        reword(points, place, rng.choice((0.05, 0.2, 0.5)), rng)
    measurement = points.examined()
    off = points.named(np.flatnonzero(cosines(points) < MATCH).tolist())
    named = Counter(entry.name for finding in measurement.findings for entry in finding.subjects)
    assert off <= named.keys()
    assert {name for name, count in named.items() if count > 1} == points.named(places[16:20])
    # The source of copied vectors is named with its copies, although its own vector is right.
    assert named.keys() - off == points.named([places[59]])
    value = measurement.value("embedding_match")
    assert value is not None
    assert (value.numerator, value.denominator) == (150 - len(off), 150)


def test_where_too_many_points_are_off_to_compare_all_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    points = space()
    points.vectors = list(other_model(points.vectors))
    shifted = space()
    shifted.vectors = [*shifted.vectors[1:60], shifted.vectors[0], *shifted.vectors[60:]]
    monkeypatch.setattr(spaces, "COMPARISONS", 90 * 20)
    assert subjects(points.examined()) == {"vector.model_mismatch": {"c"}}
    assert subjects(shifted.examined()) == {"vector.swapped": shifted.named(range(60))}
