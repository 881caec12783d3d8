from __future__ import annotations

import random
import time

import pytest

from ragval_pipeline.text.grams import runs_of
from ragval_pipeline.validation.facts.align import Alignment, align
from ragval_pipeline.validation.facts.joins import joined_words
from ragval_pipeline.validation.facts.page import Page, Searched
from tests.validation.integrity.world import BATTERY, CAMERA, GRIPPER, VISITORS, record

PAGE = f"Using the arm\n{GRIPPER}\n{CAMERA}\n{BATTERY}"


def match(text: str, page: str = PAGE, **given: list[str]) -> Alignment:
    return align(text, Searched(page), **given)


def missing(found: Alignment) -> list[str]:
    return [found.text.between(*run) for run in runs_of(~found.found)]


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


ITEMS = ("Open the lid", "Wait", "Press both keys", "Wait", "Go on", "Take out the tray of the second printer")
LISTED = "How to print\n" + "\n".join(ITEMS)


@pytest.mark.parametrize("page", [LISTED, "How to print\n" + " ".join(ITEMS)])
@pytest.mark.parametrize("first", [1, 8, 97, 997])
@pytest.mark.parametrize("mark", [". ", ") ", ".   "])
@pytest.mark.parametrize("item", ["{}", "[{}](steps/{}.html)"])
def test_the_numbers_of_list_items_in_one_line_are_no_text(page: str, first: int, mark: str, item: str):
    items = [item.format(*[words, "x"][: item.count("{}")]) for words in ITEMS]
    text = " ".join(f"{number}{mark}{words}" for number, words in enumerate(items, first))
    found = match(text, page)
    assert missing(found) == []
    assert found.letters == sum(len(words.replace(" ", "")) for words in ITEMS)
    # A chunk may begin with an item without its number, and end with a number without its item.
    assert missing(match(f"{text.partition(mark)[2]} {first + len(ITEMS)}.", f"{page}\nPut it back")) == []


@pytest.mark.parametrize(
    "text",
    [
        f"{GRIPPER}\n7.",
        "7.",
        GRIPPER.replace("the motor", "the \u27e812\u27e9motor"),
        GRIPPER.replace("the motor", "the [12]motor"),
        f"   1. [12]{GRIPPER}",
        f"     o {GRIPPER}",
        GRIPPER.replace("until", "(BUTTON) until [3][4]"),
        f"{GRIPPER}[7]",
        f"{GRIPPER}\n\nReferences\n\n   Visible links:\n   1. https://example.com/a_b#c\n  12. file:///tmp/L1.html",
        "   9. mailto:arm@example.com\n",
        f"{GRIPPER}\n\nReferences",
    ],
)
def test_marks_of_items_and_links_and_the_addresses_below_a_page_are_no_text(text: str):
    assert missing(match(text)) == []


def test_a_number_in_brackets_is_text_where_the_page_shows_it_or_another_word_stands_behind_it():
    page = GRIPPER.replace("motor", "motor [12]")
    assert match(page, page).letters == match(GRIPPER).letters + 2
    short = f"A note [12]\n{GRIPPER}"
    assert (
        missing(match(f"A note[12].\n\n---\n\n{GRIPPER}", short.replace(" [12]", "12") + f"\n{CAMERA}\n{GRIPPER}"))
        == []
    )
    assert missing(match(GRIPPER.replace("motor", "[12]engine"))) == ["12]engine"]


def test_the_number_of_a_link_is_no_text_where_cells_were_read_in_another_order():
    assert (
        missing(match("Arm [3]holds the part\n[4]Gripper and its motor", "Arm\nGripper and its motor\nholds the part"))
        == []
    )


def test_the_number_of_a_link_is_no_text_between_characters_without_blanks():
    page = "\u30d7\u30ed\u30ad\u30b7\u3092\u4f7f\u3046\u30ab\u30fc\u30cd\u30eb\u306e\u8a2d\u5b9a"
    assert missing(match(f"{page[:5]}[7]{page[5:]}", page)) == []


