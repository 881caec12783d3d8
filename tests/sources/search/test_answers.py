from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from qdrant_client import models

from ragval_pipeline.errors import NotMeasurableError, SystemFailure
from ragval_pipeline.sources.embedders.base import EmbeddingBatch
from ragval_pipeline.sources.search.answers import Answers, Question, ask_with
from ragval_pipeline.sources.search.methods import Method
from ragval_pipeline.sources.search.searchers import IndexSearcher, probe_all
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Found, Search
from tests.support.collections import Qdrant, open_qdrant

PLANE = VectorFacts(name=None, size=2, distance="Cosine")


class Compass:
    """Embeds a number of degrees."""

    model = "compass"
    dimension = None

    def __init__(self, size: int = 2) -> None:
        self.size = size
        self.asked: list[tuple[list[str], str]] = []

    def embed(self, texts: Sequence[str], *, input_type: str) -> EmbeddingBatch:
        self.asked.append((list(texts), input_type))
        angles = np.radians([float(text) for text in texts])
        plane = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        vectors = np.pad(plane, ((0, 0), (0, self.size - 2))).astype(np.float32)
        return EmbeddingBatch(vectors=vectors, calls=1, inputs=len(texts), elapsed_s=0.2)


class Recorder:
    """A reader that notes every search and may fail at one of them."""

    def __init__(self, reader: Any, fail_at: int | None = None) -> None:
        self.reader, self.fail_at = reader, fail_at
        self.searches: list[tuple[int, tuple[str, ...], bool]] = []
        self.place = "here"

    def search_all(self, searches: Sequence[Search], *, fields: Sequence[str], exact: bool) -> Iterator[Found]:
        for search in searches:
            self.searches.append((search.limit, tuple(fields), exact))
            if self.fail_at == len(self.searches):
                raise SystemFailure("here is gone", code="index.unreachable", system="Qdrant", subject="here")
            yield from self.reader.search_all([search], fields=fields, exact=exact)


def at(number: int, degrees: float, page: str) -> models.PointStruct:
    """A point in a direction; its number and page are its payload."""
    vector = [float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees)))]
    return models.PointStruct(id=number, vector=vector, payload={"url": page, "text": f"chunk {number}", "n": number})


@pytest.fixture
def qdrant() -> Iterator[Qdrant]:
    """Thirty chunks of one page around 0 degrees, then pages b, c and d further away."""
    with open_qdrant("local") as opened:
        crowd = [at(number, number / 10, "a") for number in range(30)]
        opened.create([*crowd, at(30, 40, "b"), at(31, 50, "c"), at(32, 60, "d"), at(33, 70, "")])
        yield opened


def page_of(payload: Mapping[str, Any]) -> str | None:
    return payload.get("url") or None


def ask(reader: Any, *questions: Question, embedder: Compass | None = None, **more: Any) -> Answers:
    ways = {name: more.pop(name) for name in ("vector", "exact", "input_type") if name in more}
    method = Method(exact=ways.pop("exact", False))
    searcher = IndexSearcher(embedder or Compass(), reader, **{"vector": PLANE, "method": method, **ways})
    return ask_with(questions, searcher=searcher, **{"fields": ["url", "text"], "page_of": page_of, **more})


def test_hits_come_with_their_fields_and_rank(qdrant: Qdrant) -> None:
    [answer] = ask(qdrant.reader(), Question("q1", "0", 3)).answers
    assert [(hit.rank, hit.id) for hit in answer.hits] == [(1, "0"), (2, "1"), (3, "2")]
    assert answer.hits[0].payload == {"url": "a", "text": "chunk 0"}
    assert answer.deeper == ()
    assert answer.error is None


def test_answers_with_the_same_points_share_what_the_points_hold(qdrant: Qdrant) -> None:
    first, second = ask(qdrant.reader(), Question("q1", "0", 3), Question("q2", "0", 3)).answers
    assert first.hits == second.hits
    assert all(one.payload is other.payload for one, other in zip(first.hits, second.hits, strict=True))


def test_all_texts_are_embedded_in_one_call_and_share_its_time(qdrant: Qdrant) -> None:
    embedder = Compass()
    questions = [Question(f"q{number}", str(number), 1) for number in range(4)]
    answers = ask(qdrant.reader(), *questions, embedder=embedder, input_type="search_document").answers
    assert embedder.asked == [(["0", "1", "2", "3"], "search_document")]
    assert [answer.embedding_ms for answer in answers] == pytest.approx([50.0] * 4)
    assert all(answer.search_ms is not None and answer.search_ms > 0 for answer in answers)


def test_the_ranking_is_deepened_until_it_holds_enough_pages(qdrant: Qdrant) -> None:
    recorder = Recorder(qdrant.reader())
    [answer] = ask(recorder, Question("q", "0", 5, pages=3)).answers
    ranked = [page_of(hit.payload) for hit in (*answer.hits, *answer.deeper)]
    assert list(dict.fromkeys(ranked))[:3] == ["a", "b", "c"]
    assert len(answer.hits) == 5
    limits = [limit for limit, _, _ in recorder.searches]
    assert limits[0] == 5
    assert limits == sorted(set(limits))
    assert len({hit.id for hit in (*answer.hits, *answer.deeper)}) == len(ranked)


def test_the_ranking_ends_with_the_collection(qdrant: Qdrant) -> None:
    [answer] = ask(qdrant.reader(), Question("q", "0", 5, pages=99)).answers
    assert len(answer.hits) + len(answer.deeper) == 34


