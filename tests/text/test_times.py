from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ragval_pipeline.text.times import as_time, parse_time, utc_text

DAY = datetime(2026, 1, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-31", DAY),
        ("20260131", DAY),
        ("2026-01-31T00:00:00Z", DAY),
        ("2026-01-31t00:00:00z", DAY),
        (" 2026-01-31 00:00:00+00:00 ", DAY),
        ("2026-01-31T02:00:00+02:00", DAY),
        ("2026-01-31 00:00:00 UTC", DAY),
        ("2026-01-31T00:00:00.123456789Z", DAY + timedelta(microseconds=123456)),
        ("Sat, 31 Jan 2026 00:00:00 GMT", DAY),
        ("1769817600", DAY),
        ("1769817600.5", DAY + timedelta(seconds=0.5)),
        ("1769817600000", DAY),
        ("1769817600000000", DAY),
        ("1769817600000000000", DAY),
    ],
)
def test_times_are_read_in_the_notations_that_payloads_hold(text: str, moment: datetime) -> None:
    assert parse_time(text) == moment


NO_TIMES = [
    None,
    "",
    "  ",
    "now",
    "0",
    "17",
    "-1",
    "1e400",
    "nan",
    "inf",
    "None",
    "2026-13-01",
    "31.01.2026",
    "9" * 500,
]


@pytest.mark.parametrize("text", NO_TIMES)
def test_a_value_that_is_not_a_time_is_none(text: str | None) -> None:
    assert parse_time(text) is None


def test_times_are_written_in_utc_with_milliseconds_and_z() -> None:
    moment = datetime(2026, 1, 31, 2, 0, 0, 5999, tzinfo=timezone(timedelta(hours=2)))
    assert utc_text(moment) == "2026-01-31T00:00:00.005Z"
    assert parse_time(utc_text(DAY)) == DAY


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (1766822400, "2025-12-27T08:00:00.000Z"),
        ("1766822400.0", "2025-12-27T08:00:00.000Z"),
        ("2025-12-27 08:00", "2025-12-27 08:00"),
        ("soon", "soon"),
        (7, None),
        (True, None),
        (None, None),
    ],
)
def test_stored_numbers_are_shown_as_times_and_texts_as_they_are(stored: object, shown: str | None) -> None:
    assert as_time(stored) == shown
