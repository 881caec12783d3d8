from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.sources.site.inventory import SiteInventory, SitePage
from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.golden.golden_set import (
    Chunk,
    GoldenSet,
    IndexFacts,
    Reviewed,
    collect_facts,
    review_golden_set,
)
from ragval_pipeline.validation.golden.oracles import facts_after, weak_oracles
from ragval_pipeline.validation.golden.targets import dead_targets
from ragval_pipeline.validation.golden.thresholds import Scores, unfit_threshold
from ragval_pipeline.validation.packed import Packed
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.report import MetricValue
from tests.reporting import factory
from tests.validation.factory import settings
from tests.validation.rows import detected

HOST = "https://site.example"


def query(name: str, **fields: object) -> TestQuery:
    return TestQuery.model_validate({"id": name, "query_text": f"question {name}", **fields})


def inventory(*paths: str) -> SiteInventory:
    pages = tuple(SitePage(url=f"{HOST}{path}", key=f"{HOST}{path}") for path in paths)
    return SiteInventory(site_host="site.example", pages=pages)


def facts(*chunks: Chunk) -> IndexFacts:
    return IndexFacts(
        points=len(chunks),
        pages=Counter(chunk.page for chunk in chunks if chunk.page),
        modules=Counter(chunk.module for chunk in chunks if chunk.module),
        chapters=Counter(chunk.chapter for chunk in chunks if chunk.chapter),
        sample=list(chunks),
    )


def chunk(path: str, module: str | None = None, text: str = "", chapter: str | None = None) -> Chunk:
    return Chunk(f"{HOST}{path}", module, chapter, text)


def evidence(asked, index=None, site=None, *, judge=None, top_k=5, topics=None) -> Reviewed:
    golden = GoldenSet(asked, site or inventory(), settings(judge=judge, top_k=top_k), {}, topics or {})
    return Reviewed(golden, index or IndexFacts(), {}, {})


def subjects(code: str, reviewed: Reviewed) -> list[Subject]:
    """What the query of a rule finds."""
    return [subject for finding in detected(code, reviewed) for subject in finding.subjects]


def gates(metrics: dict[str, MetricValue], required: dict[str, Gate]) -> list[Subject]:
    """The gates that cannot be reached, or hardly."""
    reviewed = evidence([])
    results = {"retrieval_metrics": {"page": {name: metric.model_dump() for name, metric in metrics.items()}}}
    golden = replace(reviewed.golden, gates=required)
    return subjects("query.unreachable_gate", replace(reviewed, golden=golden, results=results))


def test_a_misspelt_page_is_dead_and_the_near_page_is_suggested():
    site = inventory("/docs/a/intro", "/docs/b/setup")
    index = facts(chunk("/docs/a/intro"), chunk("/docs/b/setup"))
    found = dead_targets(evidence([query("q", relevant_urls=[f"{HOST}/docs/a/into"])], index, site))
    assert [subject.name for subject in found[0].subjects] == ["q"]
    assert found[0].subjects[0].details["near"] == {f"{HOST}/docs/a/into": f"{HOST}/docs/a/intro"}


@pytest.mark.parametrize("listed", [("/docs/a", "/docs/a/intro"), ()])
def test_a_page_with_a_query_string_of_its_own_names_the_page_without_it(listed: tuple[str, ...]):
    index = facts(chunk("/docs/a/intro"))
    wanted = f"{HOST}/docs/a/intro?tab=linux#top"
    [found] = dead_targets(evidence([query("q", relevant_urls=[wanted])], index, inventory(*listed)))
    [near] = found.subjects[0].details["near"].values()
    assert near.endswith("/docs/a/intro")
    assert "only in the query string" in found.cause
    tracked = query("q", relevant_urls=[f"{HOST}/docs/a/intro?utm_source=mail#top".replace("https", "http")])
    assert dead_targets(evidence([tracked], index, inventory(*listed))) == []


def test_a_page_that_is_indexed_under_another_spelling_is_not_dead():
    index = facts(chunk("/docs/a"))
    asked = [query("q", relevant_urls=[f"{HOST}/docs/a/index.html#top"])]
    assert dead_targets(evidence(asked, index, inventory("/docs/a"))) == []


