from __future__ import annotations

import re

import pytest

from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, compared, paragraphs

CONTENT = f"<h1>Using the arm</h1><p>{GRIPPER}</p><h2>Camera care</h2><p>{CAMERA}</p><p>{BATTERY}</p>"
WHOLE = f"Using the arm\n{GRIPPER}\nCamera care\n{CAMERA}\n{BATTERY}"


def glued(*chunks: str, content: str = CONTENT) -> list[list[str]]:
    return [list(chunk.joins) for chunk in compared(content, *chunks).differing if chunk.joins]


COMPOUNDS = f"Use the file name as filename in the armThe module. {GRIPPER}"
UNSPACED = "机器人手臂会停下来\n直到电机电流超过两安培\n然后夹爪保持零件不再加力"
CELLS = f"<table><tr><td>Closing force</td><td>Motor current</td></tr></table><p>{GRIPPER}</p>"
OPEN = GRIPPER.rstrip(".")


@pytest.mark.parametrize(
    ("text", "content", "joins"),
    [
        (WHOLE.replace("arm\nThe", "armThe"), CONTENT, ["armThe"]),
        (
            WHOLE.replace("\nCamera care\n", " Camera care").replace("arm\nThe", "armThe"),
            CONTENT, ["armThe", "careCalibrate"],
        ),
        # The page breaks a line, or has more than a blank between the words.
        (f"Closing forceMotor current\n{GRIPPER}", CELLS, ["forceMotor"]),
        (f"{OPEN}{CAMERA}", paragraphs(OPEN, "Press the red button", CAMERA), ["harderCalibrate"]),
        (f"{OPEN}{CAMERA}", paragraphs(OPEN, "Chargers hum at night", CAMERA), ["harderCalibrate"]),
        # A script without blanks: only a block of the page is known to begin a line.
        (UNSPACED.replace("\n", ""), f"<p>{UNSPACED}</p>", []),
        (
            UNSPACED.replace("\n", ""), paragraphs(*UNSPACED.split("\n")),
            ["手臂会停下来直到电机电流", "流超过两安培然后夹爪保持"],
        ),
        # A compound of the page, and a word that begins as two of the page do.
        (COMPOUNDS, f"<p>{COMPOUNDS}</p>", []),
        (f"Part one is a handoffice. {GRIPPER}", paragraphs(f"Part one is a hand offer. {GRIPPER}"), []),
    ],
)  # fmt: skip
def test_words_that_the_page_has_apart_are_named_where_the_chunk_joins_them(text: str, content: str, joins: list[str]):
    assert glued(text, content=content) == ([joins] if joins else [])


NAMES = "Set max_input_tokens and embed_batch_size before you call client.embed(texts) on os.path in C:\\docs."


@pytest.mark.parametrize(
    ("removed", "joins"),
    [
        ("[_*`]", ["maxinputtokens", "embedbatchsize"]),
        (r"[^\w\s]|_", ["maxinputtokens", "embedbatchsize", "clientembedtexts", "ospath"]),
        (r"[.]", []),  # a few could be how it was written
        (r"[`\\]", []),
    ],
)
def test_names_that_lost_the_marks_within_them_are_joined(removed: str, joins: list[str]):
    content = f"<p>{GRIPPER}</p><p>{NAMES}</p>"
    found = glued(f"{GRIPPER}\n{re.sub(removed, '', NAMES)}", content=content)
    assert found == ([joins] if joins else [])
    assert glued(f"{GRIPPER}\n{NAMES.replace('_', chr(92) + '_')}", content=content) == []


PDF = "The configuration of an efficient offline well-known ﬁlter specifies what is different in telecommunication."
LIGATURES = {
    "configuration": "con fi guration",
    "efficient": "e ffi cient",
    "offline": "off line",
    "specifies": "specifi es",
}


@pytest.mark.parametrize(
    ("words", "divided"),
    [
        (LIGATURES, list(LIGATURES.values())),
        (
            {"different": "dif-\nferent", "telecommunication": "telecom-\n  munication"},
            ["dif- ferent", "telecom- munication"],
        ),
        # How elements of a page are joined is no division, nor is a hyphen of the page's own at the end of a line.
        ({"different": "differ ent", "telecommunication": "tele communication", "well-known": "well-\nknown"}, []),
    ],
)
def test_words_that_a_pdf_divides_are_named(words: dict[str, str], divided: list[str]):
    text = PDF
    for whole, torn in words.items():
        text = text.replace(whole, torn)
    found = glued(f"{GRIPPER}\n{text}", content=f"<p>{GRIPPER}</p><p>{PDF}</p>")
    assert found == ([divided] if divided else [])