@pytest.mark.parametrize(
    "text",
    [
        'The <a\n  href="https://example.com/arm" class="el"\n  title="An arm">gripper</a> closes until',
        'The [gripper](arm.html){rel="noopener"\n  target="_blank"} closes [until]{.pre}',
        "::: {#arm .section}\n## The gripper {.title #top}\n\ncloses until",
        "The gripper\n{: .label .label-green }\n\ncloses until",
        "::: {#<init>() .section}\nThe gripper\n\n:   ::: listing\n    closes until\n    :::\n",
        '<div id="<init>(int)" class="section">\n\nThe gripper closes until',
        'class="el"\n  title="An arm">The gripper</a> closes until<a href="#until" class="link',
        '::: {role="tabpanel"}\nThe gripper closes until',
        ".literal .pre} The gripper closes until[](#until){.link\n  .el",
    ],
)
def test_attributes_of_tags_and_of_markdown_are_no_text_wherever_they_are_wrapped_or_cut(text: str):
    assert missing(match(text if text[-1] in "lk" else f"{text} the motor draws")) == []


@pytest.mark.parametrize(
    "rest",
    [
        'class="el"\n  title="An arm">The gripper</a> closes until',
        'href="https://example.com/arm"' + " " * 400 + 'class="el">The gripper</a> closes until',
        '<td><a\nhref="https://example.com/arm"' + " " * 400 + 'class="el">The gripper</a></td> closes until',
        "docs/arm.html) The gripper closes until",
    ],
)
@pytest.mark.parametrize("added", ["About arms.\n", "Part 3:\n\n", "About arms.\nPart 3:\n\n"])
def test_what_is_put_before_a_chunk_makes_no_text_of_markup_that_was_cut(rest: str, added: str):
    found = match(f"{added}{rest} the motor draws")
    # Of what is put before nothing is taken for markup, else the ingestion would seem to leave chunks without it.
    assert "".join(missing(found)).replace("\n", "") == added.replace("\n", "").strip(".:")


def test_a_number_at_the_end_of_a_sentence_is_text():
    page = f"Steps\nIt opens with version 5. The lid stays closed in version 6. {GRIPPER}\nA limit\nIt is one"
    assert missing(match(page.split("\n")[1].replace("5.", "7."), page)) == ["7"]
    assert missing(match(f"{GRIPPER} A limit. It is 8.", page)) == ["8"]
    assert missing(match(f"{GRIPPER} A limit. It is 8", page)) == ["8"]


def test_a_changed_item_between_numbers_is_missing_with_nothing_else():
    text = " ".join(f"{number}. {words}" for number, words in enumerate(ITEMS, 1))
    assert missing(match(text.replace("second", "orange"), LISTED)) == ["orange"]


def test_a_table_read_by_columns_stands_there_whatever_parts_its_cells():
    rows = [("char *", "label", "Read"), ("GtkWidget *", "icon", "Read / Write"), ("gint", "x", "Write")]
    page = f"{GRIPPER}\n" + "\n".join("\t".join(row) for row in rows)
    for sign in ("; ", " ; ", " | ", "\t", " \u2022 "):
        assert missing(match("\n".join(sign.join(column) for column in zip(*rows, strict=True)), page)) == [], sign


def test_addresses_of_links_and_images_are_no_text():
    link = GRIPPER.replace("motor", "[motor](https://example.com/a_(b)/motor \"The 'drive'\")")
    assert missing(match(f"![A drawing](arm.png)\n{link}")) == []


def test_an_image_whose_first_sign_the_chunker_cut_off_is_no_text():
    assert missing(match(f"[A drawing](media/arm.svg) {GRIPPER}")) == []
    assert missing(match(f"[A drawing](media/arm.html) {GRIPPER}")) == ["A drawing"]