def test_an_expected_page_that_a_known_site_does_not_have_follows_from_nothing_in_the_index():
    index, missing = facts(chunk("/docs/a/intro")), f"{HOST}/docs/b"
    for listed, expected, explained in (
        (["/docs/a/intro"], [f"{HOST}/docs/a/into"], False),
        (["/docs/a/intro", "/docs/b"], [missing], True),
        (["/docs/a/intro", "/docs/b"], [missing, f"{HOST}/docs/a/into"], True),
        ([], [missing], True),
    ):
        [found] = dead_targets(evidence([query("q", relevant_urls=expected)], index, inventory(*listed)))
        assert (found.subjects[0].without == frozenset()) is explained, expected


def test_one_missing_page_of_two_is_not_dead_while_the_sitemap_has_it():
    site, index = inventory("/docs/a", "/docs/b"), facts(chunk("/docs/a"))
    both = query("q", relevant_urls=[f"{HOST}/docs/a", f"{HOST}/docs/b"])
    assert dead_targets(evidence([both], index, site)) == []
    only = query("r", relevant_urls=[f"{HOST}/docs/b"])
    assert dead_targets(evidence([only], index, site))[0].subjects[0].name == "r"


def test_a_chapter_that_only_a_missing_page_of_the_site_had_is_no_misspelling():
    site = inventory("/docs/a/intro", "/docs/a/setup")
    index = facts(chunk("/docs/a/intro", chapter="a/intro"))
    asked = [query("q", relevant_urls=[f"{HOST}/docs/a/setup"], expected_chapter="a/into")]
    [found] = dead_targets(evidence(asked, index, site))
    details = found.subjects[0].details
    assert (details["targets"], details["near"]) == ([f"{HOST}/docs/a/setup", "a/into"], {})
    assert "are on the site" in found.cause
    known = facts(chunk("/docs/a/intro", chapter="a/intro"), chunk("/docs/a/setup"))
    [found] = dead_targets(evidence(asked, known, site))
    assert found.subjects[0].details["near"] == {"a/into": "a/intro"}


def test_judgements_that_fit_no_topic_and_no_document_are_named_with_their_number():
    index = facts(chunk("/docs/a"))
    judged = {f"{HOST}/docs/a/": 2, f"{HOST}/docs/gone": 1, "opaque": 0}
    asked = [query("q", judgements=judged), query("r", judgements={"opaque": 0, f"{HOST}/docs/a": 1})]
    topics, documents = detected(
        "query.unmatched_judgements", evidence(asked, index, inventory("/docs/a"), topics={"7": 2, "8": 1})
    )
    assert [subject.name for subject in topics.subjects] == ["7", "8"]
    assert topics.message == "2 of 4 judged topics are in no query file: 3 judgements fit nothing."
    assert (documents.scope, [subject.name for subject in documents.subjects]) == (
        "document", [f"{HOST}/docs/gone", "opaque"],
    )  # fmt: skip
    assert documents.details["judgements"] == 3
    assert [(subject.page, subject.fields) for subject in documents.subjects] == [
        (f"{HOST}/docs/gone", ("source_url",)), ("opaque", ("source_url",)),
    ]  # fmt: skip
    assert all(Aspect.FIELD in subject.without for subject in topics.subjects)
    assert dead_targets(evidence(asked, index, inventory("/docs/a"))) == []
    assert detected("query.unmatched_judgements", evidence([query("s", relevant_urls=["nowhere"])], index)) == []


def test_a_query_all_of_whose_judged_documents_are_gone_is_dead():
    asked = [query("q", judgements={f"{HOST}/docs/gone": 1})]
    assert dead_targets(evidence(asked, facts(chunk("/docs/a")), inventory("/docs/a")))[0].count == 1


def test_a_module_that_no_point_has_is_dead_and_a_differently_written_one_is_not():
    index = facts(chunk("/docs/a", module="Module 1 Ros2"))
    asked = [query("q", expected_module="module-1-ros2"), query("r", expected_module="Module 2")]
    found = dead_targets(evidence(asked, index, inventory("/docs/a")))
    assert [subject.name for subject in found[0].subjects] == ["r"]


