from __future__ import annotations

import pytest

from ragval_pipeline.validation.facts.damage import stray_characters
from tests.validation.rows import detected, evidence_of, rows, texts


@pytest.mark.parametrize("char", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\x00", "\x0b", "\x1b", "\x7f", "\U000e0041"])
def test_characters_that_have_no_business_in_any_text_are_named(char):
    assert stray_characters(f"Install{char}ation") == {f"U+{ord(char):04X}": 1}


@pytest.mark.parametrize(
    "text",
    [
        "tabs\tand\r\nline breaks",
        "می\u200cخواهم",  # Persian
        "\u0633\u0631\u0648 \u0648 \u200cXMPP",  # behind a blank
        "क्\u200dष",  # Hindi
        "👩\u200d👩\u200d👧 and ❤\ufe0f\u200d🔥",
        "שלום\u200f (1)",
        "မြန်မာ\u200bစာ",  # Burmese divides words so
        "\u1787\u17be\u179f\u200b \u1798\u17be\u179b\u200b\u200b (\u200b\u1785\u17bb\u1785)",  # Khmer
        "ᠬᠠᠮᠢᠭ\u180eᠠ",
        "flag 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    ],
)
def test_characters_that_a_script_asks_for_are_not(text):
    assert not stray_characters(text)


@pytest.mark.parametrize(
    "text", ["robot\u200darm", "robot\u200carm", "left \u200fto right", "日本\u200b語", "ภาษา\u200bไทย"]
)
def test_the_same_characters_elsewhere_are(text):
    assert sum(stray_characters(text).values()) == 1


def test_c1_controls_are_left_to_the_wrong_character_set():
    assert not stray_characters("don\x92t")


def test_a_point_is_named_with_its_characters_and_where_they_stand():
    found = texts("clean", "Over\u200bview", "clean as well", headings=["Overview\u200b", "Part\u200b"])
    [finding] = detected("text.zero_width", evidence_of(found))
    assert [subject.name for subject in finding.subjects] == ["0", "1", "2"]
    assert finding.subjects[1].details["characters"] == {"U+200B": 3}
    assert finding.subjects[1].details["places"] == ["text", "headings"]
    assert finding.details["characters"] == {"U+200B": 7}
    assert all(0 < subject.extent < 0.5 for subject in finding.subjects)


def test_an_empty_required_text_is_named_as_empty_only():
    blank = rows({"text": "\u200b \u200b"})
    assert detected("text.zero_width", evidence_of(blank, required=["text"])) == []
    assert detected("text.zero_width", evidence_of(blank))[0].count == 1
    assert detected("text.zero_width", evidence_of(texts("Over\u200bview"), required=["text"]))[0].count == 1


def test_half_a_letter_in_the_wrong_character_set_is_no_soft_hyphen():
    assert not stray_characters("perejil y rúcula, o también raíz".encode().decode("latin-1"))
    assert not stray_characters("盆栽の子".encode().decode("latin-1"))
    assert stray_characters("ra\u00adíz") == {"U+00AD": 1}
    assert stray_characters("dé\u00advelopper") == {"U+00AD": 1}


def test_marks_of_direction_belong_on_a_page_that_has_text_from_right_to_left():
    assert not stray_characters("Help\u200f » Network", "עזרה » Network")
    assert stray_characters("Help\u200f » Network", "Help » Network") == {"U+200F": 1}
    assert stray_characters("Help\u200b » Network", "עזרה » Network") == {"U+200B": 1}
