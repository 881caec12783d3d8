"""Another model for all or for a part, other texts, and what lies between."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ragval_pipeline.findings.causes import Site
from ragval_pipeline.findings.graph import explain
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.embedders.base import EmbeddingBatch, InputType
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.validation.thresholds import NOISE
from ragval_pipeline.validation.vectors.trials import Tested as Points
from ragval_pipeline.validation.vectors.trials import try_all
from tests.validation.vectors.space import Floats, Refusing, Space, embedded, named, other_model, space, subjects, texts

EARLIER, LATER = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def mixed(points: Space, amount: int) -> set[str]:
    places = random.Random(11).sample(range(len(points.rows)), amount)
    turned = other_model([points.vectors[place] for place in places])
    for place, vector in zip(places, turned, strict=True):
        points.vectors[place] = vector
    return points.named(places)


def only(points: Space) -> Finding:
    [finding] = points.examined().findings
    return finding


def behind_headers() -> Space:
    """A clean collection whose framework embeds each text behind its title."""
    points = space()
    for row in points.rows:
        row["embedded_text"] = f"title: {row['title']}\n\n{row['text']}"
    points.vectors = list(embedded([row["embedded_text"] for row in points.rows]))
    return points


def test_what_the_framework_embedded_is_embedded_again_and_not_the_stored_text() -> None:
    measurement = behind_headers().examined()
    assert measurement.findings == ()
    assert measurement.values[0].numerator == measurement.values[0].denominator == 90


def test_an_index_of_the_stored_texts_alone_differs_from_what_its_framework_embeds() -> None:
    points = behind_headers()
    points.vectors = list(embedded([row["text"] for row in points.rows]))
    finding = only(points)
    assert finding.code == "vector.model_mismatch"
    assert "as the stored texts alone" in (finding.cause or "")


@pytest.mark.parametrize("amount", [5, 9, 30, 45, 72])
def test_a_part_of_another_model_is_named_point_by_point(amount: int) -> None:
    points = space()
    planted = mixed(points, amount)
    assert subjects(points.examined()) == {"vector.mixed_models": planted}


def test_a_part_of_another_model_beside_a_rest_that_was_embedded_otherwise_names_both() -> None:
    points = space()
    points.vectors = list(embedded([f"{row['title']}\n\n{row['text']}" for row in points.rows]))
    planted = mixed(points, 20)
    measurement = points.examined()
    assert subjects(measurement) == {"vector.mixed_models": planted, "vector.model_mismatch": {"c"}}
    mismatch = next(entry for entry in measurement.findings if entry.code == "vector.model_mismatch")
    assert "the page title in front" in mismatch.cause
    assert mismatch.details["sampled"] == 70


@pytest.mark.parametrize(
    ("field", "part", "rest", "cause"),
    [
        ("model", "new-model", "old-model", "new-model"),
        ("embedded_at", LATER, EARLIER, f"these points were embedded from {LATER} on, the rest not."),
        ("embedded_at", EARLIER, LATER, f"these points were embedded up to {EARLIER}, the rest not."),
    ],
)
def test_the_models_that_the_payload_names_or_the_day_of_embedding_explain_the_parts(
    field: str, part: str, rest: str, cause: str
) -> None:
    points = space()
    planted = mixed(points, 30)
    for row in points.rows:
        row[field] = part if row["point_id"] in planted else rest
    finding = only(points)
    assert finding.details["split"]["by"] == field
    assert cause in finding.cause


def test_a_part_whose_texts_were_embedded_in_another_way_is_no_change_of_the_model() -> None:
    points = space()
    for place in range(30):
        row = points.rows[place]
        row["embedded_at"] = "2026-01-01T00:00:00Z"
        points.vectors[points.ids.index(row["point_id"])] = embedded([f"{row['title']}\n\n{row['text']}"])[0]
    for row in points.rows[30:]:
        row["embedded_at"] = "2026-02-01T00:00:00Z"
    finding = only(points)
    assert finding.code == "vector.mixed_models"
    assert finding.cause == (
        "The way of embedding was changed between ingestions: these points were embedded up to 2026-01-01T00:00:00Z, "
        "the rest not; they were embedded with the page title in front of each text."
    )


@pytest.mark.parametrize("amount", [5, 30])
def test_titles_embedded_in_the_place_of_some_texts_are_no_copied_vectors(amount: int) -> None:
    points = space()
    places = random.Random(amount).sample(range(90), amount)
    for place in places:
        points.vectors[place] = embedded([points.rows[place]["title"]])[0]
    assert subjects(points.examined()) == {"vector.mixed_models": points.named(places)}
    finding = only(points)
    assert finding.cause == "They were embedded from the page title, without the text, the rest not."
    assert (finding.details["sampled"], finding.details["share"]) == (90, round(amount / 90, 4))


def test_ids_explain_the_parts_when_a_range_of_them_was_written_later() -> None:
    points = space()
    for place, vector in enumerate(other_model(points.vectors[60:]), 60):
        points.vectors[place] = vector
    split = only(points).details["split"]
    assert (split["by"], split["other_from"]) == ("id", points.ids[60])


def test_swapped_vectors_and_another_model_are_distinguished() -> None:
    points = space()
    for place in range(0, 20, 2):
        points.vectors[place], points.vectors[place + 1] = points.vectors[place + 1], points.vectors[place]
    for place, vector in enumerate(other_model(points.vectors[20:50]), 20):
        points.vectors[place] = vector
    assert subjects(points.examined()) == {
        "vector.swapped": points.named(range(20)),
        "vector.mixed_models": points.named(range(20, 50)),
    }


def test_another_model_for_all_is_a_mismatch_and_names_the_contradiction() -> None:
    points = space()
    points.vectors = list(other_model(points.vectors))
    for row in points.rows:
        row["model"] = "embed-english-v3.0"
    finding = only(points)
    assert (finding.code, [entry.name for entry in finding.subjects]) == ("vector.model_mismatch", ["c"])
    assert finding.details["kind"] == "another_model"
    assert finding.details["matching"] == 0
    assert abs(finding.details["median_cosine"]) < 0.2
    assert "embed-english-v3.0" in finding.cause


def test_where_each_point_has_several_vectors_another_one_may_be_that_of_the_texts() -> None:
    points = space(other_vectors=("content",))
    points.vectors = list(embedded([row["title"] for row in points.rows]))
    [finding] = [each for each in points.examined().findings if each.code == "vector.model_mismatch"]
    assert finding.remedy.startswith("Set qdrant.vector_name to the vector of the texts, if that is content. Embed")


def test_a_model_with_the_same_common_direction_is_still_another_model() -> None:
    points = space()
    mean = np.mean([vector for vector in points.vectors if vector is not None], axis=0)
    leaning = [vector + 0.7 * mean / np.linalg.norm(mean) for vector in other_model(points.vectors)]
    points.vectors = [(vector / np.linalg.norm(vector)).astype(np.float32) for vector in leaning]
    assert only(points).details["kind"] == "another_model"


def joined(row: dict[str, Any]) -> str:
    return f"{' > '.join(row['headings'])}\n\n{row['text']}"


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (lambda row: f"{row['title']}\n\n{row['text']}", "preprocessing", "page title in front"),
        (joined, "preprocessing", "heading path in front"),
        (lambda row: row["text"].lower(), "preprocessing", "in lower case"),
        (lambda row: row["title"], "preprocessing", "from the page title, without the text"),
        (lambda row: row["headings"][-1], "preprocessing", "from the section's heading, without the text"),
        (lambda row: row["text"][:110], "truncation", "the first 1"),
    ],
)
def test_what_was_embedded_instead_of_the_text_is_found_out(
    text: Callable[[dict[str, Any]], str], kind: str, words: str
) -> None:
    points = space()
    points.vectors = list(embedded([text(row) for row in points.rows]))
    finding = only(points)
    assert (finding.code, finding.details["kind"]) == ("vector.model_mismatch", kind)
    assert words in finding.cause
    assert finding.details["best_variant"]["explains"]


@pytest.mark.parametrize("amount", [20, 90])
@pytest.mark.parametrize(
    ("altered", "words"),
    [
        (-np.ones(256), "and the sign of each number was flipped before storing"),
        (np.arange(256) < 64, "and stored with 0 in 192 of 256 numbers, as a shortened vector is"),
    ],
)
def test_what_was_done_to_the_vectors_of_many_texts_is_found_out(altered: Floats, words: str, amount: int) -> None:
    points = space()
    places = random.Random(amount).sample(range(90), amount)
    for place in places:
        points.vectors[place] = np.asarray(points.vectors[place]) * np.asarray(altered, dtype=np.float32)
    finding = only(points)
    if amount < 90:
        assert {entry.name for entry in finding.subjects} == points.named(places)
        assert finding.cause == f"They were embedded {words}, the rest not."
    else:
        assert (finding.code, finding.details["kind"]) == ("vector.model_mismatch", "altered")
        assert words in finding.cause


@pytest.mark.parametrize(
    ("text", "template"),
    [
        (lambda row: f"{row['title']}\n{row['text']}", "{title}\n{text}"),
        (lambda row: f"{' > '.join(row['headings'])}: {row['text']}", "{headings}: {text}"),
        (lambda row: row["text"].lower(), None),
        (lambda row: row["text"][:110], None),
    ],
)
def test_what_a_suite_can_say_was_embedded_is_the_remedy(
    text: Callable[[dict[str, Any]], str], template: str | None
) -> None:
    points = space()
    points.vectors = list(embedded([text(row) for row in points.rows]))
    finding = only(points)
    assert finding.details["best_variant"].get("embedded_text") == template
    assert ("the index is right: set embedded_text" in finding.remedy) == (template is not None)
    assert template is None or json.dumps(template) in finding.remedy


def test_upper_case_is_tried_as_lower_case_is() -> None:
    points = space()
    points.vectors = list(embedded([row["text"].upper() for row in points.rows]))
    found = {finding.code: finding for finding in explain(points.examined().findings, Site())}
    assert "embedded in upper case" in found["vector.model_mismatch"].cause
    assert {finding.because for code, finding in found.items() if code != "vector.model_mismatch"} <= {
        "vector.model_mismatch"
    }


def test_how_close_beginnings_come_is_measured_at_one_length_over_all_points_like_every_other_way() -> None:
    points = space()
    rows: list[Mapping[str, Any]] = [{**row, "stored_text": row["text"]} for row in points.rows[:20]]
    # Each text has a beginning of its own that comes closer than the whole; no length does for all.
    stored = embedded([row["text"][: 60 + 7 * number] + " glasshouse tomato" for number, row in enumerate(rows)])
    own = embedded([row["text"] for row in rows])
    tested = Points(rows, stored, np.einsum("ij,ij->i", stored, own), off=20)
    [trial] = [one for one in try_all(tested, lambda texts, _: embedded(list(texts))) if one.name == "truncated"]
    limit = int(re.findall(r"first (\d+) characters", trial.means)[0])
    cut = embedded([row["text"][:limit] for row in rows])
    assert trial.median == pytest.approx(float(np.median(np.einsum("ij,ij->i", stored, cut))), abs=0.01)
    assert not trial.explains


def test_a_model_that_reads_only_the_beginning_of_long_texts_is_a_mismatch_although_most_match() -> None:
    points = space()
    limit = sorted(len(row["text"]) for row in points.rows)[60]
    points.vectors = list(embedded([row["text"][: limit // 2] for row in points.rows]))
    for row, vector in zip(points.rows, embedded([row["text"] for row in points.rows]), strict=True):
        place = points.ids.index(row["point_id"])
        if len(row["text"]) <= limit:
            points.vectors[place] = vector
            points.set_text(place, row["text"][: limit // 2])
            points.vectors[place] = embedded([points.rows[place]["text"]])[0]
    finding = only(points)
    assert finding.details["kind"] == "truncation"
    assert "Re-embed the collection from whole texts" in str(finding.remedy)
    assert finding.details["matching"] >= 60


class NearlyAlike(StaticEmbedder):
    """Embeds queries a little otherwise: a few by more than what counts as a match, the others by less."""

    def __init__(self, far: Collection[str]) -> None:
        self.far = far

    def embed(self, texts: Sequence[str], *, input_type: Any) -> Any:
        batch = super().embed(texts, input_type=input_type)
        if input_type == "search_query":
            moved = [
                vector + (0.25 if text in self.far else 0.1) * np.eye(256, dtype=np.float32)[0]
                for text, vector in zip(texts, batch.vectors, strict=True)
            ]
            batch = replace(batch, vectors=np.array([vector / np.linalg.norm(vector) for vector in moved]))
        return batch


@pytest.mark.parametrize(("amount", "named"), [(90, "vector.model_mismatch"), (30, "vector.mixed_models")])
def test_a_way_that_comes_close_to_points_that_are_right_already_is_not_that_of_all(amount: int, named: str) -> None:
    points = space()
    points.embedder = NearlyAlike([row["text"] for row in points.rows[:15]])
    asked = points.embedder.embed([row["text"] for row in points.rows], input_type="search_query").vectors
    points.vectors[:amount] = list(asked[:amount])
    # Of the thirty, only fifteen are further from their texts than what counts as a match; the way gives all of them.
    assert subjects(points.examined()) == {named: {"c"} if amount == 90 else points.named(range(30))}


def test_long_texts_that_hide_what_was_put_in_front_of_them_belong_to_the_part_that_it_was_put_in_front_of() -> None:
    points = space()
    for place in range(0, 90, 3):
        points.set_text(place, " ".join(texts()[place : place + 20]))
    points.vectors = list(embedded([row["text"] for row in points.rows]))
    places = range(30)
    prefixed = embedded([f"passage: {points.rows[place]['text']}" for place in places])
    assert max(np.einsum("ij,ij->i", prefixed, np.array(points.vectors[:30]))) > 1 - NOISE
    points.vectors[:30] = list(prefixed)
    assert subjects(points.examined()) == {"vector.mixed_models": points.named(places)}


def test_a_collection_that_was_embedded_as_queries_is_the_ingestions_fault_not_that_of_the_questions() -> None:
    points = space()
    points.embedder = NearlyAlike([row["text"] for row in points.rows])
    points.vectors = list(
        points.embedder.embed([row["text"] for row in points.rows], input_type="search_query").vectors
    )
    finding = only(points)
    assert finding.cause.startswith("The ingestion embedded its texts as queries")
    assert "Have the ingestion embed texts as documents" in finding.remedy


@pytest.mark.parametrize("amount", [5, 30, 55])
def test_a_part_that_was_embedded_as_queries_is_no_collection_of_changed_texts(amount: int) -> None:
    points = space()
    points.embedder = NearlyAlike([row["text"] for row in points.rows])
    asked = points.embedder.embed([row["text"] for row in points.rows], input_type="search_query").vectors
    places = random.Random(3).sample(range(90), amount)
    for place in places:
        points.vectors[place] = asked[place]
    finding = only(points)
    assert (finding.code, finding.details["kind"]) == ("vector.mixed_models", "input_type")
    assert {entry.name for entry in finding.subjects} == points.named(places)
    assert finding.cause == "They were embedded as queries (input type search_query), the rest not."


def test_every_point_of_a_part_of_which_only_the_beginning_was_embedded_is_named_however_little_it_says() -> None:
    points = space()
    places = range(0, 90, 3)
    for place in places:
        points.vectors[place] = embedded([points.rows[place]["text"][:100]])[0]
    found = {finding.code: finding for finding in points.examined().findings}
    assert named(found.values())["vector.mixed_models"] == points.named(places)
    assert found["vector.mixed_models"].details["kind"] == "truncation"
    assert "vector.text_mismatch" not in found


def test_texts_that_were_lengthened_since_were_not_cut_when_they_were_embedded() -> None:
    points = space()
    for place in range(0, 60, 2):
        older = points.rows[place]["text"][: 60 + 3 * place]
        points.set_text(place, f"{older} {points.rows[place + 1]['text'][:60]}")
        points.vectors[place] = embedded([older])[0]
    finding = only(points)
    assert finding.code == "vector.text_mismatch"
    assert finding.details["looks_like"].keys() == {"another_text"}
    assert finding.cause == (
        "The stored text is not what was embedded: it was changed later or prepared in another way, something else was "
        "embedded on purpose, such as a question that it answers, or another version of the model was used."
    )


class HardlyCased(StaticEmbedder):
    """Capital letters move a vector a little: about a third of the texts further than what counts as a match."""

    def embed(self, texts: Sequence[str], *, input_type: Any) -> Any:
        batch = super().embed(texts, input_type=input_type)
        moved = 0.4 * super().embed([text.lower() for text in texts], input_type=input_type).vectors
        moved += 0.6 * batch.vectors
        return replace(batch, vectors=moved / np.linalg.norm(moved, axis=1, keepdims=True))


def test_lower_case_for_all_is_a_mismatch_although_most_come_close_enough_to_match() -> None:
    points = space()
    points.embedder = HardlyCased()
    points.vectors = list(embedded([row["text"].lower() for row in points.rows]))
    finding = only(points)
    assert (finding.code, finding.details["kind"]) == ("vector.model_mismatch", "preprocessing")
    assert 45 <= finding.details["matching"] <= 75
    assert "in lower case" in finding.cause


class Hardly(StaticEmbedder):
    """What stands before a text's first line moves its vector a little, and that of a short text much."""

    def embed(self, texts: Sequence[str], *, input_type: Any) -> Any:
        whole, rest = (
            super(Hardly, self).embed(each, input_type=input_type)
            for each in (texts, [text.partition("\n")[2] or text for text in texts])
        )
        parts = np.array([[0.7 if len(text) < 250 else 0.2] for text in texts])
        moved = parts * whole.vectors + (1 - parts) * rest.vectors
        return replace(whole, vectors=moved / np.linalg.norm(moved, axis=1, keepdims=True))