def test_a_module_of_the_site_that_no_point_bears_is_the_payloads_fault():
    index = facts(chunk("/docs/ch5/a", module="ch6"))
    asked = [query("q", expected_module="ch5")]
    found = dead_targets(evidence(asked, index, inventory("/docs/ch5/a", "/docs/ch6/b")))[0]
    assert found.cause == "The expected pages are on the site, but no chunk in the index has them."
    assert found.remedy.endswith("the expectations are right.")
    misspelt = dead_targets(evidence([query("q", expected_module="ch7")], index, inventory("/docs/ch5/a")))[0]
    assert misspelt.remedy == "Correct the expectation."


@pytest.mark.parametrize(
    ("lost", "target"),
    [
        ({"source_url": f"{HOST}/docs/b"}, f"{HOST}/docs/b"),
        ({"module": "Module 2"}, "Module 2"),
        ({"chapter": "a/two"}, "a/two"),
        ({"text": "no word of the index", "chunk_index": 9}, None),
        ({"id": 7}, "7"),
        ({"id": "4A0F1E5E-0B1C-4D7A-9B55-0123456789AB"}, None),
    ],
)
def test_an_expected_result_is_dead_when_the_index_lacks_its_page_module_chapter_or_point(lost, target):
    index = facts(chunk("/docs/a", module="Module 1", chapter="a/one"))
    index.ids.add("4a0f1e5e-0b1c-4d7a-9b55-0123456789ab")
    held = {"source_url": f"{HOST}/docs/a/", "module": "Module 1", "chapter": "a/one"}
    asked = [query("q", expected_results=[held, lost]), query("r", expected_results=[held])]
    found = dead_targets(evidence(asked, index, inventory("/docs/a")))
    assert [(subject.name, subject.details["targets"]) for finding in found for subject in finding.subjects] == (
        [] if target is None else [("q", [target])]
    )


def test_expected_ids_that_no_point_has_are_not_misspelled_but_of_an_earlier_ingestion():
    index, site = facts(chunk("/docs/a", module="idle")), inventory("/docs/a")
    asked = [query("q", expected_results=[{"id": "id"}]), query("r", relevant_urls=[f"{HOST}/docs/a"])]
    [found] = dead_targets(evidence(asked, index, site))
    assert "new ones when they were ingested again" in found.cause
    assert found.subjects[0].details["near"] == {}
    both = query("q", expected_results=[{"id": "id"}, {"module": "idel"}])
    [found] = dead_targets(evidence([both], index, site))
    assert found.subjects[0].details["near"] == {"idel": "idle"}
    assert "misspelled" in found.cause


def test_a_chunk_that_is_expected_by_page_and_number_is_dead_where_its_page_has_none_with_that_number():
    rows = [
        {
            "point_id": str(n),
            "page_key": f"{HOST}/docs/a",
            "module": None,
            "chapter": None,
            "text": "",
            "chunk_index": n,
        }
        for n in range(3)
    ]
    expected = {"q": 2, "r": 7}
    asked = [
        query(name, expected_results=[{"source_url": f"{HOST}/docs/a/", "chunk_index": number}])
        for name, number in expected.items()
    ]
    index = collect_facts(pa.Table.from_pylist(rows).to_batches(), points=3, expected=asked)
    [found] = dead_targets(evidence(asked, index, inventory("/docs/a")))
    assert [subject.name for subject in found.subjects] == ["r"]
    assert found.subjects[0].details["targets"] == [f"{HOST}/docs/a/, chunk 7"]
    assert "no chunk with the expected number" in found.cause


def test_an_expected_id_belonged_to_the_expected_page_if_that_is_missing():
    asked = [query("q", relevant_urls=[f"{HOST}/docs/b"], expected_results=[{"id": "id"}])]
    [found] = dead_targets(evidence(asked, facts(chunk("/docs/a")), inventory("/docs/a", "/docs/b")))
    assert "are on the site" in found.cause


def test_negative_queries_have_no_targets():
    asked = [query("q", negative=True, expected_module="Nowhere")]
    assert dead_targets(evidence(asked, facts(chunk("/a")), inventory("/a"))) == []


