"""What most titles share says nothing about a page, however a site writes it."""

from __future__ import annotations

import pytest

from ragval_pipeline.validation.self_retrieval.names import as_read, own_titles, shared_parts


def cut(*titles: str) -> list[str]:
    named = dict(enumerate(titles))
    return list(own_titles(named, shared_parts([title] for title in titles)).values())


@pytest.mark.parametrize(
    "template",
    ["{} | The Book", "{} - The Book", "{} :: The Book", "{}: The Book 3", "{} (The Book (version 7.3.0))", "{}(1)",
     "{}(1) Manual Page", "The Book » {}", "Chapter 7. {}", "第7章 {}", "3.2 {}", "{} — Part 4"],
)  # fmt: skip
def test_what_most_titles_begin_or_end_with_is_cut_off(template: str) -> None:
    names = ["Nodes and topics", "git-add", "C++ templates", "話題"]
    assert cut(*map(template.format, names)) == names


def test_numbers_differ_in_their_digits_alone() -> None:
    titles = ["Chapitre 3. Les noeuds", "Chapitre 12. Les sujets", "Annexe A. Les termes"]
    assert cut(*titles) == ["Les noeuds", "Les sujets", "Annexe A. Les termes"]


@pytest.mark.parametrize(
    "titles",
    [
        ("How to add nodes", "How to find topics", "How to call services"),  # no mark parts it from the rest
        ("Use motor 1 for torque", "Use motor 2 for speed", "Use motor 3 for both"),
        ("git-add", "git-apply", "git-archive"),
        ("Title 1", "Title 2", "Title 3"),
        ("Chapter 1", "Chapter 2", "Chapter 3"),
        ("Lesson - Part 1", "Lesson - Part 2", "Lesson - Part 3"),  # nothing else tells them apart
        ("asyncio: 3.11", "asyncio: 3.12", "asyncio: 3.13"),
        ("Nodes | The Book", "Topics", "Services"),
    ],
)
def test_what_tells_pages_apart_is_kept(titles: tuple[str, ...]) -> None:
    assert cut(*titles) == list(titles)


def test_a_title_that_is_only_the_shared_part_stays_whole() -> None:
    titles = ["Nodes (GNU Octave (version 7.3.0))", "Topics (GNU Octave (version 7.3.0))", "GNU Octave (version 7.3.0)"]
    assert cut(*titles) == ["Nodes", "Topics", "GNU Octave (version 7.3.0)"]


def test_titles_that_would_read_like_another_stay_whole() -> None:
    assert cut("Nodes | The Book", "Topics | The Book", "Nodes") == ["Nodes | The Book", "Topics", "Nodes"]


def test_a_part_that_the_headings_of_most_pages_share_is_cut_off_them() -> None:
    pages = [{f"git-{name}(1)", f"git-{name}(1) Manual Page", "SEE ALSO"} for name in ("add", "apply", "archive")]
    shared = shared_parts(pages)
    assert shared.without("git-add(1) Manual Page") == shared.without("git-add(1)") == "git-add"
    assert shared.without("SEE ALSO") == "SEE ALSO"


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ('Handling[\u00b6](#handling "Permalink to this heading")', "Handling"),
        ("The [route](/api#flask.route) and [its (rules)](r_(x))", "The route and its (rules)"),
        ("cells[row](column) and f(x)[1]", "cells[row](column) and f(x)[1]"),
        (" Array[int] ", "Array[int]"),
    ],
)
def test_of_links_in_names_their_words_are_read(stored: str, read: str) -> None:
    assert as_read(stored) == read
