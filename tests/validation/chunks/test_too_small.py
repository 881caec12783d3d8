from __future__ import annotations

import pytest

from tests.validation.rows import detected, evidence_of, named, rows, texts

ENOUGH = "The gripper closes until the motor draws more than two amperes."


def small(found, **settings):
    return named(detected("chunk.too_small", evidence_of(found, **settings)))


@pytest.mark.parametrize("text", ["See above.", "Gripper", "...", "A gripper is a hand.", ""])
def test_less_than_a_sentence_is_too_small(text):
    assert small(texts(text, ENOUGH)) == ["0"]


def test_the_lines_of_its_own_headings_do_not_count():
    heading = "Everything that you ever wanted to know about grippers"
    found = rows(
        {"text": f"# {heading}\n## Closing\nIt closes.", "headings": [heading, "Closing"]},
        {"text": f"{heading}\nClosing\n{ENOUGH}", "headings": [heading, "Closing"]},
        {"text": f"{heading} in practice", "headings": [heading]},
    )
    assert small(found) == ["0"]


def test_a_sentence_of_a_script_without_blanks_is_not_too_small():
    assert small(texts("机器人手爪在电机电流超过两安培之前一直闭合。")) == []


def test_an_empty_required_text_is_named_as_empty_only():
    assert small(rows({"text": " "}), required=["text"]) == []
    assert small(rows({})) == []
    assert small(texts("See above."), required=["text"]) == ["0"]