def test_a_title_in_front_is_found_out_although_only_the_shortest_texts_tell() -> None:
    points = space()
    points.embedder = Hardly()
    for place, row in enumerate(points.rows):
        text = " ".join(row["text"].split())
        points.set_text(place, text[:150] if place < 3 else f"{text} {text}")
    texts = [f"{row['title']}\n{row['text']}" for row in points.rows]
    points.vectors = list(points.embedder.embed(texts, input_type="search_document").vectors)
    finding = only(points)
    assert (finding.code, finding.details["matching"]) == ("vector.model_mismatch", 87)
    assert finding.details["best_variant"]["embedded_text"] == "{title}\n{text}"


def test_words_that_nobody_can_guess_are_said_to_be_unknown() -> None:
    points = space()
    points.vectors = list(embedded([f"{row['text']} {'glasshouse tomato ' * 6}" for row in points.rows]))
    finding = only(points)
    assert finding.details["kind"] in {"preprocessing", "unclear"}
    assert not finding.details["best_variant"]["explains"]
    assert "another version of the model" in finding.cause


def late(points: Space) -> list[Floats]:
    """Vectors of chunks that were read within their pages, of five chunks each."""
    own = embedded([row["text"] for row in points.rows])
    pages = own.reshape(-1, 5, own.shape[1]).mean(axis=1).repeat(5, axis=0)
    return list(0.5 * own + 0.5 * pages)


