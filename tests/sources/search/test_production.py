from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.search.answers import Question, ask_with
from ragval_pipeline.sources.search.methods import Asked
from ragval_pipeline.sources.search.production import CompletedSearcher, ProductionSearcher

Searching = Callable[..., ProductionSearcher]


@pytest.fixture
def searching(tmp_path: Path, request: pytest.FixtureRequest) -> Searching:
    """Makes a searcher of a module that the user wrote; each test has a module of its own."""
    name = re.sub(r"\W", "_", f"users_search_{request.node.name}")

    def make(code: str, attribute: str = "search", **more: Any) -> ProductionSearcher:
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
        return ProductionSearcher(f"{name}:{attribute}", search_path=tmp_path, **more)

    return make


ONE = "[{'id': 1, 'score': 0.5, 'payload': {'text': 'x'}}]"


def test_a_function_gives_hits_for_one_text_at_a_time(searching: Searching) -> None:
    hit_code = "{'id': 7, 'score': top_k, 'payload': {'t': texts, 'f': filter}}"
    code = f"def search(texts, top_k, filter):\n    return [[{hit_code}]]"
    [hit] = searching(code, equal={"site": "a"}).search("How?", limit=3)
    assert (hit.rank, hit.id, hit.score) == (1, "7", 3.0)
    assert hit.payload == {"t": ["How?"], "f": {"site": "a"}}
    [hit] = searching(code, equal={"site": "a"}).search("How?", limit=3, equal={"lang": "de"})
    assert hit.payload["f"] == {"site": "a", "lang": "de"}


def test_a_class_is_built_once_and_asked_by_its_search(searching: Searching) -> None:
    code = (
        "class Mine:\n    def __init__(self): self.calls = 0\n"
        "    def search(self, texts, top_k, filter):\n        self.calls += 1\n"
        "        return [{'id': self.calls, 'score': 1, 'payload': None}]"
    )
    searcher = searching(code, "Mine")
    assert [searcher.search("a", limit=1)[0].id for _ in range(2)] == ["1", "2"]


@pytest.mark.parametrize("answer", [ONE, f"[{ONE}]", f"tuple({ONE})"])
def test_one_list_of_hits_or_one_list_a_text_are_both_fine(searching: Searching, answer: str) -> None:
    hits = searching(f"def search(texts, top_k, filter):\n    return {answer}").search("a", limit=5)
    assert [hit.payload for hit in hits] == [{"text": "x"}]


def test_objects_with_the_three_attributes_are_hits_and_uuids_come_dashed(searching: Searching) -> None:
    code = (
        "from types import SimpleNamespace as P\n"
        "def search(texts, top_k, filter):\n"
        "    return [P(id='0123456789ABCDEF0123456789ABCDEF', score=0.5, payload={'a': 1})]"
    )
    [hit] = searching(code).search("a", limit=5)
    assert hit.id == "01234567-89ab-cdef-0123-456789abcdef"


def test_more_hits_than_asked_for_are_cut(searching: Searching) -> None:
    code = "def search(texts, top_k, filter):\n    return [{'id': n, 'score': 1, 'payload': {}} for n in range(9)]"
    assert len(searching(code).search("a", limit=4)) == 4


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("None", "NoneType, not a list"),
        ("'hits'", "str, not a list"),
        ("[[], []]", "2 answers"),
        ("[{'id': 1, 'payload': {}}]", "hit 1 has no score"),
        ("[{'score': 1, 'payload': {}}]", "hit 1 has no id"),
        ("[{'id': None, 'score': 1, 'payload': {}}]", "hit 1 has no id"),
        ("[{'id': 0, 'score': 2, 'payload': {}}, {'id': ' ', 'score': 1, 'payload': {}}]", "hit 2 has no id"),
        ("[{'id': 1, 'score': 1}]", "hit 1 has no payload"),
        ("[{'id': 1, 'score': 'high', 'payload': {}}]", "score that is not a number"),
        ("[{'id': 1, 'score': None, 'payload': {}}]", "score that is not a number"),
        ("[{'id': 1, 'score': 10 ** 400, 'payload': {}}]", "score that is not a number"),
        ("[{'id': 1, 'score': 1, 'payload': 'x'}]", "payload of hit 1 is not a mapping"),
    ],
)
def test_a_malformed_answer_says_what_is_wrong_with_it(searching: Searching, answer: str, problem: str) -> None:
    searcher = searching(f"def search(texts, top_k, filter):\n    return {answer}")
    with pytest.raises(SystemFailure, match=re.escape(problem)) as caught:
        searcher.search("a", limit=5)
    assert "retrieval.retriever" in str(caught.value)


@pytest.mark.parametrize("score", ["inf", "-inf", "nan"])
def test_a_score_that_is_not_finite_is_handed_on_to_be_judged(searching: Searching, score: str) -> None:
    code = f"def search(texts, top_k, filter):\n    return [{{'id': 1, 'score': float('{score}'), 'payload': None}}]"
    [hit] = searching(code).search("a", limit=5)
    assert str(hit.score) == score


