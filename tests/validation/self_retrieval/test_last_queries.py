from __future__ import annotations

from ragval_pipeline.validation.self_retrieval.own_queries import (
    OwnPage,
    headings_alone,
    of_pages_with_text,
    own_queries,
    passage_queries,
)

ROWS = [
    {"page_key": "a", "text": "Example"},
    *({"page_key": "a", "text": f"Listing {number}."} for number in range(3)),
    {"page_key": "a", "text": "Screws are turned to the left."},
    {"page_key": "a", "text": "Nails are driven in."},
    {"page_key": "b", "text": "Another page."},
    {"page_key": None, "text": "A stray chunk that belongs to no page."},
]


def test_a_page_is_asked_for_by_its_longest_chunks() -> None:
    asked = passage_queries(["a"], ROWS)
    assert [(query.key, query.kind, query.text) for query in asked] == [
        ("a", "passage", "Screws are turned to the left."),
        ("a", "passage", "Nails are driven in."),
        *(("a", "passage", f"Listing {number}.") for number in range(3)),
    ]
    assert len({query.id for query in asked}) == 5


def test_a_chunk_that_is_stored_twice_is_asked_once() -> None:
    """Copies of a page's longest chunk took the place of the chunk that found the page."""
    twice = [{"page_key": "a", "text": "Screws are turned."} for _ in range(5)]
    asked = passage_queries(["a"], [*twice, {"page_key": "a", "text": "Nails."}])
    assert [query.text for query in asked] == ["Screws are turned.", "Nails."]


def test_a_long_chunk_is_asked_by_its_beginning() -> None:
    words, script = " ".join(map(str, range(1000))), "\u8d64" * 5000
    texts = [query.text for query in passage_queries(["a"], [{"page_key": "a", "text": words}])]
    assert texts == [" ".join(map(str, range(200)))]
    [query] = passage_queries(["a"], [{"page_key": "a", "text": script}])
    assert len(query.text) == 1500


def test_a_chunk_is_asked_with_the_blanks_that_it_was_embedded_with() -> None:
    """A tokenizer that counts line breaks gives a page of short lines another vector without them."""
    text = "git-citool(1)\n\n\n\nNAME\n\n\n\ngit-citool"
    assert [query.text for query in passage_queries(["a"], [{"page_key": "a", "text": text}])] == [text]


def test_a_page_without_text_is_not_asked_for() -> None:
    rows = [{"page_key": "a", "text": text} for text in (None, "", " \u200b")]
    assert passage_queries(["a"], rows) == []


def test_a_lost_page_of_blank_texts_is_not_asked_by_its_names_either() -> None:
    asked = own_queries([OwnPage("a", "https://x/a", "Screws"), OwnPage("b", "https://x/b", "Nails")])
    rows = [{"page_key": "a", "text": "\u200b"}, {"page_key": "b", "text": "Hammer them."}]
    kept = of_pages_with_text(asked, ["a", "b"], passage_queries(["a", "b"], rows))
    assert [query.key for query in kept] == ["b"]


def test_a_heading_that_was_asked_together_with_the_title_is_asked_alone() -> None:
    pages = [OwnPage("a", "https://x/a", "Screws", ("Turning them", "Keeping them")), OwnPage("b", "https://x/b", "B")]
    asked = own_queries(pages)
    assert [query.text for query in asked if query.kind == "heading"] == [
        "Screws: Turning them",
        "Screws: Keeping them",
    ]
    alone = headings_alone(["a"], asked)
    assert [(query.key, query.kind, query.text) for query in alone] == [
        ("a", "heading_alone", "Turning them"),
        ("a", "heading_alone", "Keeping them"),
    ]
    assert headings_alone(["b"], asked) == []
    assert not {query.id for query in alone} & {query.id for query in asked}


def test_a_heading_that_was_asked_alone_is_not_asked_again() -> None:
    pages = [OwnPage("a", "https://x/a", None, ("Turning them",))]
    assert headings_alone(["a"], own_queries(pages)) == []