def contexts(points: Space) -> list[Floats]:
    """Vectors of texts behind words about their page that are stored nowhere."""
    about = [" ".join(points.rows[at - at % 5 + 1]["text"].split()[5:14]) for at in range(len(points.rows))]
    return list(embedded([f"{words}. {row['text']}" for words, row in zip(about, points.rows, strict=True)]))


@pytest.mark.parametrize("made", [late, contexts])
def test_vectors_that_hold_something_of_their_pages_may_be_right_and_the_remedy_says_so(
    made: Callable[[Space], list[Floats]],
) -> None:
    points = space()
    points.vectors = list(made(points))
    finding = only(points)
    assert finding.details["kind"] == "context"
    assert "late chunking" in finding.cause
    assert "set vector.model_mismatch: off under severity" in finding.remedy


@pytest.mark.parametrize("every", [10, 3])
def test_texts_that_were_cut_beside_whole_ones_are_single_points_and_no_context(every: int) -> None:
    points = space()
    places = range(0, 90, every)
    for place in places:
        points.set_text(place, points.rows[place]["text"][:120].rstrip() + "…")
    finding = only(points)
    assert finding.code == "vector.text_mismatch"
    assert {subject.name for subject in finding.subjects} == points.named(places)


def test_what_has_nothing_to_do_with_pages_is_no_context() -> None:
    """Another version of a model moves each vector a little, and an input type all of them alike."""
    points, drawn = space(), np.random.default_rng(3)
    own = embedded([row["text"] for row in points.rows])
    moved = drawn.standard_normal(own.shape).astype(np.float32) * 0.4 / np.sqrt(own.shape[1])
    for vectors in (own + moved, own + 2 * own.mean(axis=0)):
        points.vectors = list(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
        assert only(points).details["kind"] == "preprocessing"


def test_a_trace_of_their_pages_in_some_vectors_is_no_way_of_embedding() -> None:
    """What a cleaning takes away, such as capitals and marks, is similar within some pages."""
    points, drawn = space(), np.random.default_rng(3)
    own, within = embedded([row["text"] for row in points.rows]), np.array(late(points))
    moved = drawn.standard_normal(own.shape).astype(np.float32) * 0.4 / np.sqrt(own.shape[1])
    some = np.arange(len(own))[:, None] % 15 < 5
    vectors = np.where(some, within, own + moved)
    points.vectors = list(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    assert only(points).details["kind"] == "preprocessing"


def test_a_prefix_of_queries_in_front_of_documents_is_found_out() -> None:
    points = space()
    points.vectors = list(embedded([f"search_query: {row['text']}" for row in points.rows]))
    finding = only(points)
    assert "with the prefix 'search_query: '" in finding.cause
    assert "Have the ingestion embed texts as documents" in finding.remedy
    assert finding.details["best_variant"]["embedded_text"] == "search_query: {text}"


def test_texts_that_begin_alike_share_a_vector_because_of_the_mismatch() -> None:
    points = space()
    preface = (
        "This page is part of the handbook of robots, whose licence everybody must read before anything else. " * 2
    )
    for place in range(90):
        points.set_text(place, (preface if place < 8 else "") + points.rows[place]["text"])
    points.vectors = list(embedded([row["text"][:120] for row in points.rows]))
    found = {finding.code: finding for finding in explain(points.examined().findings, Site())}
    assert found["vector.model_mismatch"].details["kind"] == "truncation"
    assert found["vector.identical"].because == "vector.model_mismatch"


def test_noise_beside_texts_that_were_embedded_otherwise_is_named_for_itself() -> None:
    points = space()
    points.vectors = list(embedded([f"{row['title']}\n\n{row['text']}" for row in points.rows]))
    points.vectors[17] = np.random.default_rng(3).standard_normal(256).astype(np.float32)
    assert subjects(points.examined()) == {"vector.model_mismatch": {"c"}, "vector.text_mismatch": points.named([17])}


def test_noise_for_all_is_a_mismatch_that_says_so() -> None:
    points = space()
    points.vectors = list(np.random.default_rng(3).standard_normal((90, 256)).astype(np.float32))
    finding = only(points)
    assert (finding.code, finding.details["kind"]) == ("vector.model_mismatch", "noise")


def test_an_embedder_that_fails_leaves_what_vectors_tell_by_themselves() -> None:
    points = space(embedder=Refusing(calls=1))
    points.vectors[50] = np.zeros(256, dtype=np.float32)
    measurement = points.examined()
    assert subjects(measurement) == {"embedder.unreachable": {"HTTP 401"}, "vector.zero": points.named([50])}
    assert measurement.failure is not None
    assert measurement.failure.kind == "unreachable"
    assert measurement.values == ()


@pytest.mark.parametrize("every", [1, 2])
def test_no_way_is_tried_with_a_blank_text_which_providers_refuse(every: int) -> None:
    """Chunks without a title or headings have nothing that could have been embedded in place of their text."""
    rows = [{**row, "stored_text": row["text"]} for row in space().rows[:20]]
    for row in rows[::every]:
        row.update(title=None, headings=[], text="***" if every == 2 else row["text"])
    stored = np.random.default_rng(3).standard_normal((20, 256)).astype(np.float32)
    asked: list[str] = []

    def embed(texts: Sequence[str], _: str) -> Any:
        asked.extend(texts)
        return embedded(list(texts))

    assert {"title_alone", "markup", "truncated"} <= {
        trial.name for trial in try_all(Points(rows, stored, np.zeros(20), off=20), embed)
    }
    assert asked
    assert all(text.strip() for text in asked)


def test_an_embedder_that_fails_during_the_trials_is_a_failure_too() -> None:
    points = space(embedder=Refusing(calls=3))
    points.vectors = list(embedded([f"{row['title']}\n\n{row['text']}" for row in points.rows]))
    measurement = points.examined()
    assert {finding.code for finding in measurement.findings} == {"embedder.unreachable", "vector.model_mismatch"}
    assert measurement.failure is not None


@pytest.mark.parametrize("distance", ["Euclid", "Manhattan"])
def test_a_distance_that_the_model_is_not_made_for_is_named(distance: str) -> None:
    finding = only(space(distance=distance))
    assert (finding.code, finding.details["found"]) == ("vector.dimension", distance)


def test_the_dot_product_of_unit_vectors_is_the_cosine() -> None:
    assert space(distance="Dot").examined().findings == ()
    points = space(distance="Dot")
    points.vectors = [vector * 3 for vector in points.vectors if vector is not None]
    assert only(points).code == "vector.dimension"


@pytest.mark.parametrize("length", [3.0, 0.5])
@pytest.mark.parametrize("amount", [1, 9, 40])
def test_where_most_vectors_have_length_1_the_others_are_named_and_the_distance_is_right(
    length: float, amount: int
) -> None:
    points = space(distance="Dot")
    places = random.Random(3).sample(range(len(points.rows)), amount)
    for place in places:
        points.vectors[place] = points.vectors[place] * length
    finding = only(points)
    assert (finding.code, {subject.name for subject in finding.subjects}) == (
        "vector.text_mismatch", points.named(places),
    )  # fmt: skip
    assert finding.message.startswith(f"{amount} of {len(points.rows)} points")
    assert {subject.details["length"] for subject in finding.subjects} == {length}
    assert "not normalised" in finding.cause


@pytest.mark.parametrize("distance", ["Dot", "Euclid", "Manhattan"])
def test_a_vector_that_alone_is_not_normalised_is_named_whatever_the_model_is_made_for(distance: str) -> None:
    points = space(distance=distance, made_for_cosine=False)
    points.vectors[7] = points.vectors[7] * 8
    assert subjects(points.examined()) == {"vector.text_mismatch": points.named([7])}


def test_vectors_of_a_model_that_gives_every_text_a_length_of_its_own_are_right() -> None:
    points = space(distance="Dot", made_for_cosine=False)
    points.vectors = [vector * (1 + place % 7) for place, vector in enumerate(points.vectors)]
    assert points.examined().findings == ()


class _LongStatic(StaticEmbedder):
    """A model whose vectors are not normalised."""

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        batch = super().embed(texts, input_type=input_type)
        return replace(batch, vectors=batch.vectors * 3)


@pytest.mark.parametrize(("scale", "lost", "amount"), [(1, 0, 1), (1, 0, 45), (1, 40, 25), (127, 0, 9), (127, 0, 44)])
def test_where_vectors_are_not_normalised_one_of_another_length_than_that_of_its_text_is_named(
    scale: int, lost: int, amount: int
) -> None:
    points = space(distance="Dot", made_for_cosine=False, embedder=_LongStatic())
    points.vectors = [vector * 3 * scale for vector in points.vectors if vector is not None]
    places = random.Random(3).sample(range(lost, len(points.rows)), amount)
    for place in places:
        points.vectors[place] = points.vectors[place] / 30 * scale
    points.vectors[:lost] = [None] * lost
    found = {code: names for code, names in subjects(points.examined()).items() if code != "vector.missing"}
    assert found == {"vector.text_mismatch": points.named(places)}


def test_a_whole_batch_without_vectors_is_named() -> None:
    points = space()
    points.vectors[: points.batch] = [None] * points.batch
    assert subjects(points.examined()) == {"vector.missing": points.named(range(points.batch))}


@pytest.mark.parametrize("gone", ["missing", "zero"])
def test_half_of_the_vectors_gone_says_nothing_about_the_lengths_of_the_others(gone: str) -> None:
    points = space(distance="Dot", made_for_cosine=False, embedder=_LongStatic())
    points.vectors = [vector * 3 for vector in points.vectors if vector is not None]
    half = len(points.rows) // 2 + 1
    points.vectors[:half] = [None if gone == "missing" else vector * 0 for vector in points.vectors[:half]]
    assert subjects(points.examined()) == {f"vector.{gone}": points.named(range(half))}


def test_what_length_a_vector_has_does_not_matter_where_searches_compare_by_angle() -> None:
    points = space(distance="Cosine")
    points.vectors[3] = points.vectors[3] * 3
    assert points.examined().findings == ()


def test_a_long_vector_of_another_text_is_named_once() -> None:
    points = space(distance="Dot")
    points.vectors[3], points.vectors[50] = points.vectors[50] * 3, points.vectors[3]
    assert subjects(points.examined()) == {"vector.swapped": points.named([3, 50])}


def test_texts_that_are_all_cut_at_one_length_may_be_the_beginning_of_what_was_embedded() -> None:
    points = space()
    for row in points.rows:
        row["text"] = str(row["text"])[:60]
    finding = only(points)
    assert finding.code == "vector.model_mismatch"
    assert "exactly 60 characters" in finding.cause
    assert "payload.fields.text" in finding.remedy