def test_what_it_raises_is_named_without_its_message(searching: Searching) -> None:
    searcher = searching("def search(texts, top_k, filter):\n    raise RuntimeError('key CANARY is wrong')")
    with pytest.raises(SystemFailure, match="raised RuntimeError") as caught:
        searcher.search("a", limit=5)
    assert "CANARY" not in str(caught.value)
    assert "retrieval.retriever" in str(caught.value.cause)


@pytest.mark.parametrize(
    ("code", "attribute"),
    [
        ("def search(texts, top_k, filter):\n    raise SystemExit(70)", "search"),
        ("class Mine:\n    def __init__(self): exit(70)\n    def search(self, texts, top_k, filter): ...", "Mine"),
        (
            "class Hit:\n    @property\n    def id(self): raise SystemExit\n"
            "def search(texts, top_k, filter): return [Hit()]",
            "search",
        ),
    ],
)
def test_a_search_that_exits_is_a_system_that_failed(searching: Searching, code: str, attribute: str) -> None:
    with pytest.raises(SystemFailure, match="raised SystemExit") as caught:
        searching(code, attribute).search("a", limit=5)
    assert caught.value.code == "index.unreachable"


@pytest.mark.parametrize(
    ("code", "attribute"),
    [
        ("search = 3", "search"),
        ("def search(texts): return []", "search"),
        ("class Mine:\n    pass", "Mine"),
        (
            "class Mine:\n    def __init__(self, url): pass\n    def search(self, texts, top_k, filter): return []",
            "Mine",
        ),
    ],
)
def test_what_cannot_be_called_as_a_search_is_an_error_of_the_suite(
    searching: Searching, code: str, attribute: str
) -> None:
    with pytest.raises(SuiteError, match="is not a search") as caught:
        searching(code, attribute)
    assert caught.value.key == "retrieval.retriever"


def test_queries_are_asked_deepened_and_repeated_through_it(searching: Searching) -> None:
    code = (
        "CALLS = []\n"
        "def search(texts, top_k, filter):\n    CALLS.append((texts[0], top_k))\n"
        "    return [{'id': n, 'score': 1 - n / 100, 'payload': {'url': str(n // 4)}} for n in range(min(top_k, 20))]\n"
        "class Holder:\n    search = staticmethod(search)\n    calls = CALLS\n"
    )
    searcher = searching(code)
    page_of = lambda payload: str(payload["url"])  # noqa: E731
    question = Question("q1", "How?", 4, pages=3)
    [answer] = ask_with([question], searcher=searcher, fields=(), page_of=page_of, repeats=2).answers
    assert [hit.id for hit in answer.hits] == ["0", "1", "2", "3"]
    assert len({page_of(hit.payload) for hit in (*answer.hits, *answer.deeper)}) >= 3
    assert [hit.id for hit in answer.repeats[0]] == ["0", "1", "2", "3"]
    assert answer.embedding_ms is None
    assert answer.search_ms is not None


def test_a_search_that_fails_in_between_keeps_the_answers_so_far(searching: Searching) -> None:
    code = f"def search(texts, top_k, filter):\n    if texts[0] == 'b': raise OSError\n    return {ONE}"
    questions = [Question(text, text, 1) for text in ("a", "b", "c")]
    result = ask_with(questions, searcher=searching(code), fields=(), page_of=lambda payload: None)
    assert [answer.error is None for answer in result.answers] == [True, False, False]
    assert isinstance(result.failure, SystemFailure)
    assert result.failure.code == "index.unreachable"


def completed(searching: Searching, payloads: str, asked: list[set[str]]) -> list[dict[str, Any]]:
    code = f"""
def search(texts, top_k, filter):
    return [dict(id=n, score=1, payload=p) for n, p in enumerate({payloads})]
"""

    def stored(ids: Collection[str]) -> dict[str, dict[str, Any]]:
        asked.append(set(ids))
        return {name: {"url": f"/{name}", "meta.text": "stored"} for name in ids if name != "2"}

    searcher = CompletedSearcher(searching(code), stored)
    found = list(searcher.search_all([Asked("a", 9, None), Asked("b", 9, None)], fields=["url", "meta.text"]))
    assert found[0].hits == found[1].hits
    return [hit.payload for hit in found[0].hits]


def test_what_a_hit_leaves_out_is_that_of_its_point_and_what_it_has_counts(searching: Searching) -> None:
    asked: list[set[str]] = []
    payloads = "[None, {'meta': {'text': 'mine'}}, {'name': 'not of the collection'}, {'url': '/a', 'meta.text': 'x'}]"
    assert completed(searching, payloads, asked) == [
        {"url": "/0", "meta.text": "stored"},
        {"url": "/1", "meta": {"text": "mine"}},
        {"name": "not of the collection"},
        {"url": "/a", "meta.text": "x"},
    ]
    assert asked == [{"0", "1", "2"}]


def test_what_was_found_before_the_users_search_failed_is_given_first(searching: Searching) -> None:
    code = """
def search(texts, top_k, filter):
    if texts == ["b"]:
        raise OSError("down")
    return [dict(id=1, score=1, payload=None)]
"""
    found = CompletedSearcher(searching(code), lambda ids: {}).search_all(
        [Asked("a", 1), Asked("b", 1)], fields=["url"]
    )
    assert [hit.id for hit in next(found).hits] == ["1"]
    with pytest.raises(SystemFailure, match="raised OSError"):
        next(found)