def test_words_that_are_divided_at_the_page_s_soft_hyphens_are_named():
    soft = PDF.replace("telecommunication", "tele&shy;communi&shy;cation")
    for blank, divided in ((" ", ["tele communi cation"]), ("\u00ad", []), ("", [])):
        text = PDF.replace("telecommunication", blank.join(("tele", "communi", "cation")))
        found = glued(f"{GRIPPER}\n{text}", content=f"<p>{GRIPPER}</p><p>{soft}</p>")
        assert found == ([divided] if divided else []), blank


def test_only_the_chunk_with_the_join_is_named():
    page = compared(CONTENT, f"Using the arm{GRIPPER}", f"Camera care\n{CAMERA}", BATTERY)
    assert [chunk.point_id for chunk in page.differing] == ["0"]


def test_breaks_that_are_kept_as_other_blanks_or_marks_are_no_joins():
    for break_ in (" ", "\t", "\u00a0", " | ", "\n\n## "):
        assert glued(WHOLE.replace("\n", break_)) == []


def test_the_kind_of_an_admonition_is_no_join_where_the_page_shows_it_as_a_title():
    content = f"<h1>Using the arm</h1><p>{GRIPPER}</p><p>See also</p><p>{CAMERA}</p>"
    for kind in (":::{seealso}", ".. seealso::"):
        assert glued(f"# Using the arm\n\n{GRIPPER}\n\n{kind}\n{CAMERA}", content=content) == []
    assert glued(f"# Using the arm\n\n{GRIPPER}\n\nseealso\n{CAMERA}", content=content) == [["seealso"]]


def test_one_sentence_that_runs_into_the_next_is_a_join():
    assert glued(WHOLE.replace("table.\nCharge", "table.Charge")) == [["table.Charge"]]


def test_other_joins_behind_punctuation_count_from_three_on():
    assert glued(f"By J.Smith. {GRIPPER}", content=paragraphs(f"By J. Smith. {GRIPPER}")) == []
    calls = [f"Call move(arm, {word}) to move it." for word in ("left", "right", "up")]
    content = paragraphs(GRIPPER, *calls)
    assert glued("\n".join([GRIPPER, *calls[:2]]).replace("arm, ", "arm,"), content=content) == []
    assert glued("\n".join([GRIPPER, *calls]).replace("arm, ", "arm,"), content=content) != []


@pytest.mark.parametrize("title", [None, "docs.example.com-arm-versionhistory.html"])
@pytest.mark.parametrize("place", ["https://docs.example.com/arm/versionhistory.html", "arm-versionhistory.html"])
def test_the_words_of_an_address_or_of_a_file_are_no_joins(place: str, title: str | None):
    content = f"<h1>Version history of the arm</h1><p>{GRIPPER}</p>"
    text = f"Title: {title}\nSource: {place}\nVersion history of the arm\n{GRIPPER}"
    assert [chunk.joins for chunk in compared(content, text, title=title).chunks] == [()]


def test_a_name_that_the_page_writes_in_one_word_elsewhere_is_no_join():
    content = paragraphs("The Machine Hub Client talks to every hall.", "Install machinehub_client first.", GRIPPER)
    text = "machinehub_client\nThe Machine Hub Client talks to every hall.\nInstall machinehub_client first."
    assert glued(text, content=content) == []
    assert glued(text.replace("every hall", "everyhall"), content=content) == [["everyhall."]]


def test_an_identifier_of_another_page_is_no_join_of_words_that_this_page_has_apart():
    elsewhere = "Visitors ask the CameraController and sign, then they wear helmets, yellow ones, behind a line."
    assert glued(elsewhere, content=f"{CONTENT}<p>Camera controller and sign of the hall</p>") == []
    assert compared(CONTENT, elsewhere).differing[0].found < 50


def test_a_heading_that_runs_into_its_paragraph_is_glued_in_a_script_without_spaces():
    heading, first, second = "安装步骤", "请先关闭机器人手臂的电源再安装夹爪", "安装完成后检查所有螺丝是否拧紧"
    content = f"<h2>{heading}</h2><p>{first},\n{second}</p><p>{second}</p>"
    assert glued(f"{heading}\n{first},{second}\n{second}", content=content) == []
    assert glued(f"{heading} {first},{second} {second}", content=content) == []
    assert glued(f"{heading}{first},{second}\n{second}", content=content) == [["安装步骤请先关闭机器"]]
