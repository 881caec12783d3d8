"""Calls to outside systems: the one retry policy (backoff, jitter, server hints, deadline), and a few at a time."""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeVar

from ragval_pipeline.lazy import OnFirstUse
from ragval_pipeline.sources.memory import collect_answers
from ragval_pipeline.suite.sections import RetrySettings

if TYPE_CHECKING:
    import tenacity
else:
    tenacity = OnFirstUse("tenacity")

T = TypeVar("T")

#: Maximum backoff.
LONGEST_DELAY_S = 60.0


@dataclass(frozen=True)
class Verdict:
    """The result of ``classify`` for an exception: whether to retry, and the wait that the server asks for."""

    retry: bool
    retry_after_s: float | None = None


GIVE_UP = Verdict(retry=False)
TRY_AGAIN = Verdict(retry=True)


@dataclass
class Attempts:
    """Counts of one call: tries made and seconds spent waiting between them."""

    tries: int = 0
    waited_s: float = 0.0


def call_with_retries(
    operation: Callable[[], T],
    *,
    policy: RetrySettings,
    classify: Callable[[BaseException], Verdict],
    attempts: Attempts | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Call ``operation`` until it returns, ``classify`` gives up, or the policy is exhausted.

    Args:
        operation: The call; must be safe to repeat.
        policy: Retries, delay in seconds, deadline in seconds.
        classify: For a raised exception: whether to retry, and the server's hint in seconds.
        attempts: Filled with the number of tries and the seconds waited, also when the call fails.
        sleep: For tests.

    Returns:
        What ``operation`` returned.

    Raises:
        Exception: The last exception of ``operation``, unchanged.
    """
    seen = attempts if attempts is not None else Attempts()

    def wait(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        hint = _usable(classify(error).retry_after_s) if error else None
        return delay_before(state.attempt_number, policy) if hint is None else hint

    def stop(state: tenacity.RetryCallState) -> bool:
        # tenacity has called ``wait`` by now: do not wait for a retry that could only start after the deadline.
        elapsed = state.seconds_since_start or 0.0
        return state.attempt_number > policy.max or elapsed + state.upcoming_sleep > policy.deadline_s

    def pause(seconds: float) -> None:
        seen.waited_s += seconds
        sleep(seconds)

    def counted() -> T:
        seen.tries += 1
        return operation()

    retrying = tenacity.Retrying(
        stop=stop,
        wait=wait,
        sleep=pause,
        retry=tenacity.retry_if_exception(lambda error: classify(error).retry),
        reraise=True,
    )
    try:
        return retrying(counted)
    finally:
        collect_answers()


def delay_before(retry: int, policy: RetrySettings) -> float:
    """Seconds to wait before the retry with this number, counted from 1, without a hint from the server."""
    delay = min(policy.delay_s * 2.0 ** min(retry - 1, 32), LONGEST_DELAY_S)
    return delay * (1 + 0.1 * random.random())


def wait_hint(headers: Mapping[str, str] | None, *, now: float | None = None) -> float | None:
    """Seconds that the server asks to wait; None if it does not say, or the time is past.

    Read in this order: ``Retry-After-Ms``, ``Retry-After`` (seconds or HTTP date), ``X-RateLimit-Reset`` (Unix time).
    """
    values = {name.lower(): value for name, value in (headers or {}).items()}
    clock = time.time() if now is None else now
    reset = _number(values.get("x-ratelimit-reset"))
    milliseconds = _number(values.get("retry-after-ms"))
    candidates = (
        None if milliseconds is None else milliseconds / 1000,
        _number(values.get("retry-after")),
        _until_date(values.get("retry-after"), clock),
        None if reset is None else reset - clock,
    )
    return next((seconds for seconds in candidates if seconds is not None and seconds > 0), None)


def asks_to_wait(hint: float | None) -> str:
    """The server's hint in a message; empty without one."""
    return f" and asks to wait {hint:,.0f} s" if hint is not None and hint >= 1 else ""


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _until_date(text: str | None, clock: float) -> float | None:
    try:
        when = parsedate_to_datetime(text or "")
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - clock
    except (ValueError, OverflowError):
        return None


def _usable(hint: float | None) -> float | None:
    return hint if hint is not None and math.isfinite(hint) and hint >= 0 else None


Item = TypeVar("Item")
Result = TypeVar("Result")
Begun = TypeVar("Begun")


def in_order(
    call: Callable[[Item], Result], items: Iterable[Item], *, workers: int, ahead: int | None = None
) -> Iterator[Result]:
    """The result of ``call`` for each item, in order.

    Args:
        call: Safe to use from several threads.
        items: Consumed as needed.
        workers: Parallel calls; with 1 all run in the caller's thread.
        ahead: Results that may wait for the caller, including running calls; None: twice ``workers``.

    Raises:
        Exception: The first that a call raised, in item order; no further call starts after it.
    """
    if workers == 1:
        yield from map(call, items)
        return
    pool = ThreadPoolExecutor(workers, thread_name_prefix="ragval")
    try:
        yield from in_turn(lambda item: pool.submit(call, item), items, Future.result, ahead=ahead or 2 * workers)
    finally:
        # Not awaited: calls still running after a failure end when the caller closes its client.
        pool.shutdown(wait=False, cancel_futures=True)


def in_turn(
    begin: Callable[[Item], Begun], items: Iterable[Item], end: Callable[[Begun], Result], *, ahead: int
) -> Iterator[Result]:
    """Results in item order, with at most ``ahead`` items started and unfinished."""
    begun: deque[Begun] = deque()
    for item in items:
        begun.append(begin(item))
        if len(begun) >= ahead:
            yield end(begun.popleft())
    while begun:
        yield end(begun.popleft())


def in_calls(
    items: Iterable[Item],
    size: int | None,
    *,
    most: int | None = None,
    length: Callable[[Item], int] = len,  # type: ignore[assignment]
) -> Iterator[list[Item]]:
    """``items`` in slices of at most ``size`` items of a total length of ``most``, at least one item each.

    None: any number, or any length.
    """
    waiting: list[Item] = []
    count = 0
    for item in items:
        more = length(item) if most is not None else 0
        if waiting and (len(waiting) == size or (most is not None and count + more > most)):
            yield waiting
            waiting, count = [], 0
        waiting.append(item)
        count += more
    if waiting:
        yield waiting
