from __future__ import annotations

from ragval_pipeline.findings.factory import PASSAGE, SHOWN
from ragval_pipeline.validation.chunks.integrity import segments_of
from ragval_pipeline.validation.facts.align import align
from ragval_pipeline.validation.facts.page import Page
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, paragraphs, record

PAGE = f"{GRIPPER}\n{CAMERA}\n{BATTERY}"


def segments(text: str, page: str = PAGE) -> list[tuple[str, str]]:
    there = Page(record(paragraphs(*page.split("\n"))))
    return list(segments_of(align(text, there), there))


def test_no_difference_has_no_segments():
    assert segments(GRIPPER) == []


def test_a_changed_word_stands_beside_what_the_page_says_there():
    found = segments(GRIPPER.replace("motor", "mother"))
    assert found[0] == ("same", "The gripper closes until the ")
    assert found[1:3] == [("index", "mother"), ("page", "motor")]
    assert found[3][0] == "same"
    assert found[3][1].startswith(" draws more")


def test_words_and_letters_that_the_chunk_lacks_stand_where_the_page_has_them():
    assert ("page", "motor") in segments(GRIPPER.replace("motor ", ""))
    number = segments(
        "The lid opens after 10 seconds, then the lamp goes out.",
        "The lid opens after 100 seconds, then the lamp goes out.",
    )
    assert number[1:3] == [("index", "10"), ("page", "100")]


def test_all_kinds_together_give_the_chunk_back():
    text = GRIPPER.replace("motor", "mother").replace("amperes", "bananas")
    assert "".join(shown for kind, shown in segments(text) if kind in {"same", "index"}) == text


def test_the_middle_of_a_long_common_stretch_is_left_out():
    found = segments(PAGE.replace("closes", "giggles").replace("door", "zoo"))
    assert ("skipped", "…") in found
    assert all(len(shown) <= 80 for kind, shown in found if kind == "same")


def test_a_long_difference_is_shortened_and_their_number_is_limited():
    long = segments(f"{GRIPPER} {'zoo quiz ' * 90} {CAMERA}")
    assert max(len(shown) for kind, shown in long if kind == "index") == PASSAGE
    many = " ".join(f"{GRIPPER} zoo{number}quiz" for number in range(40))
    assert sum(kind == "index" for kind, _ in segments(many)) == SHOWN