def weak(asked, chunks, judge=None, top_k=5):
    """Chance by the id of each query that is named."""
    found = weak_oracles(evidence(asked, facts(*chunks), judge=judge, top_k=top_k))
    return {subject.name: subject.details["chance"] for subject in found}


def test_what_chance_meets_is_known_with_a_repair_made_in_the_index():
    asked = [query("q", relevant_urls=[f"{HOST}/a"])]
    copies = [replace(chunk("/a"), point_id=f"copy {n}") for n in range(28)]
    index = facts(*copies, *(chunk(f"/{n}") for n in range(160)))
    half = [entry.point_id for entry in copies[::2]]
    once = facts_after(index, removed=half, changed={})
    split = facts_after(index, changed={}, added=[chunk("/b") for _ in range(100)])
    moved = facts_after(index, changed={name: replace(chunk("/b"), point_id=name) for name in half})
    assert (index.points, once.points, split.points, moved.points) == (188, 174, 288, 188)
    known = (index, once, split, moved)
    assert [[entry.name for entry in weak_oracles(evidence(asked, facts))] for facts in known] == [["q"], [], [], []]


def test_chance_meets_nothing_in_an_index_that_a_repair_empties():
    asked = [query("q", relevant_urls=[f"{HOST}/a"])]
    index = facts(*(replace(chunk("/a"), point_id=str(n)) for n in range(40)))
    emptied = replace(facts_after(index, removed=[str(n) for n in range(40)], changed={}), points=40)
    assert list(weak_oracles(evidence(asked, emptied))) == []


def by_drawing(chunks, draws, met):
    """How often a draw meets the expectation, every draw counted."""
    ways = list(combinations(chunks, draws))
    return sum(map(met, ways)) / len(ways)


def test_a_keyword_is_weak_by_how_often_the_top_k_holds_it_and_not_by_its_share_of_chunks():
    """Two chunks of five hold it: one random chunk rarely does, five nearly always."""
    chunks = [chunk(f"/{n}", text="a robot moves" if n % 5 < 2 else "something else") for n in range(15)]
    asked = [query("q", expected_keywords=["robot"]), query("once", expected_keywords=["robot"], top_k=1)]
    drawn = by_drawing(chunks, 5, lambda way: any("robot" in entry.text for entry in way))
    assert weak(asked, chunks) == {"q": pytest.approx(drawn)}
    assert drawn > 0.9


def test_a_top_k_of_more_than_half_of_the_index_finds_whatever_is_expected_and_says_nothing():
    chunks = [chunk(f"/{n}", text="a robot moves" if n == 1 else "something else") for n in range(20)]
    asked = [query("q", expected_keywords=["robot"])]
    assert weak(asked, chunks, top_k=10) == {"q": pytest.approx(0.5)}
    assert weak(asked, chunks, top_k=11) == {}


def test_an_index_of_a_few_pages_is_met_by_chance_whatever_is_expected_and_says_nothing():
    few = [chunk(f"/{n % 3}", text="a robot moves") for n in range(12)]
    asked = [query("words", expected_keywords=["robot"]), query("page", relevant_urls=[f"{HOST}/1"])]
    assert weak(asked, few) == {}
    many = [chunk(f"/{n % 20}", text="a robot moves") for n in range(80)]
    assert weak(asked, many) == {"words": 1.0}


def test_different_chunks_may_meet_the_conditions_of_a_query():
    chunks = [chunk(f"/{n}", "one" if n < 6 else "two", "robot" if n >= 8 else "arm") for n in range(14)]
    asked = [query("q", expected_module="one", expected_keywords=["robot"])]

    def met(way):
        return any(entry.module == "one" for entry in way) and any("robot" in entry.text for entry in way)

    assert weak(asked, chunks) == {"q": pytest.approx(by_drawing(chunks, 5, met))}


