from __future__ import annotations

import pytest

from ragval_pipeline.reporting.text import one_line, shorten, visible, xml_text
from tests.reporting.factory import HOSTILE


@pytest.mark.parametrize("text", HOSTILE)
def test_one_line_holds_neither_controls_nor_direction_overrides_and_can_be_encoded(text):
    line = one_line(text)
    line.encode()
    assert all(character.isprintable() or character == "\ufffe" for character in line)


def test_visible_keeps_line_breaks_and_shows_where_a_control_character_was():
    assert visible("a\nb\x1bc") == "a\nb\ufffdc"


def test_xml_text_replaces_what_xml_cannot_hold_even_escaped():
    assert xml_text("a\x00b\ufffe\ud800\tc") == "a\ufffdb\ufffd\ufffd\tc"


def test_shorten_says_that_there_was_more_and_never_exceeds_the_length():
    assert shorten("one two  three", 9) == "one two…"
    assert shorten("one two  three", 11) == "one two…"
    assert shorten(f"see {'x' * 50}", 30) == f"see {'x' * 25}…"
    assert shorten("one two  three", 13) == "one two three"
