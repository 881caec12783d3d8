from __future__ import annotations

import pytest

from ragval_pipeline.validation.points import PointRef
from ragval_pipeline.validation.texts.boilerplate import (
    boilerplate_findings,
    collect_phrases,
    probes_beside,
    suspected_wordings,
)
from tests.validation.rows import named, rows

OBJECTIVES = "Learning Objectives\nBy the end of this chapter you will be able to do it"
FOOTER = "Have you found what you were looking for?"


def chunk(page: int, text: str, *headings: str) -> dict[str, object]:
    return {"text": text, "source_url": f"/p{page}", "headings": list(headings)}


def content(page: int, part: int) -> str:
    return f"Topic {page}x{part} is about machine {page * 7 + part} in hall h{page}x{part}"


def index(*, change, pages: int = 10, chunks: int = 3):
    return rows(
        *(chunk(page, change(content(page, part), page, part)) for page in range(pages) for part in range(chunks))
    )


def test_a_theme_phrase_in_front_of_every_chunk_names_every_chunk():
    found = index(change=lambda text, page, part: f"On this page\n{text}")
    finding = boilerplate_findings(collect_phrases(found))[0]
    assert finding.count == 30
    assert finding.details["phrases"] == [{"phrase": "on this page", "points": 30, "pages": 10}]


def test_only_the_chunks_that_have_it_are_named():
    found = index(change=lambda text, page, part: f"{text} Edit this page" if part == 2 else text)
    assert named(boilerplate_findings(collect_phrases(found))) == sorted(str(number) for number in range(2, 30, 3))


def test_a_phrase_on_two_pages_is_no_boilerplate():
    found = index(change=lambda text, page, part: f"On this page\n{text}" if page < 2 else text)
    assert boilerplate_findings(collect_phrases(found)) == []


def test_chunks_that_go_on_in_small_letters_count_where_the_others_begin_so_too():
    found = index(change=lambda text, page, part: f"On this page {text.lower() if part else text}")
    assert len(named(boilerplate_findings(collect_phrases(found)))) == 30


def test_a_sentence_that_happens_to_begin_so_is_none():
    found = index(change=lambda text, page, part: text if part else f"On this page we tell what {text.lower()}")
    assert boilerplate_findings(collect_phrases(found)) == []


def test_a_heading_that_repeats_over_chapters_is_no_boilerplate():
    found = rows(*(chunk(page, f"Prerequisites\n{content(page, 0)}", "Prerequisites") for page in range(10)))
    assert boilerplate_findings(collect_phrases(found), lambda page, words: False) == []


def test_a_footer_that_no_page_has_as_content_is_boilerplate():
    found = index(change=lambda text, page, part: f"{text}\n{FOOTER}" if part == 2 else text)
    finding = boilerplate_findings(collect_phrases(found), lambda page, words: False)[0]
    assert [entry["phrase"] for entry in finding.details["phrases"]] == ["have you found what you were looking for"]
    assert finding.count == 10


def test_what_the_author_repeats_on_every_page_is_not():
    found = index(change=lambda text, page, part: text if part else f"{OBJECTIVES} {text}")
    phrases = collect_phrases(found)
    assert suspected_wordings(phrases)
    assert boilerplate_findings(phrases, lambda page, words: True) == []


def test_without_pages_only_what_most_chunks_share_is_boilerplate():
    once_a_page = collect_phrases(index(change=lambda text, page, part: text if part else f"{OBJECTIVES} {text}"))
    assert boilerplate_findings(once_a_page) == []
    everywhere = collect_phrases(index(change=lambda text, page, part: f"Acme Cloud Portal Menu {text}"))
    assert len(named(boilerplate_findings(everywhere))) == 30


def test_merged_slices_say_what_the_whole_says():
    found = index(change=lambda text, page, part: f"On this page\n{text}" if page % 2 else f"{text} {FOOTER}")
    whole = boilerplate_findings(collect_phrases(found), lambda page, words: False)
    sliced = collect_phrases(found[:11]).merge(collect_phrases(found[11:]))
    assert boilerplate_findings(sliced, lambda page, words: False) == whole
    assert whole[0].count == 30


@pytest.mark.parametrize(
    "prefix",
    [
        "Acme Robot Handbook > Guides > Topic\n",
        "Title: Topic sheet\nSource: https://docs.example.com/p{page}\n\n",
        "Source: https://docs.example.com/p{page}\n",
        "Module: halls and machines ",
        "passage: ",
        "search_document: ",
    ],
)
def test_what_an_ingestion_says_of_a_chunk_in_front_of_it_is_no_furniture(prefix: str):
    found = rows(
        *(
            {
                **chunk(page, prefix.format(page=page) + content(page, part)),
                "title": "Topic sheet",
                "module": "halls and machines",
            }
            for page in range(10)
            for part in range(3)
        )
    )
    assert boilerplate_findings(collect_phrases(found), lambda page, words: False) == []


def test_imports_of_a_source_file_are_no_wording():
    imports = "import Bar from '@site/src/components/Bar';\nimport Quiz from '@site/src/components/Quiz';\n\n<Bar />\n"
    found = index(change=lambda text, page, part: f"{imports}{page}x{part} {text}")
    assert boilerplate_findings(collect_phrases(found), lambda page, words: False) == []


def test_addresses_of_links_are_no_wording():
    link = "[Topic](https://docs.example.com/guides/all/topics 'All topics')"
    found = index(change=lambda text, page, part: f"{link} {page}x{part} {text}")
    assert boilerplate_findings(collect_phrases(found), lambda page, words: False) == []


def test_a_wording_that_is_the_text_of_another_page_was_put_on_the_wrong_pages():
    found = index(change=lambda text, page, part: f"{text}\n{FOOTER}" if part == 2 else text)
    phrases = collect_phrases(found)
    assert boilerplate_findings(phrases, lambda page, words: False, lambda words: 1)
    assert boilerplate_findings(phrases, lambda page, words: False, lambda words: 2) == []


def test_chunks_that_are_not_of_their_page_frame_none():
    found = index(change=lambda text, page, part: f"{text}\n{FOOTER}" if part == 2 else text)
    phrases = collect_phrases(found)
    strangers = {entry.ref for entry in phrases.edges if str(entry.ref.page_key)[-1] in "4567"}

    def points(without: set[PointRef]) -> int:
        return len(named(boilerplate_findings(phrases, lambda page, words: False, strangers=without)))

    assert (points(set()), points(strangers)) == (10, 6)
    assert points({entry.ref for entry in phrases.edges}) == 0


def test_of_a_short_text_what_stands_beside_the_wording_tells_its_page():
    newsletter = "Subscribe to our newsletter and never miss a release"
    found = index(change=lambda text, page, part: f"{newsletter}\nIt takes {page + 2} hours" if part else text)
    phrases = collect_phrases(found)
    suspected = suspected_wordings(phrases)
    probes = probes_beside(phrases, suspected)
    assert probes[phrases.edges[4].ref][-1] == "3hours"
    assert probes[phrases.edges[3].ref] == phrases.edges[3].probes


def test_lines_that_say_where_a_chunk_is_from_are_no_furniture_without_a_payload_that_says_it():
    origin = "Title: Halls of the Acme Handbook\nSource: https://docs.acme.example/halls/of/{page}\n\n{text}"
    found = index(change=lambda text, page, part: origin.format(page=page, text=text))
    assert boilerplate_findings(collect_phrases(found), lambda page, words: False) == []