def test_a_common_keyword_beside_a_page_or_a_chunk_is_no_weak_oracle_because_both_must_hold():
    chunks = [chunk(f"/{n}", text="a robot moves") for n in range(20)]
    asked = [
        query("page", expected_keywords=["robot"], relevant_urls=[f"{HOST}/1"]),
        query("chunk", expected_keywords=["robot"], expected_results=[{"source_url": f"{HOST}/1"}]),
    ]
    assert weak(asked, chunks) == {}
    assert weak(asked, chunks, judge=("keywords",)) == {"page": 1.0, "chunk": 1.0}


@pytest.mark.parametrize(("score", "chance"), [(0.7, {}), (None, {"q": 1.0})])
def test_a_judged_score_is_not_met_by_chance_where_only_a_few_hits_reach_it(score, chance):
    chunks = [replace(chunk(f"/{n}", text="a robot moves"), point_id=str(n)) for n in range(20)]
    asked = [query("q", expected_keywords=["robot"], min_similarity=score)]
    hits = [factory.hit(number, 0.85 - 0.1 * number, chunk_id=str(number)) for number in (1, 2)]
    results = {"query_results": Packed(QueryReport, [factory.query("q", "question q", 0.75, hits=hits)])}
    found = weak_oracles(replace(evidence(asked, facts(*chunks)), results=results))
    assert {subject.name: subject.details["chance"] for subject in found} == chance


def test_ros_in_across_is_not_a_hit():
    chunks = [chunk(f"/{n}", text="across the network") for n in range(10)]
    assert weak([query("q", expected_keywords=["ros"])], chunks) == {}


def test_the_same_question_twice_names_both_and_says_when_they_contradict():
    asked = [
        query("a", query_text="What is ROS 2?", expected_module="m1"),
        query("b", query_text="what is  ros 2", expected_module="m2"),
        query("c", query_text="What is Isaac?"),
    ]
    found = subjects("query.duplicate", evidence(asked))
    assert [subject.name for subject in found] == ["a", "b"]
    assert found[0].details == {"others": ["b"], "contradicting": True}


def test_the_same_question_of_two_tenants_is_two_questions():
    asked = [query(name, query_text="Why?", filter={"tenant": name}) for name in "ab"]
    assert subjects("query.duplicate", evidence(asked)) == []
    twice = [query(name, query_text="Why?", filter={"tenant": "a"}) for name in "ab"]
    assert [subject.name for subject in subjects("query.duplicate", evidence(twice))] == ["a", "b"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"expected_results": [{"chunk_index": 1}]}, {"expected_results": [{"chunk_index": 2}]}),
        ({"negative": True}, {"relevant_urls": ["/docs/a"]}),
    ],
)
def test_the_same_question_with_another_answer_contradicts_itself(first: dict[str, Any], second: dict[str, Any]):
    asked = [query("a", query_text="Why?", **first), query("b", query_text="Why?", **second)]
    assert subjects("query.duplicate", evidence(asked))[0].details["contradicting"]


@pytest.mark.parametrize(
    ("passed", "explained"),
    [({"a": True, "b": False}, {"b"}), ({"a": False, "b": False}, set()), ({"a": True, "b": True}, set())],
)
def test_of_two_expectations_of_one_question_the_one_that_is_met_explains_the_other(
    passed: dict[str, bool], explained: set[str]
):
    asked = [query(name, query_text="Why?", relevant_urls=[f"/docs/{name}"]) for name in "ab"]
    results = [factory.query(name, "Why?", 0.5, passed=passed[name]) for name in "ab"]
    found = subjects("query.duplicate", replace(evidence(asked), results={"query_results": results}))
    assert {subject.name for subject in found if Aspect.TARGET not in subject.without} == explained


def test_a_copy_with_the_same_expectation_explains_nothing():
    asked = [query(name, query_text="Why?", relevant_urls=["/docs/a"]) for name in "ab"]
    results = [factory.query(name, "Why?", 0.5, passed=name == "a") for name in "ab"]
    found = subjects("query.duplicate", replace(evidence(asked), results={"query_results": results}))
    assert all(Aspect.TARGET in subject.without for subject in found)