@pytest.mark.parametrize(
    "address", ["https://example.com/a?b=c", "/docs/motor.html#drive", "../motor/", "#drive", "motor.html#drive"]
)
def test_an_address_in_brackets_behind_what_it_links_is_no_text(address: str):
    linked = GRIPPER.replace("motor", f"motor [{address}]: the one")
    page = GRIPPER.replace("motor", "motor: the one")
    assert missing(match(linked, page)) == []
    assert missing(match(linked.replace("]: the", "]s: the"), page.replace("motor:", "motors:"))) == []
    assert missing(match(linked.replace("]: the", f"]<()[{address}]>: the"), page)) == [], "nothing stands between"
    assert missing(match(linked[: linked.index("]") + 1], page)) == [], "at the chunk's end"
    called = linked.replace("]: the one", "](the one)")
    assert missing(match(called, page.replace(": the one", "(the one)"))) == []
    assert missing(match(linked, linked)) == [], "unless the page shows it"
    assert missing(match(GRIPPER.replace("motor", "motor [banana]"))) == ["banana"]


@pytest.mark.parametrize("address", ["https://example.com/a?b=c", "/docs/motor.html#drive", "../motor/", "#drive"])
def test_an_address_in_brackets_that_the_chunk_cuts_is_no_text(address: str):
    page = GRIPPER.replace("motor", "motor: the one")
    assert (
        missing(match(page.replace("motor:", f"motor [{address}]:")[: page.index(":") + len(address) - 1], page)) == []
    )


@pytest.mark.parametrize("ends", [(0, None), (5, None), (0, -9), (7, -30)])
def test_a_piece_of_an_escaped_address_is_no_text_wherever_it_is_cut(ends: tuple[int, int | None]):
    piece = "%0Afn%20turn(arm%3A%20Arm)%20%7B%0A%20%20arm.turn(wide)%3B%20%2F%2F%20quiz)%7D&edition=7)"[slice(*ends)]
    assert missing(match(f"{GRIPPER} {piece}")) == []
    assert missing(match(piece)) == []
    assert missing(match(GRIPPER.replace("two", "100%25"))) != [], "one escape is a word like any other"


def test_of_two_readings_the_one_counts_of_which_the_page_lacks_fewer_letters_whatever_else_is_strange():
    linked = GRIPPER.replace("motor", "[motor drives](api.html#module-motor.drives.of.the.arm 'module motor drives')")
    page = f"{GRIPPER.replace('motor', 'motor drives')}\n{CAMERA}\nAbout the module: motor drives of the arm."
    strange = "Quick zoo, quiz and jumble: the waltz of a vexed fox. " * 4
    assert missing(match(linked, page)) == []
    assert "".join(missing(match(strange + linked, page))).strip().endswith("vexed fox")


def test_on_a_page_about_markdown_the_same_characters_are_text():
    page = "Write a link as [motor](https://example.com/motor) and nothing else, says the guide."
    assert missing(match(page, page)) == []


def test_tags_that_a_page_shows_as_code_are_text_beside_a_link_that_it_does_not_show():
    code = """from parser import Parser
html = "<div><p>hello </p><p id='main'>this is some text</p></div>"
parser = Parser(html)"""
    start = 'from parser import Parser\nhtml = "<h1 id=name>Hi there, this is it</h1>"'
    page = f"Getting started\n{start}\nMatching\n{code}\nMore examples"
    text = f"Matching\n```\n{code}\n```\n- [More examples](https://parser.readthedocs.io/en/latest/examples.html)"
    assert missing(match(text, page)) == []
    assert missing(match(text.replace("hello", "goodbye"), page)) == ["goodbye"]