def test_a_filter_ends_the_ranking_too(qdrant: Qdrant) -> None:
    recorder = Recorder(qdrant.reader(equal={"url": "b"}))
    [answer] = ask(recorder, Question("q", "0", 5, pages=3)).answers
    assert [hit.id for hit in answer.hits] == ["30"]
    assert len(recorder.searches) == 1


def test_nothing_is_deepened_without_ground_truth_or_with_enough_pages(qdrant: Qdrant) -> None:
    recorder = Recorder(qdrant.reader())
    ask(recorder, Question("none", "0", 5), Question("enough", "50", 3, pages=3))
    assert [limit for limit, _, _ in recorder.searches] == [5, 3]


def test_deeper_hits_bring_only_what_names_their_page(qdrant: Qdrant) -> None:
    recorder = Recorder(qdrant.reader())
    [answer] = ask(recorder, Question("q", "0", 5, pages=3), page_fields=["url"]).answers
    assert recorder.searches[0][1] == ("url", "text")
    assert {fields for _, fields, _ in recorder.searches[1:]} == {("url",)}
    assert set(answer.deeper[0].payload) == {"url"}


def test_every_question_is_repeated_without_payload(qdrant: Qdrant) -> None:
    recorder = Recorder(qdrant.reader())
    [answer] = ask(recorder, Question("q", "0", 2), repeats=3).answers
    assert recorder.searches == [(2, ("url", "text"), False), (2, (), False), (2, (), False)]
    assert [[hit.id for hit in again] for again in answer.repeats] == [["0", "1"], ["0", "1"]]
    assert [hit.score for hit in answer.repeats[0]] == [hit.score for hit in answer.hits]


def test_a_repeat_with_the_same_result_is_kept_once(qdrant: Qdrant) -> None:
    [answer] = ask(Recorder(qdrant.reader()), Question("q", "0", 2), repeats=3).answers
    assert all(again is answer.hits for again in answer.repeats)


def test_when_the_index_fails_in_between_the_answers_so_far_are_kept(qdrant: Qdrant) -> None:
    questions = [Question(f"q{number}", "0", 1) for number in range(4)]
    recorder = Recorder(qdrant.reader(), fail_at=3)
    result = ask(recorder, *questions)
    assert [answer.query_id for answer in result.answers] == ["q0", "q1", "q2", "q3"]
    assert [answer.error is None for answer in result.answers] == [True, True, False, False]
    assert result.answers[3].error == str(result.failure)
    assert result.answers[3].embedding_ms is not None
    assert len(recorder.searches) == 3  # a system that failed is not asked again


def test_an_embedder_of_another_size_is_not_measurable_and_names_both(qdrant: Qdrant) -> None:
    recorder = Recorder(qdrant.reader())
    with pytest.raises(NotMeasurableError, match="2 dimensions, but compass returns 3") as caught:
        ask(recorder, Question("q", "0", 1), embedder=Compass(size=3))
    assert caught.value.code == "vector.dimension"
    assert caught.value.details["expected"] == 2
    assert caught.value.details["found"] == 3
    assert recorder.searches == []


class Lost(Compass):
    """Embeds what is no number of degrees to zeros, as static vectors do with words that they do not hold."""

    def embed(self, texts: Sequence[str], *, input_type: str) -> EmbeddingBatch:
        known = super().embed([text if text.isdigit() else "0" for text in texts], input_type=input_type)
        return replace(known, vectors=known.vectors * np.array([[text.isdigit()] for text in texts]))


def test_a_text_that_is_embedded_to_zeros_is_an_error_by_itself(qdrant: Qdrant) -> None:
    found = ask(qdrant.reader(), Question("q1", "0", 3), Question("q2", "wörter", 3), embedder=Lost())
    assert found.failure is None
    assert [answer.error is None for answer in found.answers] == [True, False]
    assert "a vector of zeros" in str(found.answers[1].error)
    assert found.answers[1].hits == ()


def test_a_text_that_got_no_vector_has_no_share_of_the_time_of_embedding(qdrant: Qdrant) -> None:
    found = ask(qdrant.reader(), Question("q1", "0", 3), Question("q2", "wörter", 3), embedder=Lost())
    assert [answer.embedding_ms is None for answer in found.answers] == [False, True]


def test_hits_without_a_page_fill_the_ranking_too(qdrant: Qdrant) -> None:
    recorder = Recorder(qdrant.reader())
    ask(recorder, Question("q", "75", 3, pages=3))
    assert [limit for limit, _, _ in recorder.searches] == [3]


@pytest.mark.parametrize("kind", ["local", "edge"])
def test_every_vector_is_searched_for_both_ways(kind: str) -> None:
    points = [models.PointStruct(id=number, vector=[float(number), 1.0], payload={"a": 1}) for number in range(1, 30)]
    done: list[tuple[int, int]] = []
    with open_qdrant(kind) as qdrant:
        qdrant.create(points)
        vectors = {"query": {"q1": [1.0, 0.0]}, "point": {"5": [5.0, 1.0]}}
        probes = probe_all(
            vectors,  # type: ignore[arg-type]
            reader=qdrant.reader(),
            limit=3,
            on_progress=lambda *progress: done.append(progress),
        )
    assert [(probe.kind, probe.name) for probe in probes] == [("query", "q1"), ("point", "5")]
    assert [hit.id for hit in probes[0].exact] == ["29", "28", "27"]
    assert probes[1].exact[0].id == "5"
    assert all(probe.default == probe.exact for probe in probes)
    assert all(hit.payload == {} for probe in probes for hit in probe.exact)
    assert done == [(1, 2), (2, 2)]
