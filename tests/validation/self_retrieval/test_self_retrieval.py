from __future__ import annotations

from collections.abc import Callable

import pytest

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.self_retrieval.measure import measure_self_retrieval, unfound_pages
from ragval_pipeline.validation.self_retrieval.own_queries import (
    OwnPage,
    OwnQuery,
    own_queries,
    pages_from_snapshot,
    sample_of,
)


def row(page: str, title: str | None, *headings: str, in_scope: bool = True) -> dict[str, object]:
    return {"page_key": page, "page_url": page if in_scope else None, "title": title, "headings": list(headings)}


def page_of(payload: dict[str, object]) -> str | None:
    return payload.get("page")


def answer(query: str, *pages: str) -> Answer:
    hits = tuple(Hit(rank, f"{page}-{rank}", 1 - rank / 10, {"page": page}) for rank, page in enumerate(pages, 1))
    return Answer(query, hits)


def titled(count: int) -> dict[str, OwnPage]:
    return {f"p{n}": OwnPage(f"p{n}", f"p{n}", f"Title {n}") for n in range(count)}


def measure(pages: dict[str, OwnPage], finds: Callable[[OwnQuery], str], *more: OwnQuery) -> Measurement:
    """The measurement where each query finds a chunk of one page."""
    queries = [*own_queries(pages.values()), *more]
    answers = {query.id: answer(query.id, finds(query)) for query in queries}
    return measure_self_retrieval(pages, queries, answers, page_of, points=10)


def test_a_page_is_named_by_its_title_and_by_headings_that_no_other_page_has():
    pages = pages_from_snapshot(
        [
            row("a", "Alpha", "Alpha", "Setup"),
            row("a", "Alpha", "Alpha", "Only here"),
            row("b", "Beta", "Beta", "Setup"),
        ]
    )
    asked = {(query.key, query.kind, query.text) for query in own_queries(pages.values())}
    assert all(query.unique for query in own_queries(pages.values())), "a page's own heading is no other's title"
    assert asked == {("a", "title", "Alpha"), ("a", "heading", "Alpha: Only here"), ("b", "title", "Beta")}


def test_the_name_of_the_site_is_cut_off_titles():
    pages = [OwnPage("a", "a", "Nodes | The Book"), OwnPage("b", "b", "Topics | The Book")]
    assert [query.text for query in own_queries(pages)] == ["Nodes", "Topics"]


def test_a_heading_that_says_what_the_title_says_is_no_second_question():
    pages = [OwnPage(name, name, f"{name}(1)", (f"{name}(1) Manual Page", f"{name} it")) for name in ("add", "apply")]
    asked = [query.text for query in own_queries(pages)]
    assert asked == ["add", "add: add it", "apply", "apply: apply it"]


def test_a_page_without_a_title_has_the_name_of_its_first_heading_and_zero_width_headings_are_ignored():
    pages = pages_from_snapshot([row("a", None, "\u200b", "First")])
    assert own_queries(pages.values())[0].text == "First"


def test_pages_out_of_scope_are_not_asked():
    assert pages_from_snapshot([row("a", "Alpha", in_scope=False)]) == {}


def test_a_page_that_neither_title_nor_heading_finds_is_dark():
    pages = {"a": OwnPage("a", "https://a", "Alpha", ("Deep",)), "b": OwnPage("b", "https://b", "Beta")}
    measured = measure(pages, lambda _: "b")
    assert measured.value("self_retrieval").value == 0.5
    dark = next(finding for finding in measured.findings if finding.code == "retrieval.dark_page")
    assert [subject.name for subject in dark.subjects] == ["https://a"]


def test_a_page_that_one_heading_finds_is_not_dark_though_its_title_fails():
    pages = {"a": OwnPage("a", "a", "Alpha", ("Deep",)), "b": OwnPage("b", "b", "Beta")}
    measured = measure(pages, lambda query: "a" if query.text == "Alpha: Deep" else "b")
    assert not [finding for finding in measured.findings if finding.code == "retrieval.dark_page"]