@pytest.mark.parametrize(
    "text",
    [
        f"import Tabs from '@theme/Tabs';\nimport {{\n  Drawing,\n}} from '../drawings';\n\n{GRIPPER}",
        f"export const Badge = ({{children}}) => (\n  <span className='badge'>{{children}}</span>\n);\n\n{GRIPPER}",
        f'<Tabs groupId="arm">\n<TabItem value="left" label="Left arm" default>\n\n{GRIPPER}\n\n</TabItem>\n</Tabs>',
        f'# Using the arm\n\n<ChapterActionsBar chapterTitle="Calibration" />\n\n{GRIPPER}',
        f":::warning[Using the arm]\n\n{GRIPPER}\n\n:::",
        f'!!! quiz "Using the arm"\n    {GRIPPER}\n\n???+ quiz zoo\n    {CAMERA}',
        f'{CAMERA} !!! quiz "Using the arm" {GRIPPER}',
        f":::{{quiz}} Using the arm\n:class: zoo\n\n{GRIPPER}\n:::\n\n```{{toctree}}\nquiz/zoo\nyeti\n```\n\n{CAMERA}",
        f".. _quiz-zoo:\n\nUsing the arm\n====\n\n.. quiz:: zoo\n   :yeti: 3\n\n   {GRIPPER}\n\n.. quiz::\n   {CAMERA}",
        f".. toctree::\n   :maxdepth: 2\n\n   quiz\n   zoo/yeti\n\n{GRIPPER}\n\n.. |quiz| image:: zoo.png",
        f".. container:: quiz zoo yeti\n\n   {GRIPPER}\n\n.. rst-class:: zoo yeti\n\n{CAMERA}",
        GRIPPER.replace("motor", ":class:`~quiz.zoo.motor`").replace("until", "{term}`until`"),
        GRIPPER.replace("the motor", "`the motor <https://quiz.example/zoo>`_").replace("until", ":ref:`until <yeti>`"),
        f"// highlight-next-line\n{GRIPPER}\n# highlight-start\n{CAMERA}\n{{/* highlight-end */}}",
        f"```mermaid\ngraph LR\n  gripper -->|closes| motor\n```\n\n{GRIPPER}",
        f"{{/* Ask Ada for a drawing */}}\n{{% include warning.html %}}\n{{{{< figure src='arm.png' >}}}}\n{GRIPPER}",
        f"- [x] {GRIPPER[:-1]}[^drive].\n\n[^drive]: {CAMERA}",
        f"Press <kbd>Ctrl</kbd> now. {GRIPPER}",
        f"[![Build][badge]][builds] ![Licence][badge]\n{GRIPPER.replace('motor', '[motor][drives]')} &copy;",
        f"[![Build][5]][6][![Licence][7]][8]\n{GRIPPER}\n\n   [5]: badge.svg\n   [6]: builds.html",
        f"{GRIPPER}\n    [1]:\nhttps://zoo.example/quiz-of-\nwaltz.html\n       [2]: quiz.html#zoo-\nwaltz\n{CAMERA}",
        f"{GRIPPER} \u27e81\u27e9\n\n## References\n\n\u27e81\u27e9 ../quiz.html#zoo: A waltz",
        f"{GRIPPER} [1]\n\nReferences:\n\n[1] file:///zoo/quiz.html#zoo\n[2] ../waltz.html",
        f"html#sect.quiz\n   [3]: quiz.html#zoo\n   [4]: zoo.html\n\n{GRIPPER}",
        f"> Note:\n> ```bash\n> {GRIPPER}\n> ```\n\n1. ```text\n   {CAMERA}\n   ```",
        f'{CAMERA} ```yaml title="Note:" showLineNumbers {{2}} {GRIPPER} ``` {{/* Ask Ada for a dra',
        f"Ada for a drawing */}} ## Using the arm ## Note: {GRIPPER} {{/* seen */}} {CAMERA} ```py showLineNumbers=3",
    ],
)
def test_what_a_source_file_runs_draws_or_marks_is_no_difference(text: str):
    assert missing(match(text, f"{PAGE}\nPress Ctrl now.\nNote:")) == []


def test_an_import_whose_name_the_page_has_in_another_sense_is_no_text_and_one_that_it_shows_is():
    text = f"import DrivingMotor from './parts/driving/motor.md';\n\n{GRIPPER}"
    assert missing(match(text, f"The driving motor.\n{PAGE}")) == []
    shown = text.replace("DrivingMotor from", "Motor from")
    assert missing(match(shown, f"{text}\n{PAGE}")) == []
    assert missing(match(text.replace("DrivingMotor", "Quiz"), f"{text}\n{PAGE}")) == ["Quiz"]


