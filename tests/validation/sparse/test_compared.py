"""Sparse vectors computed again: honest ones match in every language, others are named with what they look like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import qdrant_edge as edge

from ragval_pipeline.sources.embedders.sparse import OF_SERVER, Encode, TextRow, word_counts
from ragval_pipeline.sources.stores.qdrant.sparse import SparseBatch
from ragval_pipeline.testing.defects.planters.sparse import weighted
from ragval_pipeline.validation.sparse.compared import compare_counts, compare_weights
from ragval_pipeline.validation.sparse.vectors import Held

STEMS = {"english": ("running", "tides", "printed"), "german": ("laufenden", "gezeiten", "gedruckte")}
#: Words that an ingestion leaves out.
STOPS = {"english": "the", "german": "die"}


def texts_of(language: str, count: int = 12) -> list[str]:
    stop, (one, two, three) = STOPS[language], STEMS[language]
    return [f"{stop} {one} {two} number{at} of item{at} {stop} {three} {two} extra{at} more{at}" for at in range(count)]


@pytest.fixture(scope="module")
def models() -> dict[str, Encode]:
    wanted = {"english", f"english{OF_SERVER}", "german", ""}
    return {language: encode for language, encode in word_counts() if language in wanted}


def held(rows: Sequence[dict[int, float]]) -> Held:
    kept = Held()
    kept.add(
        SparseBatch(
            tuple(str(number) for number in range(len(rows))),
            np.array([len(row) for row in rows], dtype=np.int64),
            np.array([index for row in rows for index in row], dtype=np.uint32),
            np.array([value for row in rows for value in row.values()], dtype=np.float32),
        )
    )
    return kept


def rows(texts: Sequence[str]) -> Iterator[TextRow]:
    return ((str(number), text, None) for number, text in enumerate(texts))


def stored(texts: Sequence[str], language: str, models: dict[str, Encode]) -> list[dict[int, float]]:
    [stop] = models[language]([STOPS[language]])
    counts = models[language](texts)
    return [weighted({index: count for index, count in each.items() if index not in stop}) for each in counts]


@pytest.mark.parametrize("language", STEMS)
def test_the_language_is_found_out_and_words_left_out_everywhere_are_not_missed(
    language: str, models: dict[str, Encode]
) -> None:
    texts = texts_of(language)
    found = compare_counts(held(stored(texts, language, models)), lambda: rows(texts), models.items())
    assert found is not None
    assert (found.points, found.language, found.wrong) == (12, language, {})


def test_words_that_qdrant_itself_embeds_end_at_underscores(models: dict[str, Encode]) -> None:
    texts = [
        f"{text}, set `max_run_time_{number}` or show_default=False" for number, text in enumerate(texts_of("english"))
    ]
    made = [edge.Bm25().embed_document(text) for text in texts]
    vectors = [dict(zip(each.indices, each.values, strict=True)) for each in made]
    found = compare_counts(held(vectors), lambda: rows(texts), models.items())
    assert found is not None
    assert (found.points, found.language, found.wrong) == (12, f"english{OF_SERVER}", {})
    swapped = [vectors[1], vectors[0], *vectors[2:]]
    found = compare_counts(held(swapped), lambda: rows(texts), models.items())
    assert found is not None
    assert set(found.wrong) == {"0", "1"}


def test_a_stop_word_may_share_its_ending_with_a_word_that_is_none(models: dict[str, Encode]) -> None:
    texts = [f"{text} {'others' if number == 3 else 'other'}" for number, text in enumerate(texts_of("english"))]
    counts = models["english"](texts)
    [other] = models["english"](["other"])
    [stop] = models["english"](["the"])
    made = [
        {index: count for index, count in row.items() if index not in stop and (number == 3 or index not in other)}
        for number, row in enumerate(counts)
    ]
    found = compare_counts(held([weighted(row) for row in made]), lambda: rows(texts), models.items())
    assert found is not None
    assert found.wrong == {}


def test_vectors_of_other_texts_and_other_weights_are_named(models: dict[str, Encode]) -> None:
    texts = texts_of("english")
    made = stored(texts, "english", models)
    made[1], made[2] = made[2], made[1]
    made[5] = {index: 3 * weight for index, weight in made[5].items()}
    found = compare_counts(held(made), lambda: rows(texts), models.items())
    assert found is not None
    assert {name: look for name, (look, _) in found.wrong.items()} == {"1": "text", "2": "text", "5": "weights"}


def test_settings_that_are_not_the_usual_ones_leave_the_words_to_be_compared(models: dict[str, Encode]) -> None:
    texts = texts_of("english")
    made = [{index: weight / 7 for index, weight in row.items()} for row in stored(texts, "english", models)]
    assert (found := compare_counts(held(made), lambda: rows(texts), models.items())) is not None
    assert found.wrong == {}
    made[1], made[2] = made[2], made[1]
    assert (found := compare_counts(held(made), lambda: rows(texts), models.items())) is not None
    assert set(found.wrong) == {"1", "2"}


def test_words_of_another_tokenizer_say_nothing_about_single_points(models: dict[str, Encode]) -> None:
    texts = texts_of("english")
    made = [{index + 1: weight for index, weight in row.items()} for row in stored(texts, "english", models)]
    assert compare_counts(held(made), lambda: rows(texts), models.items()) is None


def test_the_embedded_text_counts_where_it_is_another_one(models: dict[str, Encode]) -> None:
    texts = texts_of("english")
    whole = [f"Title{number} {text}" for number, text in enumerate(texts)]
    made = stored(whole, "english", models)
    found = compare_counts(
        held(made),
        lambda: ((str(number), text, whole[number]) for number, text in enumerate(texts)),
        models.items(),
    )
    assert found is not None
    assert found.wrong == {}


def test_the_users_own_model_is_taken_as_it_is(models: dict[str, Encode]) -> None:
    texts = texts_of("english")
    own = models["english"]
    assert compare_weights(held(own(texts)), lambda: rows(texts), own).wrong == {}
    others = [dict.fromkeys(row, 1.0) for row in own(texts)]
    found = compare_weights(held([*own(texts)[:-1], others[-1]]), lambda: rows(texts), own)
    assert set(found.wrong) == {"11"}
