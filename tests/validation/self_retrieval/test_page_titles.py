from __future__ import annotations

from ragval_pipeline.validation.self_retrieval.own_queries import OwnPage, with_page_titles

NAMED = OwnPage("x.org/a", "https://x.org/a", "From the payload", ("Own heading",))
BARE = OwnPage("x.org/b", "https://x.org/b", None)
HEADINGS = [{"level": 1, "text": "Setting up"}, {"level": 2, "text": "\u200b"}, {"level": 2, "text": "On Windows"}]


def test_only_pages_that_the_payload_does_not_name_are_named_by_the_site() -> None:
    pages = {"x.org/a": NAMED, "x.org/b": BARE}
    copies = [{"page_key": key, "title": "Setup | Docs", "headings": HEADINGS} for key in pages]
    named = with_page_titles(pages, copies)
    assert named["x.org/a"] == NAMED
    assert named["x.org/b"] == OwnPage("x.org/b", "https://x.org/b", "Setup | Docs", ("Setting up", "On Windows"))


def test_headings_that_the_payload_does_not_hold_are_those_of_the_site() -> None:
    """Three of nine pages that only their payload's title was asked for were found by headings of their own."""
    titled = OwnPage("x.org/a", "https://x.org/a", "From the payload")
    [named] = with_page_titles(
        {"x.org/a": titled}, [{"page_key": "x.org/a", "title": "Setup | Docs", "headings": HEADINGS}]
    ).values()
    assert named == OwnPage("x.org/a", "https://x.org/a", "From the payload", ("Setting up", "On Windows"))


def test_a_stored_title_that_several_pages_have_gives_way_to_the_one_on_the_site() -> None:
    pages = {key: OwnPage(key, f"https://{key}", "Docs", ("Own heading",)) for key in ("x.org/a", "x.org/b")}
    copies = [{"page_key": "x.org/a", "title": "Setup", "headings": []}]
    assert [page.title for page in with_page_titles(pages, copies).values()] == ["Setup", "Docs"]


def test_a_page_without_a_title_is_named_by_its_first_heading() -> None:
    [named] = with_page_titles(
        {"x.org/b": BARE}, [{"page_key": "x.org/b", "title": " ", "headings": HEADINGS}]
    ).values()
    assert named.title == "Setting up"


def test_a_page_that_could_not_be_read_stays_nameless() -> None:
    [named] = with_page_titles({"x.org/b": BARE}, [{"page_key": "x.org/b", "title": None, "headings": []}]).values()
    assert named == BARE


def test_pages_outside_the_index_are_left_alone() -> None:
    assert with_page_titles({}, [{"page_key": "x.org/c", "title": "C", "headings": []}]) == {}
