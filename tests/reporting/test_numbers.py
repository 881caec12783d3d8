from __future__ import annotations

import pytest

from ragval_pipeline.reporting.numbers import show_gate, show_seconds, show_value
from ragval_pipeline.text.display import one_line, shorten, visible, xml_text
from tests.reporting.factory import HOSTILE, criterion


@pytest.mark.parametrize(
    ("name", "value", "threshold", "shown", "gate"),
    [
        ("coverage", 12 / 13, 1.0, "92.3 %", "≥ 100 %"),
        ("coverage", 1.0, 1.0, "100 %", "≥ 100 %"),
        ("query_pass_rate", 0.95, 0.9, "95 %", "≥ 90 %"),
        ("avg_similarity", 0.58764, 0.7, "0.588", "≥ 0.700"),
        ("ndcg_at_10", 1.0, None, "1.000", ""),
        ("latency_p95_ms", 3.41, 2000, "3.4 ms", "≤ 2,000 ms"),
        ("latency_p95_ms", 12345.6, 2000, "12,346 ms", "≤ 2,000 ms"),
        ("error_findings", 3.0, 0.0, "3", "≤ 0"),
        ("coverage", None, 1.0, "-", "≥ 100 %"),
    ],
)
def test_values_and_gates_are_shown_in_their_unit(name, value, threshold, shown, gate):
    result = criterion(name, value, threshold)
    assert (show_value(result), show_gate(result)) == (shown, gate)


@pytest.mark.parametrize(
    ("value", "threshold", "shown"),
    [
        (12999 / 13000, 1.0, "99.99 %"),
        (0.8999, 0.9, "89.99 %"),
        (0.00004, 1.0, "0.004 %"),
        (0.89999999, 0.9, "89.999999 %"),
        (0.1 + 0.2, 0.3, "30 %"),
    ],
)
def test_rounding_never_hides_a_missed_gate(value, threshold, shown):
    assert show_value(criterion("coverage", value, threshold)) == shown


def test_durations_grow_into_minutes():
    assert [show_seconds(0.04), show_seconds(59.94), show_seconds(59.96), show_seconds(192)] == [
        "0.0 s", "59.9 s", "1 min 0 s", "3 min 12 s",
    ]  # fmt: skip


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
