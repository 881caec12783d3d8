from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable

import pytest

from ragval_pipeline.sources.calls import (
    GIVE_UP,
    TRY_AGAIN,
    Attempts,
    Verdict,
    call_with_retries,
    delay_before,
    wait_hint,
)
from ragval_pipeline.sources.memory import seldom_collecting
from ragval_pipeline.suite.sections import RetrySettings


class Flaky:
    """Fails so many times, then returns its number of calls."""

    def __init__(self, failures: int, error: BaseException | None = None) -> None:
        self.failures, self.error, self.calls = failures, error or ConnectionError("no"), 0

    def __call__(self) -> int:
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return self.calls


def again(error: BaseException) -> Verdict:
    return TRY_AGAIN


def hinting(seconds: float | None) -> Callable[[BaseException], Verdict]:
    return lambda error: Verdict(retry=True, retry_after_s=seconds)


@pytest.mark.parametrize(("retries", "tries"), [(0, 1), (1, 2), (3, 4)])
def test_so_many_retries_follow_the_first_try(retries: int, tries: int) -> None:
    attempts, flaky = Attempts(), Flaky(99)
    with pytest.raises(ConnectionError, match="no") as caught:
        call_with_retries(
            flaky, policy=RetrySettings(max=retries), classify=again, attempts=attempts, sleep=lambda seconds: None
        )
    assert flaky.calls == attempts.tries == tries
    assert caught.value is flaky.error


def test_an_error_that_is_not_worth_a_retry_is_raised_at_once() -> None:
    flaky, waits = Flaky(99), []
    with pytest.raises(ConnectionError):
        call_with_retries(flaky, policy=RetrySettings(), classify=lambda error: GIVE_UP, sleep=waits.append)
    assert flaky.calls == 1
    assert waits == []


def test_delays_double_with_at_most_a_tenth_of_jitter() -> None:
    waits: list[float] = []
    with pytest.raises(ConnectionError):
        call_with_retries(Flaky(99), policy=RetrySettings(max=5, delay_s=0.5), classify=again, sleep=waits.append)
    assert len(waits) == 5
    for wait, least in zip(waits, [0.5, 1, 2, 4, 8], strict=True):
        assert least <= wait <= 1.1 * least


def test_jitter_differs_from_call_to_call_and_no_delay_grows_without_end() -> None:
    policy = RetrySettings(delay_s=1.0)
    assert len({delay_before(1, policy) for _ in range(20)}) > 1
    assert 60 <= delay_before(5000, policy) <= 66
    assert delay_before(3, RetrySettings(delay_s=0)) == 0


@pytest.mark.parametrize("hint", [0.0, 0.25, 17.0])
def test_the_servers_hint_replaces_the_delay(hint: float) -> None:
    waits: list[float] = []
    call_with_retries(Flaky(2), policy=RetrySettings(delay_s=5), classify=hinting(hint), sleep=waits.append)
    assert waits == [hint, hint]


@pytest.mark.parametrize("hint", [-1.0, math.nan, math.inf, None])
def test_a_hint_that_cannot_be_waited_for_leaves_the_delay(hint: float | None) -> None:
    waits: list[float] = []
    call_with_retries(Flaky(1), policy=RetrySettings(delay_s=1), classify=hinting(hint), sleep=waits.append)
    assert len(waits) == 1
    assert 1 <= waits[0] <= 1.1


def test_a_retry_that_would_start_after_the_deadline_is_not_waited_for() -> None:
    flaky, waits, attempts = Flaky(99), [], Attempts()
    with pytest.raises(ConnectionError):
        call_with_retries(
            flaky,
            policy=RetrySettings(max=9, delay_s=1, deadline_s=30),
            classify=hinting(31),
            sleep=waits.append,
            attempts=attempts,
        )
    assert (flaky.calls, waits, attempts.waited_s) == (1, [], 0.0)


def test_the_deadline_counts_from_the_first_try(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("tenacity.time.monotonic", lambda: clock[0])

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    flaky = Flaky(99)
    with pytest.raises(ConnectionError):
        call_with_retries(flaky, policy=RetrySettings(max=20, deadline_s=10), classify=hinting(3), sleep=sleep)
    assert flaky.calls == 4  # at 0, 3, 6 and 9 seconds


def test_attempts_add_up_over_calls() -> None:
    attempts = Attempts()
    for _ in range(2):
        call_with_retries(
            Flaky(1), policy=RetrySettings(), classify=again, attempts=attempts, sleep=lambda seconds: None
        )
    assert attempts.tries == 4


class Answer:
    """Refers to itself, as responses of httpx do."""

    def __init__(self) -> None:
        self.itself = self


def test_what_an_answer_was_read_from_is_gone_when_the_call_ends() -> None:
    read_from: list[weakref.ref[Answer]] = []
    with seldom_collecting():
        call_with_retries(lambda: read_from.append(weakref.ref(Answer())), policy=RetrySettings(), classify=again)
        assert read_from[0]() is None


def test_who_switched_the_collector_off_has_it_off() -> None:
    read_from: list[weakref.ref[Answer]] = []
    gc.disable()
    try:
        call_with_retries(lambda: read_from.append(weakref.ref(Answer())), policy=RetrySettings(), classify=again)
        assert read_from[0]() is not None
    finally:
        gc.enable()


NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": " 7 "}, 7.0),
        ({"Retry-After-Ms": "250", "Retry-After": "7"}, 0.25),
        ({"Retry-After": "Tue, 14 Nov 2023 22:13:30 GMT"}, 10.0),
        ({"X-RateLimit-Reset": "1700000004"}, 4.0),
        ({"Retry-After": "3", "X-RateLimit-Reset": "1700000004"}, 3.0),
        ({"Retry-After": "soon", "X-RateLimit-Reset": "1700000004"}, 4.0),
        ({"Retry-After": "Tue, 14 Nov 2023 22:13:10 GMT"}, None),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "0"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
        ({"X-RateLimit-Reset": "never"}, None),
        ({"X-RateLimit-Reset": "1699999999"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_the_servers_wish_is_read_in_seconds_and_nonsense_is_no_wish(
    headers: dict[str, str] | None, seconds: float | None
) -> None:
    assert wait_hint(headers, now=NOW) == seconds
