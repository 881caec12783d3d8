from __future__ import annotations

from dataclasses import replace

import pytest

from ragval_pipeline.sources.site.html.page_text import Block
from ragval_pipeline.sources.site.page_copies.copies import PageRecord
from tests.validation.factory import absolute, site
from tests.validation.rows import detected, evidence_of, named, rows

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


def page(number: int, also: str = "", *, frame: str = "") -> PageRecord:
    """A page whose content is that of its chunks, and something else; around it stands its frame."""
    passages = [*([also] if also else ()), *(content(number, part) for part in range(3))]
    main, url = "\n".join(passages), absolute(f"/p{number}")
    blocks = tuple(Block("paragraph", text) for text in passages)
    body = f"{frame}\n{main}\n{frame}"
    return PageRecord(site().folder().key(url), url, main=main, body=body, blocks=blocks)


PAGES = [page(number) for number in range(10)]


def boilerplate(found, pages=()):
    return detected("text.boilerplate", evidence_of(found, pages))


def test_a_theme_phrase_in_front_of_every_chunk_names_every_chunk():
    found = index(change=lambda text, page, part: f"On this page\n{text}")
    finding = boilerplate(found)[0]
    assert finding.count == 30
    assert finding.details["phrases"] == [{"phrase": "on this page", "points": 30, "pages": 10}]


def test_a_footer_stored_as_a_chunk_of_its_own_is_listed_once():
    footers = [chunk(number, FOOTER) for number in range(10)]
    found = rows(*footers, *(chunk(number, content(number, part)) for number in range(10) for part in range(3)))
    (finding,) = boilerplate(found, [page(number, frame=FOOTER) for number in range(10)])
    assert [(listed["points"], listed["pages"]) for listed in finding.details["phrases"]] == [(10, 10)]


def test_a_chunk_is_affected_as_far_as_it_consists_of_the_phrases():
    few = boilerplate(index(change=lambda text, page, part: f"On this page\n{text * 9}"))[0]
    much = boilerplate(index(change=lambda text, page, part: f"On this page\n{text}"))[0]
    assert max(subject.extent for subject in few.subjects) < 0.04
    assert 0.2 < min(subject.extent for subject in much.subjects) < 0.3


def test_a_phrase_that_the_page_shows_around_its_content_is_no_difference_from_it():
    found = index(change=lambda text, page, part: f"On this page\n{text}")
    framed = [page(number, frame="On this page") for number in range(10)]
    assert {subject.words for subject in boilerplate(found, framed)[0].subjects} == {0}
    assert min(subject.words for subject in boilerplate(found, PAGES)[0].subjects) > 3
    assert min(subject.words for subject in boilerplate(found)[0].subjects) > 3


def test_only_the_chunks_that_have_it_are_named():
    found = index(change=lambda text, page, part: f"{text} Edit this page" if part == 2 else text)
    assert named(boilerplate(found)) == sorted(str(number) for number in range(2, 30, 3))


BANNER = "We use cookies to improve your visit. Accept all Reject all Manage preferences"


IMPORTS = "import Bar from '@site/src/components/Bar';\nimport Quiz from '@site/src/components/Quiz';\n\n<Bar />\n"
LINK = "[Topic](https://docs.example.com/guides/all/topics 'All topics')"
ORIGIN = "Title: Halls of the Acme Handbook\nSource: https://docs.acme.example/halls/of/{}\n\n{}"
QUESTIONS = "{}\n\nQuestions that this answers:\nWhen should it waltz?\nHow does {} quiz the zoo?"
BREAD = "Whoever wants to bake bread needs flour, water, salt and a warm place for the dough to rise in"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text, page, part: f"{IMPORTS}{page}x{part} {text}", id="imports of a source file"),
        pytest.param(lambda text, page, part: f"{LINK} {page}x{part} {text}", id="addresses of links"),
        pytest.param(lambda text, page, part: ORIGIN.format(page, text), id="where a chunk is from"),
        pytest.param(
            lambda text, page, part: QUESTIONS.format(text, "one" if page % 2 else page * 3 + part),
            id="questions, whatever some of them share",
        ),
        pytest.param(
            lambda text, page, part: f"{BANNER}\n{BREAD}" if (page, part) == (4, 1) else text,
            id="a banner around a text that is not of its page",
        ),
    ],
)
def test_what_is_no_frame_of_pages_is_no_boilerplate(change):
    assert boilerplate(index(change=change), PAGES) == []


