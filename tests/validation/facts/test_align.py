from __future__ import annotations

import random
import time

import pytest

from ragval_pipeline.text.grams import runs_of
from ragval_pipeline.validation.facts.align import Alignment, align
from ragval_pipeline.validation.facts.joins import joined_words
from ragval_pipeline.validation.facts.page import Page, Searched
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, VISITORS, record
from tests.validation.facts.aligned import match, missing


@pytest.mark.parametrize(
    "text",
    [
        GRIPPER,
        GRIPPER.upper(),
        "  ".join(GRIPPER.split()),
        GRIPPER.replace(" ", "\u00a0").replace("-", "\u2011"),
        f"## Using the arm\n\n**{GRIPPER[:40]}**{GRIPPER[40:]}",
        f"Using the arm\n> {GRIPPER}\n\n---\n1. {CAMERA}",
        GRIPPER[5:70],
        f"{BATTERY}\n{GRIPPER}",
    ],
)
def test_a_text_that_differs_in_blanks_case_marks_and_order_stands_there_whole(text: str):
    assert missing(match(text)) == []


def test_replaced_words_are_missing_although_the_page_has_some_of_their_letters_elsewhere():
    shared = "Decorators with reference types will be shared amongst all requests."
    after = " See the notes on shapes of objects for the reasons, and declare every property in advance."
    now = shared.replace("be shared amongst all requests", "throw an error at the startup of the server")
    found = align(shared + after, Searched(f"{now}{after}\n{CAMERA}\nHooks run for tall requests too."))
    assert [found.text.between(*run) for run in runs_of(~found.found)] == ["be shared amongst all requests"]


def test_a_moved_line_is_found_where_it_stands():
    moved = "Never lift the arm alone"
    page = f"{GRIPPER}\n{CAMERA}\n{BATTERY}\n{moved}"
    assert missing(match(f"{GRIPPER}\n{moved}\n{CAMERA}", page)) == []


def test_a_changed_word_is_missing_and_nothing_else():
    found = match(GRIPPER.replace("motor", "banana"))
    assert missing(found) == ["banana"]
    assert found.changed_words == 1
    assert found.share == pytest.approx(1 - 6 / found.letters)


def test_a_text_that_stands_nowhere_is_not_found():
    found = match(VISITORS)
    assert found.share < 0.1
    assert found.changed_words > 15


def test_words_left_out_of_the_middle_leave_both_ends_found():
    found = match(GRIPPER.replace("draws more than two amperes, ", ""))
    assert missing(found) == []


@pytest.mark.parametrize("swap", [("two", "six"), ("the part", "a part"), ("holds", "grabs")])
def test_small_words_in_the_place_of_others_are_seen(swap: tuple[str, str]):
    assert match(GRIPPER.replace(*swap)).changed_words == 1


def test_an_added_word_is_missing_and_counted_as_any_other():
    found = match(GRIPPER.replace("motor", "quick motor"))
    assert missing(found) == ["quick"]
    assert found.changed_words == 1


def test_no_letter_is_missing_without_a_word_that_differs():
    added = ("motor (1)", "motor of the arm", "mot0or", "motor. It is loud. It", "motor 5. and")
    for text in (*(GRIPPER.replace("motor", word) for word in added), f"{GRIPPER} Beware.", f"Beware. {GRIPPER}"):
        found = match(text)
        assert missing(found)
        assert found.changed_words > 0


def test_a_table_read_by_columns_stands_there_whatever_parts_its_cells():
    rows = [("char *", "label", "Read"), ("GtkWidget *", "icon", "Read / Write"), ("gint", "x", "Write")]
    page = f"{GRIPPER}\n" + "\n".join("\t".join(row) for row in rows)
    for sign in ("; ", " ; ", " | ", "\t", " \u2022 "):
        assert missing(match("\n".join(sign.join(column) for column in zip(*rows, strict=True)), page)) == [], sign


