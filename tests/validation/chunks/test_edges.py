from __future__ import annotations

from pathlib import Path

import pytest

from ragval_pipeline.validation.chunks.habits import Habits
from ragval_pipeline.validation.facts.align import align
from ragval_pipeline.validation.facts.differences import edges_of
from ragval_pipeline.validation.facts.page import Searched
from ragval_pipeline.validation.facts.rows import Edge
from tests.validation.chunks.world import (
    BATTERY,
    CAMERA,
    GRIPPER,
    VISITORS,
    html,
    measured,
    paragraphs,
    point,
    subjects,
    value,
)

TEXTS = (GRIPPER, CAMERA, BATTERY, VISITORS)
PAGES: dict[str, str | None] = {f"/p{number}": html(f"<p>{text}</p>") for number, text in enumerate(TEXTS)}


def words(text: str) -> tuple[list[str], list[str]]:
    openings, closings = edges_of(align(text, Searched(GRIPPER)))
    return [edge.word for edge in openings], [edge.word for edge in closings]


def test_lines_that_the_page_has_not_are_edges_by_their_first_word():
    above = f"Document: {GRIPPER[:40]}\nSource: https://x.example/7\nDate: zoo"
    framed = f"{above}\n\n{GRIPPER}\nKeywords: quiz, zoo\nPagecount: 7"
    assert words(framed) == (["document", "source", "date"], ["pagecount", "keywords"])


def test_a_line_above_is_an_edge_although_the_page_has_its_first_word_somewhere():
    page = Searched(f"The gripper of the arm and how it works\n{GRIPPER}\nThis page was published: read it")
    above = "Document: The gripper of the arm and how it works\npublished: 17 zoo quiz\nDate: zoo"
    openings, _ = edges_of(align(f"{above}\n\n{GRIPPER}", page))
    assert [(edge.word, edge.strange) for edge in openings] == [("document", ""), ("published", "zoo"), ("date", "")]


def test_a_change_in_the_middle_is_no_edge():
    assert words(GRIPPER.replace("motor", "banana")) == ([], [])


def test_a_word_in_front_of_the_text_is_an_edge_with_what_it_weighs():
    openings, _ = edges_of(align(f"passage 12: {GRIPPER}", Searched(GRIPPER)))
    assert openings == (Edge("passage", len("passage12")),)


def test_a_closing_word_is_whole_where_the_page_happens_to_go_on_with_its_first_letters():
    cut = GRIPPER.index("two")
    assert words(f"{GRIPPER[:cut]}\n</twirl>") == ([], ["twirl"])
    assert words(f"{GRIPPER[:cut]}twirl") == ([], ["twirl"])


def test_a_label_in_a_script_without_blanks_is_found_where_the_page_goes_on_with_other_words():
    label = "\u0e01\u0e02\u0e04\u0e07\u0e08\u0e09\u0e0a\u0e0b\u0e0c\u0e0d\u0e0e\u0e0f\u0e10\u0e11\u0e12\u0e13\u0e14"
    text = "\u0e15\u0e16\u0e17\u0e18\u0e19\u0e1a\u0e1b\u0e1c\u0e1d\u0e1e\u0e1f\u0e20\u0e21\u0e22\u0e23" * 3
    page = Searched(f"{label}\n{label[6:]}{text}")
    assert align(f"Document: {label}\n{text}", page).letters_found == len(label) + len(text)


def test_questions_behind_a_chunk_are_edges_whatever_words_of_the_page_they_quote():
    asked = "Quiz zoo questions:\nHow does it hold the part without pressing harder?\nThe gripper closes zoo?"
    assert words(f"{GRIPPER[30:]}\n{asked}") == ([], ["the", "how", "quiz"])


def test_an_edge_is_told_by_its_strange_word_with_letters_where_a_number_stands_before_it():
    openings, _ = edges_of(align(f"Motor: 7 zoo\n{GRIPPER}", Searched(GRIPPER)))
    assert [edge.words for edge in openings] == [("motor", "zoo")]


def test_an_edge_is_told_by_its_strange_word_where_a_title_stands_outside_of_it():
    openings, closings = edges_of(align(f"Motor: zoo\n{GRIPPER} [quiz: part]", Searched(GRIPPER)))
    assert [edge.words for edge in (*openings, *closings)] == [("motor", "zoo"), ("part", "quiz")]


