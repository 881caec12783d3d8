"""What markup of sources and extractors is no text of a chunk, and when a page shows it."""

from __future__ import annotations

import re

import pytest

from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER
from tests.validation.facts.aligned import PAGE, match, missing


def test_control_words_of_rtf_are_no_text_and_its_words_are_on_the_page():
    rtf = r"{\rtf1\ansi{\fonttbl{\f0\fnil Calibri;}}\viewkind4\pard\sa200\b\fs28\lang7 " + GRIPPER + r"\b0\par}"
    assert missing(match(rtf, GRIPPER)) == []


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


def test_the_addresses_of_a_list_of_files_are_no_text_although_two_of_its_names_side_by_side_have_their_letters():
    page = """backup.html: lang.html vfs.html
lang.html: keyword.html vfs.html
vfs.html: vfs.html opcode.html
opcode.html: keyword.html"""
    linked = re.sub(r"\S+\.html", lambda name: f"[{name[0]}]({name[0]})", page)
    assert missing(match(linked, page)) == []


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


def test_an_address_excuses_no_word_of_a_sentence():
    changed = GRIPPER.replace("motor", "battery")
    assert missing(match(changed, address=["https://docs.example.com/battery"])) == ["battery"]


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