def test_a_heading_is_asked_without_a_title_that_several_pages_bear():
    pages = [OwnPage("a", "a", "The Book", ("Joints",)), OwnPage("b", "b", "The Book", ("Wheels",))]
    assert [query.text for query in own_queries(pages) if query.kind == "heading"] == ["Joints", "Wheels"]


def test_a_page_that_its_own_words_find_is_not_dark_though_its_title_says_nothing():
    pages = {"a": OwnPage("a", "a", "Example"), "b": OwnPage("b", "b", "Beta")}
    words = OwnQuery("a#passage0", "a", "passage", "Screws are turned to the left")
    measured = measure(pages, lambda query: "a" if query.kind == "passage" else "b", words)
    assert measured.findings == ()
    assert measured.value("self_retrieval").value == 0.5
    assert measured.sections["self_retrieval"]["queries"] == 2


def test_a_page_is_dark_by_its_own_words_though_other_pages_share_its_title():
    pages = {"a": OwnPage("a", "a", "Example"), "b": OwnPage("b", "b", "Example")}
    queries = [*own_queries(pages.values()), OwnQuery("a#passage0", "a", "passage", "Screws are turned to the left")]
    answers = {query.id: answer(query.id, "b") for query in queries}
    assert unfound_pages(queries, answers, page_of) == ["a"]
    [dark] = measure_self_retrieval(pages, queries, answers, page_of, points=10).findings
    assert [subject.name for subject in dark.subjects] == ["a"]
    assert dark.subjects[0].details["asked"] == ["Example", "Screws are turned to the left"]


def test_what_was_asked_for_a_dark_page_can_be_asked_again_letter_for_letter():
    pages = {"a": OwnPage("a", "a", "Example"), "b": OwnPage("b", "b", "Beta")}
    stored = "Screws\nare turned\n\nto the left"
    [dark] = measure(pages, lambda _: "b", OwnQuery("a#passage0", "a", "passage", stored)).findings
    assert dark.subjects[0].details["asked"] == ["Example", stored]


@pytest.mark.parametrize("other", [OwnPage("b", "b", "Usage"), OwnPage("b", "b", "Beta", ("Beta", "Usage"))])
def test_a_page_is_not_called_dark_by_a_title_that_is_a_title_or_heading_of_another_page(other: OwnPage):
    pages = {"a": OwnPage("a", "a", "Usage", ("Usage",)), "b": other}
    assert measure(pages, lambda _: "b").findings == ()


def test_a_chunk_among_the_hits_of_most_other_pages_is_a_hub():
    pages = titled(40)
    queries = own_queries(pages.values())
    answers = {}
    for query in queries:
        own = Hit(1, f"{query.key}-1", 0.9, {"page": query.key})
        answers[query.id] = Answer(query.id, (own, Hit(2, "hub", 0.8, {"page": "p0"})))
    measured = measure_self_retrieval(pages, queries, answers, page_of, points=200)
    assert [subject.name for subject in measured.findings[0].subjects] == ["hub"]
    assert measured.findings[0].subjects[0].details["queries"] == 39


def test_the_chunk_about_a_subject_that_many_titles_name_is_no_hub():
    names = [f"CLI option {n}" if n % 3 == 0 else f"Topic {n}" for n in range(60)]
    pages = {f"p{n}": OwnPage(f"p{n}", f"p{n}", name) for n, name in enumerate(names)}
    queries = own_queries(pages.values())
    about = {query.id for query in queries if "CLI" in query.text}
    answers = answers_with(queries, "options", 0)
    answers |= {name: Answer(name, (Hit(1, "options", 0.8, {"page": "p0"}),)) for name in about}
    measured = measure_self_retrieval(pages, queries, answers, page_of, points=200)
    assert not [finding for finding in measured.findings if finding.code == "retrieval.hub_chunk"]


def answers_with(queries: list[OwnQuery], hub: str, found: int) -> dict[str, Answer]:
    """Every query finds a chunk of its own page, and the first ``found`` of other pages the hub of page p0 as well."""
    own = {query.id: Hit(1, f"{query.id}-1", 0.9, {"page": query.key}) for query in queries}
    foreign = [query.id for query in queries if query.key != "p0"][:found]
    also = (Hit(2, hub, 0.8, {"page": "p0"}),)
    return {name: Answer(name, (hit, *(also if name in foreign else ()))) for name, hit in own.items()}