def test_a_phrase_on_two_pages_is_no_boilerplate_and_a_sentence_that_happens_to_begin_so_is_none():
    assert boilerplate(index(change=lambda text, page, part: f"On this page\n{text}" if page < 2 else text)) == []
    assert (
        boilerplate(index(change=lambda text, page, part: text if part else f"On this page we tell {text.lower()}"))
        == []
    )


def test_a_banner_in_a_single_chunk_counts_if_its_page_does_not_have_it():
    """Text that is not on the page is no page about the theme; it was only named as drift, edited perhaps."""
    found = index(change=lambda text, page, part: f"{BANNER}\n{text}" if (page, part) == (4, 1) else text)
    (finding,) = boilerplate(found, PAGES)
    assert named([finding]) == ["13"]
    assert finding.message.startswith("1 point contains text")
    assert "“we use cookies” on 1 page." in finding.message
    pages = [page(number, also=BANNER if number == 4 else "") for number in range(10)]
    assert boilerplate(found, pages) == []
    assert boilerplate(found) == []


def test_chunks_that_go_on_in_small_letters_count_where_the_others_begin_so_too():
    found = index(change=lambda text, page, part: f"On this page {text.lower() if part else text}")
    assert len(named(boilerplate(found))) == 30


def test_a_heading_that_repeats_over_chapters_is_no_boilerplate():
    found = rows(*(chunk(page, f"Prerequisites\n{content(page, 0)}", "Prerequisites") for page in range(10)))
    assert boilerplate(found, PAGES) == []


def test_a_footer_that_no_page_has_as_content_is_boilerplate():
    found = index(change=lambda text, page, part: f"{text}\n{FOOTER}" if part == 2 else text)
    finding = boilerplate(found, PAGES)[0]
    assert [entry["phrase"] for entry in finding.details["phrases"]] == ["have you found what you were looking for"]
    assert finding.count == 10


def test_a_menu_that_is_all_of_a_chunk_is_furniture_on_three_pages():
    menu = "\n".join(content(page, 0) for page in range(10))
    found = index(change=lambda text, page, part: menu if part == 0 and page < 3 else text)
    framed = [page(number, frame=menu) for number in range(10)]
    assert named(boilerplate(found, framed)) == ["0", "3", "6"]
    assert boilerplate(found, [page(number, menu) for number in range(10)]) == []


def test_what_an_ingestion_says_in_front_of_a_menu_is_none_of_it():
    menu = "\n".join(content(page, 0) for page in range(10))

    def said(text: str, page: int, part: int) -> str:
        whole = menu if part == 0 and page < 3 else text
        return f"This chunk is part {part + 1} of 3 of the page Topic number{page}y, written for its team.\n{whole}"

    framed = [page(number, frame=menu) for number in range(10)]
    (finding,) = boilerplate(index(change=said), framed)
    assert named([finding]) == ["0", "3", "6"]
    assert not any(entry["phrase"].startswith("this chunk is") for entry in finding.details["phrases"])


@pytest.mark.parametrize("menu", ["Home Arms Legs Eyes Search", "Arms Legs Eyes Search", "Zur\u00fcck Arms Legs Eyes"])
def test_a_menu_that_names_the_modules_is_furniture_on_the_pages_of_each(menu: str):
    modules = ("arms", "legs", "eyes", "search", "home")
    texts = ((page, part, f"{menu}\n{content(page, part)}") for page in range(10) for part in range(3))
    found = rows(*({**chunk(page, text), "module": modules[page % 5]} for page, _, text in texts))
    assert len(named(boilerplate(found, PAGES))) == 30


def test_what_the_author_repeats_on_every_page_is_not():
    found = index(change=lambda text, page, part: text if part else f"{OBJECTIVES} {text}")
    assert boilerplate(found, [page(number, OBJECTIVES) for number in range(10)]) == []


def test_a_wording_is_the_contents_however_the_page_sets_its_blanks_and_where_it_runs_on_into_another_passage():
    wording = "pub struct private fields of a lock"
    found = index(change=lambda text, page, part: text if part else f"{wording}\n{text}")
    for also in (
        "Pub struct private  *fields* of alock",
        "pub struct { /* private fields */ of a }\nExpand description\nlock",
    ):
        assert boilerplate(found, [page(number, also) for number in range(10)]) == []
    assert boilerplate(found, [page(number, "pub struct and a lock") for number in range(10)])