def test_the_gate_of_seed_002_is_named_as_barely_reachable():
    sizes = (3, 2, 2, 2, 2, 2, 2)
    ceiling = sum(min(size, 3) / 3 for size in sizes) / len(sizes)
    assert round(ceiling, 3) == 0.714
    found = gates(
        {"precision_at_3": MetricValue(value=0.67, n=7, ceiling=ceiling)}, {"precision_at_3": Gate(0.70, required=True)}
    )
    assert found[0].details["state"] == "barely reachable"


def test_a_gate_above_the_ceiling_is_unreachable_and_one_well_below_it_is_fine():
    metric = {"precision_at_3": MetricValue(value=0.3, n=4, ceiling=1 / 3)}
    assert gates(metric, {"precision_at_3": Gate(0.5, True)})[0].details["state"] == "unreachable"
    assert gates(metric, {"precision_at_3": Gate(0.2, True)}) == []
    assert gates(metric, {"precision_at_3": Gate(None, False)}) == []


def test_a_ceiling_of_one_needs_no_warning():
    metric = {"recall_at_5": MetricValue(value=0.9, n=4, ceiling=1.0)}
    assert gates(metric, {"recall_at_5": Gate(0.98, True)}) == []


def test_modules_that_nobody_asks_about_are_named_and_suites_without_modules_are_silent():
    site = inventory("/docs/m1/a", "/docs/m2/b", "/docs/m3/c")
    asked = [query("q", expected_module="M1"), query("r", relevant_urls=[f"{HOST}/docs/m2/b"])]
    assert [subject.name for subject in subjects("query.no_coverage", evidence(asked, site=site))] == ["m3"]
    assert subjects("query.no_coverage", evidence([query("q", expected_keywords=["x"])], site=site)) == []
    known = [query("q", expected_results=[{"module": "M1"}, {"source_url": f"{HOST}/docs/m3/c"}])]
    assert [subject.name for subject in subjects("query.no_coverage", evidence(known, site=site))] == ["m2"]


def test_the_folder_of_a_version_is_no_module_without_a_question():
    pages = [f"/docs/{name}" for name in ("a/one", "a/two", "a/three", "b/four", "b/five")]
    older = [page.replace("/docs/", "/docs/1.0/") for page in pages]
    asked = [query("q", expected_module="a")]
    versioned = subjects("query.no_coverage", evidence(asked, site=inventory(*pages, *older)))
    assert [subject.name for subject in versioned] == ["b"]
    own = subjects(
        "query.no_coverage", evidence(asked, site=inventory(*pages, "/docs/1.0/of-its-own", "/docs/1.0/another"))
    )
    assert sorted(subject.name for subject in own) == ["1.0", "b"]


def test_a_threshold_that_turns_down_most_right_answers_is_unfit():
    found = unfit_threshold(0.7, Scores(right=[0.4, 0.45, 0.5, 0.55, 0.71], negative=[0.1]))
    assert [subject.name for subject in found[0].subjects] == ["0.7"]
    assert found[0].subjects[0].details["rejected"] == 0.8


def test_a_threshold_speaks_for_those_in_use_that_turn_down_most_right_answers_too():
    scores = Scores(right=[0.55, 0.58, 0.61, 0.66, 0.73], negative=[])
    [finding] = unfit_threshold(0.7, scores, used={0.7, 0.65, 0.5})
    assert finding.subjects[0].thresholds == (0.65, 0.7)
    assert finding.subjects[0].without == {Aspect.SELECTION}
    [unused] = unfit_threshold(0.7, scores, used={0.5})
    assert unused.subjects[0].thresholds == ()


def test_a_threshold_is_not_judged_by_fewer_than_five_answers():
    assert unfit_threshold(0.7, Scores(right=[0.1] * 4, negative=[])) == []


def test_a_threshold_that_lets_most_negatives_in_is_unfit():
    found = unfit_threshold(0.1, Scores(right=[0.5] * 6, negative=[0.2] * 5))
    assert found[0].subjects[0].details["admitted"] == 1.0