def test_a_chunk_that_a_fifth_of_the_other_pages_find_is_no_hub_and_one_that_a_quarter_finds_is():
    pages = titled(61)
    queries = own_queries(pages.values())
    for found, named in ((12, []), (15, ["hub"])):
        measured = measure_self_retrieval(pages, queries, answers_with(queries, "hub", found), page_of, points=300)
        assert [subject.name for finding in measured.findings for subject in finding.subjects] == named


def test_passages_are_asked_of_lost_pages_alone_and_count_for_no_hub():
    pages = titled(40)
    queries = [OwnQuery(f"p{n}#passage0", f"p{n}", "passage", f"Text {n}") for n in range(40)]
    measured = measure_self_retrieval(pages, queries, answers_with(queries, "hub", 39), page_of, points=200)
    assert measured.findings == ()


def test_a_chunk_whose_page_is_not_known_is_no_hub():
    pages = titled(40)
    stray = (Hit(1, "stray", 0.9, {}), Hit(2, "elsewhere", 0.8, {"page": "not a url"}))
    answers = {query.id: Answer(query.id, stray) for query in own_queries(pages.values())}
    measured = measure_self_retrieval(pages, own_queries(pages.values()), answers, page_of, points=200)
    assert not [finding for finding in measured.findings if finding.code == "retrieval.hub_chunk"]


def test_in_a_tiny_index_every_chunk_is_often_among_the_hits_and_none_is_a_hub():
    pages = titled(12)
    queries = own_queries(pages.values())
    answers = {query.id: answer(query.id, *[f"p{n}" for n in range(5)]) for query in queries}
    measured = measure_self_retrieval(pages, queries, answers, page_of, points=12)
    assert not [finding for finding in measured.findings if finding.code == "retrieval.hub_chunk"]


def test_a_sample_is_the_same_in_every_run_and_reported_with_its_interval():
    pages = titled(50)
    drawn = sample_of(pages, 20)
    assert len(drawn) == 20
    assert drawn == sample_of(list(reversed(pages)), 20)
    queries = own_queries(pages.values(), drawn)
    assert {query.key for query in queries} == drawn
    lost = queries[0].key
    answers = {query.id: answer(query.id, "x" if query.key == lost else query.key) for query in queries}
    measured = measure_self_retrieval(pages, queries, answers, page_of, points=200, asked=len(drawn))
    # Wilson's interval for 19 of 20, as tables of it have it.
    told = "19 of 20 pages with a title, a sample of 20 of 50 pages; 95 % interval 76.4 to 99.1 %"
    told += f"; not found: “{pages[lost].title}”"
    assert measured.value("self_retrieval").reason == told
    [dark] = measured.findings
    assert dark.details == {"pages_asked": 20, "pages": 50}
    assert dark.looked_at == 20
    assert dark.message.startswith("1 of 20 pages asked for (of 50) is not found")


def test_pages_that_are_not_found_by_their_title_are_named_where_they_are_counted():
    pages = {f"p{n}": OwnPage(f"p{n}", f"https://a.example/{n}", f"Title {n}") for n in range(6)}
    measured = measure(pages, lambda query: "p0" if query.key == "p0" else "x")
    assert measured.value("self_retrieval").reason == (
        "1 of 6 pages with a title; not found: “Title 1”, “Title 2”, “Title 3” and 2 more, "
        "see evidence/self_retrieval.json"
    )
    listed = measured.sections["self_retrieval"]["not_found"]
    assert [entry["url"] for entry in listed] == [f"https://a.example/{n}" for n in range(1, 6)]


def test_a_title_that_a_page_outside_the_sample_bears_too_does_not_identify_a_page():
    pages = [OwnPage("a", "a", "Overview"), OwnPage("b", "b", "Overview")]
    assert [query.unique for query in own_queries(pages, {"a"})] == [False]