def test_code_that_exports_and_is_shown_is_text_whatever_the_page_shows_between_its_lines():
    code = "export default {\n  arm: 'left',\n  motor: 'quick',\n  gripper: ['wide', 'narrow'],\n}"
    page = f"{GRIPPER}\n{code.replace('motor', 'Copy motor')}\n{CAMERA}"
    assert missing(match(f"{GRIPPER}\n\n```js\n{code}\n```\n\n{CAMERA}", page)) == []
    assert missing(match(f"{GRIPPER}\n\n```js\n{code.replace('wide', 'zoo')}\n```", page)) == ["zoo"]


@pytest.mark.parametrize("after", ["```", "## More of it"])
def test_an_exported_statement_ends_where_its_code_does_or_a_heading_begins(after: str):
    """A splitter that leaves out blank lines made the whole chunk a part of the statement, and none of it text."""
    links = "\n".join(f"Read [the {name} part](https://example.org/{name}/quiz) first." for name in ("left", "right"))
    page = f"export default zoo\n{PAGE}\n" + "\n".join(f"Read the {name} part first." for name in ("left", "right"))
    text = GRIPPER.replace("motor", "quiz")
    assert "quiz" in missing(match(f"export default yeti(zoo, {{a: 1}})\n{after}\n{links}\n{text}", page))


@pytest.mark.parametrize(
    "text",
    [
        f"{GRIPPER}\n<!-- [[[quiz zoo\nyeti",
        f"(quiz-zoo)=\n\n{GRIPPER}",
        f"{GRIPPER} # doctest: +SKIP, -ELLIPSIS\n{CAMERA}",
        GRIPPER.replace("the motor", "`#!yeti the motor`"),
        f'{GRIPPER}\n\n--8<-- "quiz/zoo.md"',
    ],
)
def test_cut_comments_targets_flags_of_examples_languages_in_lines_and_snippets_are_no_text(text: str):
    assert missing(match(text)) == []
    assert missing(match(text.replace("motor", "yeti"))) == ["yeti"]


def test_what_a_page_has_often_is_held_where_the_text_around_it_stands():
    often = "app.Get('/', func(c *Ctx) error"
    page = "\n".join(f"{often} {{ return number{at} }}" for at in range(40))
    page = f"{page}\nfunc Context() context.Context\nExample\n{often} {{ ctx := c.UserContext() }}\n{CAMERA}"
    found = match(f"ontext\n{often} {{ ctx := c.UserContext() }}", page)
    assert missing(found) == []
    assert [span.kind for span in found.spans] == ["words", "run"]


def test_directives_and_roles_that_a_page_shows_are_text():
    page = f"Write .. note:: and :ref:`arm` so:\n.. note::\n   :class: tip\n   {GRIPPER}"
    found = match(page, page)
    assert missing(found) == []
    assert found.letters == len("writenoteandrefarmsonoteclasstip") + match(GRIPPER).letters


def test_code_of_nothing_but_tags_that_a_page_shows_is_held_by_the_chunk_that_shows_them():
    code = "<Session>\n  <Dir myroot>\n    <Module test_first.py>\n      <Function test_it>"
    page = f"{GRIPPER}\n{code}"
    for text in (page, page.replace("motor", "[motor](motor.html)")):
        assert [span.length for span in match(text, page).spans][-1] > len("SessionDirmyroot")


def test_the_address_of_a_link_is_no_text_although_the_page_has_its_words_elsewhere():
    page = "The processor formatter for files is fast.\nUse it with other renderers as well (see below for an example)."
    text = "Use it with other renderers as well (see [below](#processor-formatter) for an example)."
    assert match(text, page).whole
    # Where the page shows the same as code, it is text.
    assert match(text, f"{page}\n{text}").spans[0].length == sum(map(str.isalnum, text))