def reviewed(
    asked: list[TestQuery],
    scores: dict[str, float],
    titles: list[float],
    suites: float = 0.2,
    judge: tuple[str, ...] | None = None,
) -> list[str]:
    golden = GoldenSet(asked, inventory("/a"), settings(judge=judge, min_similarity=suites), {})
    results = {"query_results": [factory.query(entry.id, entry.query_text, scores[entry.id]) for entry in asked]}
    own = {"self_retrieval": {"title_scores": titles}}
    return [
        subject.name
        for finding in review_golden_set(golden, IndexFacts(), results=results, own=own).findings
        if finding.code == "query.threshold_unfit"
        for subject in finding.subjects
    ]


def test_a_threshold_that_negative_queries_alone_state_turns_no_right_answer_down():
    right = [query(f"p{n}", relevant_urls=[f"{HOST}/a"]) for n in range(5)]
    negative = [query(f"n{n}", negative=True, min_similarity=0.6) for n in range(6)]
    scores = {entry.id: 0.1 if entry.negative else 0.5 for entry in (*right, *negative)}
    assert reviewed([*right, *negative], scores, [0.5] * 5) == []
    assert reviewed([*right, *negative], {**scores, **dict.fromkeys(("n0", "n1", "n2", "n3"), 0.7)}, []) == ["0.6"]


def test_a_threshold_that_most_positive_queries_state_turns_right_answers_down():
    right = [query(f"p{n}", relevant_urls=[f"{HOST}/a"], min_similarity=0.6) for n in range(5)]
    assert reviewed(right, {entry.id: 0.5 for entry in right}, []) == ["0.6"]


def test_a_threshold_that_some_queries_state_is_judged_if_most_of_these_miss_it():
    right = [query(f"p{n}", relevant_urls=[f"{HOST}/a"]) for n in range(20)]
    negative = [query(f"n{n}", negative=True, min_similarity=0.1) for n in range(5)]
    strict = [query(f"s{n}", relevant_urls=[f"{HOST}/a"], min_similarity=0.9) for n in range(5)]
    every = [*right, *negative, *strict]
    scores = {entry.id: 0.3 if entry.negative else 0.5 for entry in every}
    assert reviewed(every, scores, []) == ["0.1", "0.9"]
    assert reviewed(every, {**scores, **{f"n{n}": 0.05 for n in range(3)}}, []) == ["0.9"]
    assert reviewed(every, {**scores, **{f"s{n}": 0.95 for n in range(3)}}, []) == ["0.1"]
    assert reviewed(every[:-1], scores, []) == ["0.1"]


def test_a_threshold_that_no_query_is_held_to_is_not_judged():
    right = [query(f"p{n}", relevant_urls=[f"{HOST}/a"]) for n in range(6)]
    scores = {entry.id: 0.5 for entry in right}
    assert reviewed(right, scores, [], suites=0.7) == []
    assert reviewed(right, scores, [], suites=0.7, judge=("score", "url")) == ["0.7"]
    assert reviewed([*right, query("bare")], {**scores, "bare": 0.5}, [], suites=0.7) == ["0.7"]


def test_the_suites_threshold_that_negative_queries_alone_are_held_to_turns_no_right_answer_down():
    asked = [*(query(f"p{n}", relevant_urls=[f"{HOST}/a"]) for n in range(6)), query("n", negative=True)]
    assert reviewed(asked, {entry.id: 0.5 for entry in asked}, [0.5] * 5, suites=0.7) == []


def test_with_a_distance_smaller_is_better():
    assert unfit_threshold(0.5, Scores(right=[0.1] * 6, negative=[], higher_is_better=False)) == []
    assert unfit_threshold(0.05, Scores(right=[0.1] * 6, negative=[], higher_is_better=False))


def test_facts_keep_every_nth_chunk_of_a_large_index():
    rows = [
        {
            "page_key": f"{HOST}/{n}",
            "module": "m",
            "chapter": None,
            "text": "T\u00e9xt",
            "point_id": str(n),
            "chunk_index": 0,
        }
        for n in range(6000)
    ]
    collected = collect_facts(pa.Table.from_pylist(rows).to_batches(max_chunksize=1700), points=6000)
    assert (collected.points, len(collected.sample), collected.modules["m"]) == (6000, 2000, 6000)
    assert [chunk.point_id for chunk in collected.sample] == [str(n) for n in range(0, 6000, 3)]
    assert not collected.chapters
    assert collected.sample[0].text == "text"
