from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ragval_pipeline.cli.draft.headings import is_telling, question_of, saying_something
from ragval_pipeline.cli.draft.pages import DraftPage, pages_of
from ragval_pipeline.cli.draft.passages import passages_of
from ragval_pipeline.cli.draft.questions import draft_questions
from ragval_pipeline.sources.site.html.page_text import Block
from ragval_pipeline.sources.stores.qdrant.protocol import Point

TABLE = "| Option | Default | Meaning |\n|---|---|---|\n| `max_wait` | 30 s | how long |\n| `retries` | | how often |"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("A lookup is a query expression with a left-hand side.", "What is a lookup?"),
        ("Message tags are a string that holds the level and more.", "What are message tags?"),
        ("`WSGIAuthUserScript` is the same as the alias that defines it.", "What is WSGIAuthUserScript?"),
        ("Uvicorn is an ASGI server with an emphasis on speed.", "What is Uvicorn?"),
        ("Uvicorn\nUvicorn is an ASGI server with an emphasis on speed.", "What is Uvicorn?"),
        ("# Servers\n\nA lookup is a query expression with a left-hand side.", "What is a lookup?"),
        (TABLE, "What is the default of max_wait?"),
    ],
)
def test_what_a_passage_says_is_asked(text: str, question: str) -> None:
    assert [passage.text for passage in passages_of([text])] == [question]


@pytest.mark.parametrize(
    "text",
    [
        "This is a thing that somebody said before in the text.",
        "The connection is the one that was opened a moment ago.",
        "`obj` is the parent object that is being edited now.",
        "Database path\n\ndatabase is the path of the file that holds the tables.",
        "Whilst packaging is an important part of most work, it is not all of it.",
        "Python package that package (a folder) is the folder that holds the resources.",
        "A clear set of instructions is an easy way to get on the same page.",
        "`SECRET_KEY` is the only one that is needed for the tutorial's project.",
        "Using the admin is a good way to begin with a site.",
        "```\nA lookup is a query expression with a left-hand side.\n```",
    ],
)
def test_what_refers_to_something_before_or_is_code_is_not_asked(text: str) -> None:
    assert list(passages_of([text])) == []


def test_a_definition_that_two_chunks_share_is_asked_of_the_page() -> None:
    [passage] = passages_of(
        ["First a text. A watering robot is a machine that", "runs on rails between the benches. More."]
    )
    assert (passage.text, passage.words) == ("What is a watering robot?", "")


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Finding work", "How do I find work?"),
        ("Loosen the requirements", "How do I loosen the requirements?"),
        ("Behind the scenes", "What should I know about Behind the scenes?"),
        ("Configuring a keyring", "How do I configure a keyring?"),
        ("Logging Best Practices", "What should I know about logging Best Practices?"),
        ("How errors are displayed", "Can you tell me how errors are displayed?"),
        ("What to configure", "What should I configure?"),
        ("``DeleteModel``", "What does DeleteModel do?"),
        ("The server does not start", "The server does not start. What can I do?"),
        ("Use `PassengerMiddleware` to serve files", "How do I use PassengerMiddleware to serve files?"),
    ],
)
def test_a_question_of_a_heading_reads_like_one(heading: str, question: str) -> None:
    assert question_of(heading, "Commands") == question


def test_a_page_of_several_versions_is_asked_for_its_own() -> None:
    text = "A lookup is a query expression with a left-hand side. It is in the index, and so is the rest of this."
    url, twin = "https://a.example/docs/2.0/lookup", "https://a.example/docs/1.0/lookup"
    page = DraftPage(url, "Lookup", Point(id="1", payload={}), text, None, (), 1, (twin,), (text,))
    [question] = [each for each in draft_questions([page], {}, count=3, seed="a") if each.passage]
    assert question.text == "What is a lookup in version 2.0?"
    assert question.hard == (twin,)


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Message tags", "What are message tags?"),
        ("Regular installs", "What should I know about regular installs?"),
        ("Python versions", "What should I know about Python versions?"),
        ("Self-hosted Runners", "What should I know about Self-hosted Runners?"),
    ],
)
def test_only_what_a_page_defines_is_asked_for_as_such(heading: str, question: str) -> None:
    text = "Message tags are a string. Regular installs are made in Python."
    assert question_of(heading, "Commands", text) == question


def test_only_headings_whose_sections_say_something_are_asked_for() -> None:
    sentence = "It holds what the others have left over, and more."
    blocks = [
        Block("heading", "Guides", 1), Block("item", "First steps"), Block("heading", "Download", 2),
        Block("code", sentence), Block("heading", "Caching", 2), Block("paragraph", sentence),
    ]  # fmt: skip
    assert saying_something(blocks) == ["Caching"]


@pytest.mark.parametrize("heading", ["Other notable comments", "What Next?", "Read More", "Indices and tables"])
def test_headings_that_only_lead_on_are_not_asked_for(heading: str) -> None:
    assert not is_telling(heading)


def test_the_page_in_another_language_is_a_hard_negative() -> None:
    names = ("lookup", "index", "query", "table", "cursor", "schema")
    points = [
        Point(
            id=f"{language}{name}",
            payload={"url": f"https://a.example{language}/docs/{name}", "title": title, "text": text},
        )
        for name in names
        for language, title, text in (
            (
                "",
                name.title(),
                f"A {name} is a thing with a left-hand side. It is in the book, and so is the rest of it.",
            ),
            (
                "/de",
                f"{name.title()} auf Deutsch",
                f"{name.title()} steht links. Das ist alles, was dazu zu sagen ist.",
            ),
        )
    ]
    look: Any = SimpleNamespace(points=points)
    pages = pages_of(look, {"source_url": "url", "title": "title", "text": "text"})
    asked = [each for each in draft_questions(pages, {}, count=12, seed="a") if each.passage]
    assert asked
    for question in asked:
        assert question.page.url is not None
        name = question.page.url.rpartition("/")[2]
        assert question.hard == (f"https://a.example/de/docs/{name}",)
