"""What sources and converters write among the words of a page."""

import pytest

from tests.validation.chunks.world import CAMERA, GRIPPER
from tests.validation.facts.test_align import match, missing


@pytest.mark.parametrize(
    "written",
    [
        "link:../parts/motor.html#drive[motor]",  # AsciiDoc
        "[#motor-1 .target]##[.std .std-ref]#motor##",
        "[[drive-1]]motor",
        "[[file:parts/motor.html][motor]]",  # Org mode
        "<<drive-1>>motor",
        "[https://example.org/parts/motor the motor]",  # MediaWiki
        '"motor":https://example.org/parts/motor',  # Textile
        "\\href{parts/motor.html}{motor}",  # LaTeX
        '#link("parts/motor.html")[motor]',  # Typst
        "motor (../parts/motor.html#drive)",  # plain text
        "motor [https://example.org/parts/motor]",
        "motor (#drive) [/img/motor.svg]",
    ],
)
def test_an_address_or_a_name_across_which_the_page_goes_on_is_no_text(written: str):
    page = GRIPPER.replace("motor", "the motor" if "the motor" in written else "motor")
    text = GRIPPER.replace("motor", written)
    assert missing(match(text, page)) == []
    assert missing(match(f"{text} {page.upper()}", f"{page} {page.upper()}")) == []


@pytest.mark.parametrize("mark", ["(/etc/grip.conf)", "[../motor.html]", "(#drive)"])
def test_an_address_that_the_page_shows_in_other_letters_is_text(mark: str):
    page = GRIPPER.replace("motor", f"motor {mark}")
    other = mark.replace("r", "x").replace("#", "#x")
    assert missing(match(page, page)) == []
    assert missing(match(page.replace(mark, other), page)) != []


@pytest.mark.parametrize("word", ["grip.load_all()", "max_items_total", "/etc/grip.conf", "--force", "grip.conf", "12"])
def test_a_name_that_stands_in_no_brackets_is_text_although_the_page_goes_on(word: str):
    assert missing(match(GRIPPER.replace("motor", f"motor {word}"))) != []


def test_words_in_brackets_are_text_although_the_page_goes_on():
    for words in ("(if there is one)", "[banana]", "(optional)"):
        assert missing(match(GRIPPER.replace("motor", f"motor {words}"))) != [], words


def test_an_address_at_the_end_is_no_text_unless_the_page_has_one_there():
    page = f"{GRIPPER}\nThe parts\nSee the list of parts\nThe tray"
    assert missing(match(f"{GRIPPER}\nThe parts\nSee the list of parts (parts/list.html)", page)) == []
    shown = page.replace("of parts\n", "of parts (parts/all.html)\n")
    assert missing(match(f"{GRIPPER}\nThe parts\nSee the list of parts (parts/list.html)", shown)) != []


def test_a_tag_around_a_chunk_is_no_address():
    assert missing(match(f"{GRIPPER[: GRIPPER.index('two')]}\n</twirl>")) != []


def test_the_letters_of_items_are_no_text_unless_the_page_shows_them():
    page = f"{GRIPPER}\nOpen the lid of the printer\nPress both of its keys"
    text = f"{GRIPPER}\n  a. Open the lid of the printer\n  ii. Press both of its keys"
    assert missing(match(text, page)) == []
    shown = page.replace("Open", "a. Open").replace("Press", "ii. Press")
    assert missing(match(text.replace("a.", "c.").replace("ii.", "xv."), shown)) == ["c", "xv"]


def test_the_circle_before_a_chunk_is_no_text_whatever_the_page_has_in_the_line_above():
    page = f"Gripper.open()\n{GRIPPER}"
    assert missing(match(f"o {GRIPPER}", page)) == []
    assert missing(match(f"o {GRIPPER}", page.replace("The gripper", "a. The gripper"))) == ["o"]


def test_a_circle_is_no_text_although_the_page_has_its_letter_and_its_item_elsewhere():
    page = f"{GRIPPER}\nprintRoutes\nprintPlugins\naddContentTypeParser\n{CAMERA}\nUsed to printRoutes, printPlugins"
    text = f"{GRIPPER}\n  o printRoutes\n    printPlugins\n  o addContentTypeParser"
    assert missing(match(text, page)) == []
    assert missing(match(text.replace("Plugins", "Quizzes"), page)) != []


def test_a_name_is_text_although_the_address_behind_it_begins_alike():
    said = "Create it and set a child logger or using the {} key.\nThe tray is empty and it stays so"
    page = f"{GRIPPER}\noptions.level (quiz)\n{said.format('options.level')}"
    text = f"{GRIPPER}\n{said.format('[`options.level`](#optionslevel-quiz)')}"
    assert missing(match(text, page)) == []


def test_an_address_in_the_words_of_another_passage_is_no_text_where_the_page_goes_on_behind_what_it_links():
    page = f"{GRIPPER}\nRead more on this below for an example\nThe tray\nDrive belts for the arm"
    for this in ("this", "[this](#quiz-zoo)"):
        text = f"{GRIPPER}\nRead more on {this} [below](#drive-belts) for an example"
        assert missing(match(text, page)) == []
        assert missing(match(text.replace("below", "above"), page)) != []


def test_a_part_that_was_put_into_an_address_is_missing_although_the_page_has_the_word_elsewhere():
    page = f"{GRIPPER}\nIt is described at https://example.org/arms/gripper\nMotor\nThe tray"
    text = page.replace("arms/gripper", "arms/motor/gripper")
    assert missing(match(text, page)) == ["motor"]