def test_a_sentence_that_quotes_a_title_is_an_edge_although_the_page_has_its_first_word():
    title = "The handbook of the robot arm and its cell"
    page = Searched(f"{CAMERA} Here it ends.\n{GRIPPER}\n{VISITORS}\n{title}")
    openings, _ = edges_of(align(f"Here {title} quiz zoo.\n\n{GRIPPER}", page))
    assert [edge.missing for edge in openings] == [len("quizzoo")]


def test_words_from_all_over_the_page_are_no_text_of_it_in_one():
    said = ("against the lower jaw", "the dashboard shows", "before the next cycle")
    page = Searched("\n".join((*reversed(said), GRIPPER)))
    openings, _ = edges_of(align(f"{' '.join(said)} quiz zoo.\n\n{GRIPPER}", page))
    assert [edge.words[-1] for edge in openings if edge.missing] == ["quiz"]


def measure(folder: Path, frame: str, *, framed: int = 4) -> tuple[list[str], list[str], float | None]:
    points = [
        point(f"/p{number}", frame.format(text=text, number=number) if number < framed else text)
        for number, text in enumerate(TEXTS)
    ]
    found = measured(folder, PAGES, *points)
    return subjects(found, "integrity.drifted"), subjects(found, "integrity.gone"), value(found, "content_integrity")


@pytest.mark.parametrize(
    "frame",
    [
        "passage: {text}",
        "Title: The arm, part {number}\nSource: https://elsewhere.example/{number}\n\n{text}",
        "{text}\nEnd of document {number}.",
        "{text} [source: page {number}]",
        "<zoo>\n<quay>{text}</quay>\n</zoo>",
        "Wholly different summary words {number} {number}9 of quay.\n\n{text}",
    ],
)
def test_what_an_ingestion_puts_around_every_chunk_is_no_difference_and_its_letters_count(tmp_path: Path, frame: str):
    drifted, gone, integrity = measure(tmp_path, frame)
    assert (drifted, gone) == ([], [])
    assert integrity is not None
    assert integrity < 1


def test_a_title_within_a_line_of_the_ingestion_is_part_of_what_it_adds(tmp_path: Path):
    """Titles of every length stand on the page: how much of the line is missing must not depend on them."""
    titles = [
        "Arm",
        "A long title of the whole handbook",
        "Another long title of the handbook",
        "Third long title of it",
    ]
    pages = {
        path: html(f"<h1>{title}</h1><p>{text}</p>") for path, title, text in zip(PAGES, titles, TEXTS, strict=True)
    }
    points = [
        point(path, f"<zoo>{title}</zoo>\n{text}") for path, title, text in zip(PAGES, titles, TEXTS, strict=True)
    ]
    assert subjects(measured(tmp_path, pages, *points), "integrity.drifted") == []


def test_a_long_sentence_of_the_ingestion_may_quote_the_page(tmp_path: Path):
    """Of some pages it quotes a long title, of others a short one that no run of letters tells from chance."""
    titles = ["Arm", "A long title of the whole handbook", "Arms", "Another"]
    sentence = "Quiz, zoo and quay explained by somebody elsewhere, and how {0} differs, being wildly vexing: {0}."
    pages = {
        path: html(f"<h1>{title}</h1><p>{text}</p>") for path, title, text in zip(PAGES, titles, TEXTS, strict=True)
    }
    points = [
        point(path, f"{sentence.format(title)}\n\n{text}")
        for path, title, text in zip(PAGES, titles, TEXTS, strict=True)
    ]
    assert subjects(measured(tmp_path, pages, *points), "integrity.drifted") == []


def test_a_sentence_that_quotes_title_and_section_is_none_of_the_page_however_little_of_it_is_missing(tmp_path: Path):
    title, section = "The handbook of the robot arm and its cell", "What every operator of such an arm has to know"
    sentence = "Quiz zoo {0} of the jumbled {0}, under waltz {1}, vexing {1}, quick waltz."
    pages = {
        path: html(f"{paragraphs(text)}<h2>{section}</h2>{paragraphs(VISITORS)}<h1>{title}</h1>")
        for path, text in zip(PAGES, TEXTS, strict=True)
    }
    said = sentence.format(title, section)
    short = [sentence.format("it", "this")] * 3
    points = [point(path, f"{line}\n\n{text}") for path, text, line in zip(PAGES, TEXTS, [said, *short], strict=True)]
    assert subjects(measured(tmp_path / "same", pages, *points), "integrity.drifted") == []
    points[0]["text"] = points[0]["text"].replace("motor", "banana").replace("amperes", "sideways")
    assert subjects(measured(tmp_path / "changed", pages, *points), "integrity.drifted") == ["0"]