@pytest.mark.parametrize(
    ("image", "title", "phrase"), [("Hint", "Hint", "hint hint"), ("[ヒント]", "ヒント", "ヒントヒント")]
)
def test_the_description_of_an_image_in_the_content_is_none_of_its_frame(image, title, phrase):
    found = index(change=lambda text, page, part: text if part else f"![{image}] {title}\nDo {text} {title} {image}")
    pages = [replace(page(number, f"{title}\nDo"), attributes=image) for number in range(10)]
    pages = [replace(own, main=f"{own.main.replace(title, title, 1)} {title}") for own in pages]
    assert boilerplate(found, pages) == []
    finding = boilerplate(found, [page(number) for number in range(10)])[0]
    assert any(entry["phrase"].startswith(phrase) for entry in finding.details["phrases"])


def test_without_pages_only_what_most_chunks_share_is_boilerplate():
    once_a_page = index(change=lambda text, page, part: text if part else f"{OBJECTIVES} {text}")
    assert boilerplate(once_a_page) == []
    everywhere = index(change=lambda text, page, part: f"Acme Cloud Portal Menu {text}")
    assert len(named(boilerplate(everywhere))) == 30


def test_what_authors_write_on_pages_stored_under_other_addresses_is_their_content():
    head = "Name Type Description"
    stored = index(change=lambda text, page, part: f"{head}\n{text}")
    elsewhere = [{**row, "page_key": f"old{row['page_key']}"} for row in stored]
    assert boilerplate(elsewhere, [page(number, also=head) for number in range(10)]) == []
    assert len(named(boilerplate(elsewhere, PAGES))) == 30


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
    assert boilerplate(found, PAGES) == []


@pytest.mark.parametrize("sign", [" ", ": ", "\n"])
def test_a_title_in_front_of_every_chunk_is_no_furniture_however_it_is_joined(sign: str):
    title = "The whole handbook of robot arms"
    chunks = (chunk(page, f"{title}{sign}{content(page, part)}") for page in range(10) for part in range(3))
    assert boilerplate(rows(*({**entry, "title": title} for entry in chunks)), PAGES) == []


def test_a_summary_that_says_where_each_chunk_belongs_is_no_furniture():
    summary = "This chunk is of {page}x{part}.\n\n{text}"
    found = index(change=lambda text, page, part: summary.format(page=page, part=part, text=text))
    assert boilerplate(found, PAGES) == []
    framed = [page(number, frame="This chunk is of") for number in range(10)]
    assert len(named(boilerplate(found, framed))) == 30, "which the page's frame says"


def test_what_is_said_of_each_chunk_in_one_of_some_wordings_is_no_furniture():
    wordings = (
        "This chunk covers {}x",
        "The passage describes {}x",
        "Here the manual explains {}x",
        "It belongs to {}x",
    )
    told = (wording.format(number) for number, wording in enumerate(wordings * 8))
    found = index(change=lambda text, page, part: f"{next(told)}.\n\n{text}")
    assert boilerplate(found, PAGES) == []


@pytest.mark.parametrize(
    "framed",
    [
        "Home Products Pricing Careers\n{}",
        "{}\nHome Products Pricing Careers",
        "Home \u00bb Products \u00bb Pricing \u00bb Careers\n{}",
    ],
)
def test_a_menu_around_most_chunks_is_furniture_although_no_page_holds_it(framed: str):
    found = index(change=lambda text, page, part: framed.format(text) if page else text)
    assert len(named(boilerplate(found, PAGES))) == 27


def test_what_the_author_repeats_may_have_line_numbers_or_markup_that_the_page_shows_otherwise():
    code = "  1from math import pi\n  2\n  3import zoo"
    found = index(change=lambda text, page, part: text if part else f"{code}\n\n{text}")
    assert boilerplate(found, [page(number, "from math import pi\n\nimport zoo") for number in range(10)]) == []
    link = "[:file-code:][_p{}]{{{{ source-link }}}}"
    found = index(change=lambda text, page, part: text if part else f"{text}\n{link.format(page)}")
    assert len(named(boilerplate(found, PAGES))) == 10
    assert boilerplate(found, [replace(page(number), source=link.format(number)) for number in range(10)]) == []
    assert boilerplate(found, [page(number, link.format(number)) for number in range(10)]) == []


def test_what_the_author_repeats_may_look_like_the_tag_of_a_component():
    adapter = "fn chain makes of two iterators one Chain <Self> over both of them at once"
    found = index(change=lambda text, page, part: f"{text}. {adapter}" if part == 2 else text)
    mains = [f"{page(number).main}. {adapter.replace(' <', '<')}" for number in range(10)]
    pages = [
        replace(page(number), main=main, body=main, blocks=(Block("paragraph", main),))
        for number, main in enumerate(mains)
    ]
    assert boilerplate(found, pages) == []