def test_an_index_into_a_list_that_the_page_shows_is_text_beside_a_link_by_reference():
    page = f"Take cells[row][column] and nothing else. {GRIPPER}"
    assert missing(match(page.replace("motor", "[motor][drives]"), page)) == []
    assert missing(match(page.replace("[column]", "[banana]"), page)) == ["banana"]


def test_the_markup_of_a_file_whose_line_breaks_became_blanks_is_no_difference():
    text = f"""---
sidebar_position: 1
title: Using the arm
---

:::tip

{GRIPPER}

:::

```mermaid
graph LR
  gripper -->|closes| motor
```

```python title="camera.py"
{CAMERA}
```

[manual]: https://example.com/manual
{BATTERY}"""
    page = f"{GRIPPER}\ncamera.py\n{CAMERA}\n{BATTERY}"
    assert missing(match(" ".join(text.split()), page)) == []
    assert missing(match(" ".join(text.replace("cabinet", "wardrobe").split()), page)) == ["wardrobe"]


def test_what_stands_between_two_rules_is_text():
    assert missing(match(f"---\n\n**Note**: {GRIPPER.replace('motor', 'banana')}\n\n---\n\n{CAMERA}")) != []


@pytest.mark.parametrize(
    "text",
    [
        f"Badge>{GRIPPER}</Badge>",
        f'="left" label="Left arm" default>\n{GRIPPER}',
        f'`python title="arm/gripper_drive.py"\n{GRIPPER}',
        f"---\r\nsidebar_position: 4\r\n---\r\n\r\n{GRIPPER}",
        f"export const Badge = ({{children}}) => (\r\n  <b>{{children}}</b>\r\n);\r\n\r\n{GRIPPER}",
    ],
)
def test_neither_a_cut_nor_the_line_ends_of_windows_make_markup_text(text: str):
    assert missing(match(text)) == []


def test_words_that_a_chunker_cut_are_found_beside_what_the_page_has_between():
    page = f"{GRIPPER} Read the manual.\nmanual.txt\n{CAMERA} Ask Ada.\nada.txt\n{BATTERY}"
    assert missing(match(f"ual.\n{CAMERA} Ask A", page)) == []
    assert missing(match(f"oil.\n{CAMERA} Ask Bo", page)) == ["oil", "Bo"]


def test_an_import_that_a_page_shows_as_code_is_text_and_so_is_what_changed_in_it():
    code = (
        "import {readFile, writeFile} from 'node:fs/promises';\n\nexport default function open(door) {\n"
        "  return readFile('doors.json').then((doors) => doors[door].open());\n}"
    )
    page = f"Opening doors\n{code}\nDoors open."
    assert missing(match(f"[Doors](doors.md) {code}", page)) == []
    assert missing(match(code.replace("doors.json", "windows.yaml"), page)) == ["windows.yaml"]


@pytest.mark.parametrize(
    "address",
    [
        "https://example.com/issues/537, 821, 822",
        "https://example.com/how-\nto/it.html",
        "how-\nto/it.html#motor",
        "motor.en.html#how it turns",
        "arm/my motor (how it turns).html",
        "<how it turns.html>",
        'it.html#motor "Link to\nthis heading"',
    ],
)
def test_blanks_and_line_breaks_in_the_address_of_a_link_do_not_make_it_text(address: str):
    assert missing(match(GRIPPER.replace("motor", f"[motor]({address})"))) == []


def test_a_link_that_the_chunker_cut_in_two_is_no_difference():
    assert missing(match(f"amples/motor.html) {GRIPPER}")) == []
    assert missing(match(f"parts-list) {GRIPPER}")) == []
    assert missing(match(f"{GRIPPER} [Calibrate the camera](https://example.com/cal")) == []
    assert missing(match(f"{GRIPPER} [Calibrate the camera](cameras.html#how they are cali")) == []