def headed(number: int, text: str) -> dict[str, object]:
    return point(f"/p{number}", f"Quiz: {number}\n\nZoo quay: https://x.example/p{number}\n\nJumble waltz:\n{text}")


def test_lines_put_before_a_chunk_may_begin_with_a_word_that_its_page_happens_to_have(tmp_path: Path):
    pages = {**PAGES, "/p0": html(f"<h1>Quiz</h1><p>{GRIPPER}</p>")}
    points = [headed(number, text) for number, text in enumerate(TEXTS)]
    assert subjects(measured(tmp_path, pages, *points), "integrity.drifted") == []


def test_a_chunk_of_nothing_but_what_is_put_before_it_is_no_difference(tmp_path: Path):
    title = "The handbook of the robot arm and its cell"
    pages = {path: html(f"<h1>{title}</h1><p>{text}</p>") for path, text in zip(PAGES, TEXTS, strict=True)}
    points = [point(f"/p{number}", f"Quiz: {title}\nZoo:\n\n{text}") for number, text in enumerate(TEXTS)]
    bare = point("/p3", f"Quiz: {title}\nZoo:\n\n***")
    assert subjects(measured(tmp_path, pages, *points, bare), "integrity.drifted") == []


@pytest.mark.parametrize("is_before", [True, False])
def test_keywords_in_the_words_of_the_page_around_a_chunk_are_no_difference(tmp_path: Path, is_before: bool):
    beside = "which the driver prints, before it terminates the method at once"
    pages: dict[str, str | None] = {}
    points = []
    for url, text, words in zip(PAGES, TEXTS, ["prints, terminates, method", *["quiz, zoo, jumble"] * 3], strict=True):
        added = f"Keywords: {words}"
        pages[url] = html(paragraphs(beside, text) if is_before else paragraphs(text, beside))
        points.append(point(url, f"{added}\n{text}" if is_before else f"{text}\n{added}"))
    assert subjects(measured(tmp_path, pages, *points), "integrity.drifted") == []


def test_the_same_line_around_one_chunk_is_a_difference(tmp_path: Path):
    drifted, _, integrity = measure(tmp_path, "Title: Wiring of sensors\nSource: zoo\n{text}", framed=1)
    assert drifted == ["0"]
    assert (integrity or 1) < 1


def test_a_text_of_nowhere_is_gone_however_many_chunks_begin_so(tmp_path: Path):
    _, gone, integrity = measure(tmp_path, "Placeholder jumble zoo quiz: nothing here {number}.")
    assert gone == ["0", "1", "2", "3"]
    assert integrity is not None
    assert integrity < 0.2


def test_changes_behind_a_habit_still_count(tmp_path: Path):
    points = [point(f"/p{number}", f"passage: {text}") for number, text in enumerate(TEXTS)]
    points[2]["text"] = points[2]["text"].replace("battery", "banana").replace("overnight", "sideways")
    assert subjects(measured(tmp_path, PAGES, *points), "integrity.drifted") == ["2"]


def test_a_word_on_half_of_the_pages_is_a_habit_and_on_fewer_pages_is_none(tmp_path: Path):
    content = {f"/q{number}": html(paragraphs(*TEXTS)) for number in range(8)}
    for framed, habitual in ((4, True), (3, False)):
        (folder := tmp_path / str(framed)).mkdir()
        points = [
            point(f"/q{page}", f"Summary zoo: {text}" if page < framed and not at else text, at)
            for page in range(8)
            for at, text in enumerate(TEXTS)
        ]
        drifted = subjects(measured(folder, content, *points), "integrity.drifted")
        assert (drifted == []) is habitual


def test_nothing_is_a_habit_of_three_chunks():
    assert Habits.of([], total=0, pages=0) == Habits()


def test_lines_before_a_chunk_are_an_edge_each_whether_or_not_the_page_has_some_of_the_first():
    for title in ("Welding", "Reading the camera"):
        head = f"Label: {title}\nURL Origin: somewhere\nMarkdown Content:\n"
        openings, _ = edges_of(align(f"{head}{GRIPPER}", Searched(f"{title}\n{GRIPPER}")))
        assert {"url", "markdown"} <= {edge.word for edge in openings if edge.missing}