def test_what_a_page_has_often_is_held_where_the_text_around_it_stands():
    often = "app.Get('/', func(c *Ctx) error"
    page = "\n".join(f"{often} {{ return number{at} }}" for at in range(40))
    page = f"{page}\nfunc Context() context.Context\nExample\n{often} {{ ctx := c.UserContext() }}\n{CAMERA}"
    found = match(f"ontext\n{often} {{ ctx := c.UserContext() }}", page)
    assert missing(found) == []
    assert [span.kind for span in found.spans] == ["words", "run"]


def test_words_that_a_chunker_cut_are_found_beside_what_the_page_has_between():
    page = f"{GRIPPER} Read the manual.\nmanual.txt\n{CAMERA} Ask Ada.\nada.txt\n{BATTERY}"
    assert missing(match(f"ual.\n{CAMERA} Ask A", page)) == []
    assert missing(match(f"oil.\n{CAMERA} Ask Bo", page)) == ["oil", "Bo"]


def test_a_line_that_repeats_a_stored_heading_or_address_is_no_difference():
    text = f"Handbook > Closing force\nhttps://docs.example.com/a\n{GRIPPER}"
    assert "".join(missing(match(text))).startswith("Handbook > Closing force\nhttps://docs")
    assert missing(match(text, labels=["Handbook", "Closing force"], address=["https://docs.example.com/a"])) == []


def test_a_last_word_that_the_page_writes_together_with_the_one_before_is_found():
    page = f"{GRIPPER}\n{CAMERA}\nTags\nA\narm3\nImprint"
    assert missing(match(f"{GRIPPER}\nTags\nA\narm\n3", page)) == []
    assert missing(match(f"{GRIPPER}\nTags\nA\narm\n4", page)) == ["4"]


def test_table_cells_read_column_by_column_are_found():
    page = "Axis Range Speed\nbase 340 90\nwrist 720 180\nelbow 270 120"
    assert missing(match("Axis\nbase\nwrist\nelbow\nRange\n340\n720\n270\nSpeed\n90\n180\n120", page)) == []


def test_cells_that_were_drawn_with_lines_and_wrapped_are_found():
    page = "camera holder\tI:15\tdrawn in ink\nwrist\tI:7\tby hand"
    text = "|camera|I:|drawn |\n|holder|15|in ink|\n|wrist |I:7|by hand|".replace("|", "\u2502")
    assert missing(match(text, page)) == []


def test_the_numbers_of_lines_are_no_text_beside_code_that_the_page_has_in_another_cell():
    page = "1\n2\n3\n4\nif (page)\n  free (page);\n\npage = made;"
    text = "1  if (page)\n  2    free (page);\n  3  \n  4  page = made;"
    assert missing(match(text, page)) == []
    assert missing(match(text, page.replace("page = made", "5 page = made"))) == ["4"]


def test_words_of_other_scripts_are_compared_alike():
    page = "机器人手臂会停下来，直到电机电流超过两安培。然后夹爪保持零件，不再加力。"
    assert missing(match(page[5:30], page)) == []
    found = match(page.replace("电机电流", "苹果香蕉"), page)
    assert missing(found) == ["苹果香蕉"]
    assert found.changed_words == 4


def test_letters_misread_all_over_a_text_without_blanks_leave_the_runs_between_them_found():
    page = (
        "設定ファイルの値が正しくない場合はサーバーを再起動する前に管理者が記録を確認し必要に応じて権限を変更します"
        "手動で電源を切るとアームは最後の位置を保ち次に接続したときにその位置から計算を続けます"
    )
    misread = "".join("の" if number % 9 == 8 else letter for number, letter in enumerate(page))
    assert match(misread, page).share == pytest.approx(8 / 9, abs=0.03)
    other = (
        "画面の右上にある予約の一覧から配送先を選び倉庫の在庫と請求書の金額が一致しているかどうかを毎朝確かめてください"
    )
    assert match(other, page).share < 0.1