def test_the_label_of_a_button_beside_what_the_author_repeats_is_no_wording():
    code = "import acme and call it"
    found = index(change=lambda text, page, part: text if part else f"Copy\n{code}\n{text}")
    assert boilerplate(found, [page(number, f"Have a copy\n{code}") for number in range(10)]) == []
    assert len(named(boilerplate(found, [page(number, "Have a copy, and call it") for number in range(10)]))) == 10


def test_the_label_of_a_tab_within_what_the_author_repeats_is_left_out_by_extractions():
    summary, tip = "Other versions and variants", "Prefer to use the annotated version if possible"
    found = index(change=lambda text, page, part: text if part else f"{summary}\n{tip}\n{text}")
    tabs = f"{summary}\nPython without annotations\n{tip}"
    assert boilerplate(found, [page(number, tabs) for number in range(10)]) == []
    assert len(named(boilerplate(found, [page(number, "Prefer other versions") for number in range(10)]))) == 10


def test_what_a_formula_was_written_as_is_the_contents_wherever_words_of_it_stand():
    written = r"\sum_i zoo_i = \int_0 quiz(t) waltz"
    found = index(change=lambda text, page, part: text if part else f"${written} + {page}$ is {text}")
    assert len(named(boilerplate(found, PAGES))) == 10
    pages = [
        replace(page(number, f"is {content(number, 0)}\nsum"), attributes=f"{written} + {number}")
        for number in range(10)
    ]
    assert boilerplate(found, pages) == []


def test_what_the_author_repeats_in_a_script_of_vowel_signs_is_the_contents():
    begin = "\u0e40\u0e1e\u0e37\u0e48\u0e2d\u0e17\u0e35\u0e48\u0e08\u0e30"  # "in order to"
    found = index(change=lambda text, page, part: f"{begin} {text}" if part else text)
    pages = [page(number, "\n".join(f"{begin} {content(number, part)}" for part in (1, 2))) for number in range(10)]
    assert boilerplate(found, pages) == []


def test_a_title_in_front_of_a_short_chunk_is_not_what_it_ends_with():
    title, part = "Arm (Acme Robot Handbook, second edition)", "Module arm"
    found = rows(*({**chunk(number, f"{title}\n\n{part} {number}"), "title": title} for number in range(10)))
    assert boilerplate(found, [page(number, f"{part} {number}") for number in range(10)]) == []


def test_the_title_of_a_headings_link_to_itself_is_no_wording():
    heading, link = "include workspace root", "Direct link to include workspace root"
    linked = f'## {heading}[#](#include-workspace-root "{link}")'
    found = index(change=lambda text, page, part: text if part else f"{linked}\n\n{text}")
    pages = [replace(page(number, heading), attributes=link) for number in range(10)]
    assert boilerplate(found, pages) == []


def test_chunks_that_are_not_of_their_page_frame_none():
    found = index(change=lambda text, page, part: f"{text}\n{FOOTER}" if part == 2 else text)
    for strangers in ((4, 5, 6, 7), range(10)):
        other = PageRecord("", "", main=OBJECTIVES, body=OBJECTIVES, blocks=(Block("paragraph", OBJECTIVES),))
        pages = [
            replace(other, page_key=own.page_key, url=own.url) if number in strangers else own
            for number, own in enumerate(PAGES)
        ]
        assert len(named(boilerplate(found, pages))) == 10 - len(strangers)


def test_a_text_of_no_page_under_a_known_footer_has_it_too():
    found = index(
        change=lambda text, page, part: (
            f"{'Old words of another version' if page == 3 else text}\n{FOOTER}" if part == 2 else text
        )
    )
    assert len(named(boilerplate(found, PAGES))) == 10


def test_a_wall_that_was_read_in_place_of_pages_is_no_frame_of_them():
    wall = (
        "We use cookies to analyse the traffic of this site and to show what suits you. Accept all or choose yourself."
    )
    walls = [chunk(number, wall) for number in range(5)]
    others = [chunk(number, content(number, part)) for number in range(5, 10) for part in range(3)]
    beside = [chunk(number, content(number, 1)) for number in range(5)]
    assert boilerplate(rows(*walls, *others), PAGES) == []
    assert len(named(boilerplate(rows(*walls, *beside, *others), PAGES))) == 5


def test_a_short_chunk_of_its_page_under_a_long_wording_is_named():
    newsletter = "Subscribe to our newsletter and never miss a release"
    found = index(change=lambda text, page, part: f"{newsletter}\nIt takes {page + 2} hours" if part else text)
    pages = [page(number, f"It takes {number + 2} hours", frame=newsletter) for number in range(10)]
    assert len(named(boilerplate(found, pages))) == 20
