from __future__ import annotations

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.retrieval.conditions import Rules
from ragval_pipeline.validation.retrieval.diagnosis import diagnose
from ragval_pipeline.validation.retrieval.hits import HitReader
from ragval_pipeline.validation.retrieval.judge import judge_query

RULES = Rules(
    read=HitReader(fields={"source_url": "url", "module": "module"}, required=(), page_key=str),
    module_match="normalised",
    min_similarity=0.4,
)
HITS = [Hit(id=str(n), score=0.9 - n / 100, rank=n + 1, payload={"url": f"/{n}", "module": f"m{n}"}) for n in range(9)]


def located(query: TestQuery, *, passed: bool = False, deeper: int = 5) -> tuple[dict, list[int]]:
    asked = []

    def search(_: str, limit: int) -> list[Hit]:
        asked.append(limit)
        return HITS

    answer = Answer(query.id, hits=tuple(HITS[:5]), deeper=tuple(HITS[5:deeper]))
    report = judge_query(query, answer, RULES, judge=None, top_k=5).model_copy(update={"passed": passed})
    return diagnose([query], [report], {query.id: answer}, RULES, search), asked


def test_the_right_page_beyond_the_hits_is_found_by_one_deeper_search() -> None:
    found, asked = located(TestQuery(id="q", query_text="?", relevant_urls=["/7"]))
    assert found == {"q": {"rank": 8, "score": HITS[7].score, "point_id": "7", "source_url": "/7", "searched": 9}}
    assert len(asked) == 1
    found, asked = located(TestQuery(id="q", query_text="?", relevant_urls=["/7"]), deeper=9)
    assert (found["q"]["rank"], asked) == (8, []), "what was fetched for the ranking of pages is not asked again"


def test_a_page_that_is_nowhere_is_said_to_be_nowhere() -> None:
    found, _ = located(TestQuery(id="q", query_text="?", relevant_urls=["/gone"]))
    assert (found["q"]["rank"], found["q"]["searched"]) == (None, 9)


def test_a_module_counts_where_no_page_is_named() -> None:
    found, _ = located(TestQuery(id="q", query_text="?", expected_module="M6"))
    assert found["q"]["rank"] == 7


def test_nothing_is_asked_about_queries_that_passed_or_whose_page_is_among_the_hits() -> None:
    assert located(TestQuery(id="q", query_text="?", relevant_urls=["/7"]), passed=True) == ({}, [])
    assert located(TestQuery(id="q", query_text="?", relevant_urls=["/2"])) == ({}, [])
    assert located(TestQuery(id="q", query_text="?", min_similarity=0.99)) == ({}, [])