def test_a_text_without_letters_stands_everywhere():
    assert match("---\n***").share == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("sep", [" ", "\n", ""])
def test_the_cost_of_an_alignment_grows_with_the_length_of_the_text(sep: str):
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefghijklmnoprst", k=rng.randint(2, 9))) for _ in range(4000)]

    def seconds(count: int) -> float:
        shown = rng.choices(words, k=count)
        stored = [word if rng.random() < 0.9 else word[::-1] for word in shown]
        page = Searched(" ".join(shown))
        started = time.process_time()
        found = align(sep.join(stored), page)
        joined_words(found, page)
        assert 0.7 < found.share < 1
        return time.process_time() - started

    seconds(100)  # what is made once
    assert seconds(60_000) < 30 * max(seconds(6_000), 0.02)


def test_what_the_page_says_twice_is_found_where_the_chunk_goes_on() -> None:
    """Behind words that stand nowhere, so that places in the chunk and on the page are far from alike."""
    twice = "press the red button beside the door"
    begins, opening = (
        "The gripper closes when its motor draws two amperes",
        "Of this the chunk that follows has not a word. " * 2,
    )
    page = Searched(f"{opening}{begins} then {twice}. Between them stands some more of it and {twice}.")
    first, second = align(f"Words of nowhere xqz wvu tsr in front {begins} at once {twice}.", page).spans
    assert (first.place, second.place) == (page.letters.index("thegripper"), page.letters.index("pressthered"))


SEEN = f"<p>{GRIPPER} Press <img alt='view more'> in the corner, where <img alt='[a, b]'> stands for the fingers.</p>"


def picture(first: str, second: str) -> Alignment:
    text = f"{GRIPPER} Press {first} in the corner, where {second} stands for the fingers."
    return align(text, Page(record(SEEN)))


@pytest.mark.parametrize("heading", ["Arm", "Using the arm"])
def test_what_the_page_says_twice_before_the_chunk_goes_on_is_found_next_to_that(heading: str) -> None:
    page = f"{CAMERA}\n{heading}\n{heading}\n{GRIPPER}"
    found = match(f"{heading} \u00c2\u00b6 {GRIPPER}", page)
    assert missing(found) == ["\u00c2"]
    [begin, *_, end] = [span.place for span in found.spans]
    assert begin == end - len("".join(heading.split()))


def test_what_stands_for_a_picture_within_a_sentence_is_the_pages():
    assert missing(picture("[view more]", "![[a, b]](b.png)")) == []
    assert missing(picture("[view less]", "")) == ["view l"]


def test_rows_of_a_table_written_out_with_the_names_of_its_columns_are_the_pages():
    page = f"{GRIPPER}\nName\tUnit\tMost\nspeed\tturns\t90\ngrip\tnewtons\t7"
    rows = "Name: speed. Unit: turns. Most: 90\nName: grip, Unit: newtons, Most: 7"
    assert missing(match(f"{GRIPPER}\n{rows}", page)) == []
    assert missing(match(f"{GRIPPER}\n{rows}", page.replace("newtons", "ounces"))) == ["newtons"]


@pytest.mark.parametrize(("text", "page"), [
    (f"{GRIPPER}\nMod", f"{GRIPPER}\n{CAMERA}\nA mood\nModes\n{BATTERY}"),
    (f"odes\n{GRIPPER}", f"Scales and modes\n{CAMERA}\n{GRIPPER}\n{BATTERY}"),
])  # fmt: skip
def test_the_rest_of_a_line_that_a_chunker_cut_is_the_pages_wherever_that_line_stands(text: str, page: str):
    assert missing(match(text, page)) == []
    assert missing(match(text.replace("od", "oud"), page)) != []


def test_a_line_between_others_is_not_cut():
    page = f"{GRIPPER}\n{CAMERA}\nModes"
    assert missing(match(f"{GRIPPER}\nMod\n{CAMERA}", page)) == ["Mod"]