@pytest.mark.parametrize(
    "address", ["org/wiki/Motor_(Arm)", r"org/wiki/Motor_\(Arm\)", "org/wiki/Motor_(Arm)/(Two).html"]
)
def test_a_link_whose_address_has_brackets_may_be_cut_anywhere(address: str):
    link = f"[motor](https://en.example.{address})"
    for cut in range(1, len(link)):
        assert missing(match(f"{GRIPPER} {link[:cut]}", f"{GRIPPER} motor\n{CAMERA}")) == [], link[:cut]
        assert missing(match(f"{link[cut:]}\n{CAMERA}", f"{GRIPPER} motor\n{CAMERA}")) == [], link[cut:]


def test_what_stands_behind_brackets_in_brackets_is_text_unless_it_is_an_address():
    page = f"{GRIPPER}\nhandlers[motor](arm.part, closes)\n[motor](see the guide)\n{CAMERA}"
    assert missing(match(page.replace("arm.part", "arm.whole"), page)) == ["whole"]
    assert missing(match(page.replace("guide", "manual"), page)) == ["manual"]
    assert missing(match(f"close(motor) {CAMERA}", CAMERA)) == ["close(motor"]


def test_a_line_that_repeats_a_stored_heading_or_address_is_no_difference():
    text = f"Handbook > Closing force\nhttps://docs.example.com/a\n{GRIPPER}"
    assert "".join(missing(match(text))).startswith("Handbook > Closing force\nhttps://docs")
    assert missing(match(text, labels=["Handbook", "Closing force"], address=["https://docs.example.com/a"])) == []


def test_an_address_excuses_no_word_of_a_sentence():
    changed = GRIPPER.replace("motor", "battery")
    assert missing(match(changed, address=["https://docs.example.com/battery"])) == ["battery"]


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


CARDS = """<Cards
  items={[
    {
      title: 'Gripper',
      description:
        'The gripper closes.',
      href: '/zoo/quiz',
    },
    { title: `Battery`, href: "/zoo/yeti" },
    { href: "/zoo/yeti/quiz/zoo/yeti/quiz/zoo/yeti/quiz/zoo/yeti" },
    { href: "/zoo/quiz/yeti/zoo/quiz/yeti/zoo/quiz/yeti/zoo/quiz" },
  ]}
  columns={2}
/>"""


@pytest.mark.parametrize(
    "text",
    [
        f"{CARDS}\n\n{GRIPPER}",
        f"{GRIPPER}\n\n{CARDS[:-40]}",
        f"{CARDS[60:]}\n\n{GRIPPER}",
        f'<Exercise id="zoo-1" starter={{`quiz(yeti): "<zoo>"  # {{yeti}}\n`}} hints={{[\n  "zoo"\n]}}/>\n{GRIPPER}',
        f"k size={{18}} /> | <Check size={{18}} /> |\n\n{GRIPPER}",
    ],
)
def test_code_in_the_tag_of_a_component_is_no_difference(text: str):
    assert missing(match(text, f"Gripper\nThe gripper closes.\nBattery\n{PAGE}")) == []
    assert missing(match(text.replace("motor", "yeti"), f"Gripper\nThe gripper closes.\nBattery\n{PAGE}")) == ["yeti"]


def test_texts_in_the_tag_of_a_component_that_the_page_shows_count_as_found():
    found = match(f"{CARDS}\n\n{GRIPPER}", f"Gripper\nThe gripper closes.\nBattery\n{PAGE}")
    assert "thegrippercloses" in found.text.letters
    assert "description" not in found.text.letters


@pytest.mark.parametrize("cut", [0, 60])
def test_a_component_that_the_page_shows_as_an_example_is_text_and_so_is_what_changed_in_it(cut: int):
    page = f"{GRIPPER}\n{CARDS}\n{CAMERA}"
    assert missing(match(f"{CARDS[cut:]}\n{CAMERA}", page)) == []
    assert missing(match(f"{CARDS[cut:].replace('yeti', 'walrus', 1)}\n{CAMERA}", page)) == ["walrus"]
