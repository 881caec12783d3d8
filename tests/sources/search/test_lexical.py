"""BM25 in memory: words of every script, scores of the formula, and the order of hits."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from ragval_pipeline.sources.search.lexical import K1, B, LexicalSearcher, words_of
from ragval_pipeline.sources.search.methods import Asked
from ragval_pipeline.sources.stores.qdrant.protocol import Equal, Hit

TEXTS = {
    "a": "The error E4711 is raised when the pump stalls",
    "b": "When the pump stalls, wait",
    "c": "The café on the first floor",
    "d": None,
    "e": "東京タワーは高い",
}


def passing(equal: Equal) -> frozenset[str]:
    return frozenset({"b", "c"}) if equal == {"kind": "kept"} else frozenset()


def searcher(batches: int = 1) -> LexicalSearcher:
    ids = list(TEXTS)
    size = math.ceil(len(ids) / batches)
    parts = [
        pa.record_batch({"point_id": ids[at : at + size], "text": [TEXTS[name] for name in ids[at : at + size]]})
        for at in range(0, len(ids), size)
    ]
    return LexicalSearcher(lambda: parts, lambda names: {name: {"text": TEXTS[name]} for name in names}, passing)


def asked(text: str, limit: int = 5, *, batches: int = 1) -> list[Hit]:
    made = searcher(batches)
    made.prepare([text])
    [found] = made.search_all([Asked(text, limit)], fields=["text"])
    return found.hits


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Snake_case, v1.2!", ["snake_case", "v1", "2"]),
        ("Crème BRÛLÉE", ["creme", "brulee"]),
        ("“plain”—quotes…", ["plain", "quotes"]),
        ("高い a", ["高", "い", "高い", "a"]),
        (" -- ", []),
        (None, []),
    ],
)
def test_words_are_found_in_every_script(text: str | None, words: list[str]) -> None:
    assert words_of(pa.array([text, "beside"], pa.string())).to_pylist() == [words, ["beside"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What is E4711?", ["a"]),
        ("CAFE", ["c"]),
        ("東京", ["e"]),
        ("pump stalls", ["b", "a"]),
        ("nothing of this", []),
        ("?", []),
    ],
)
def test_texts_that_share_words_with_the_question_come_by_their_scores(text: str, found: list[str]) -> None:
    for batches in (1, 3):
        hits = asked(text, batches=batches)
        assert [hit.id for hit in hits] == found
        assert [hit.rank for hit in hits] == list(range(1, len(found) + 1))
        assert all(hit.payload == {"text": TEXTS[hit.id]} for hit in hits)


def test_a_score_is_that_of_the_formula() -> None:
    lengths = [9, 5, 6, 0, 15]
    usual = sum(lengths) / len(lengths)
    rarity = math.log1p((5 - 1 + 0.5) / (1 + 0.5))
    [hit] = asked("e4711")
    assert hit.score == pytest.approx(rarity * (K1 + 1) / (1 + K1 * (1 - B + B * 9 / usual)))


def test_equal_scores_come_in_the_order_of_ids_and_no_more_than_asked_for() -> None:
    parts = [pa.record_batch({"point_id": ["c", "a", "b"], "text": ["x y"] * 3})]
    made = LexicalSearcher(lambda: parts, lambda _: {}, passing)
    made.prepare(["x"])
    [found] = made.search_all([Asked("x", 2)], fields=())
    assert [hit.id for hit in found.hits] == ["a", "b"]


def test_an_index_without_points_or_words_answers_nothing() -> None:
    made = LexicalSearcher(lambda: (), lambda _: {}, passing)
    made.prepare(["x", ""])
    assert [found.hits for found in made.search_all([Asked("x", 3), Asked("", 3)], fields=())] == [[], []]


@pytest.mark.parametrize(("equal", "found"), [(None, ["b", "a"]), ({"kind": "kept"}, ["b"]), ({"kind": "other"}, [])])
def test_a_filter_leaves_points_out_and_no_score_changes(equal: Equal | None, found: list[str]) -> None:
    made = searcher()
    made.prepare(["pump stalls"])
    [plain, filtered] = made.search_all([Asked("pump stalls", 5), Asked("pump stalls", 5, equal)], fields=())
    assert [hit.id for hit in filtered.hits] == found
    assert {hit.id: hit.score for hit in filtered.hits}.items() <= {hit.id: hit.score for hit in plain.hits}.items()
