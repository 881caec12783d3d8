"""A few calls at a time, their results in the order of what was asked.

Whatever ends first, callers see the same: results come in input order, and so does the first error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    call: Callable[[Item], Result], items: Iterable[Item], *, workers: int, ahead: int | None = None
) -> Iterator[Result]:
    """What ``call`` gives for each item, in the order of the items.

    Args:
        call: Safe to use from several threads.
        items: Taken as they are needed.
        workers: Calls at a time; with 1 nothing leaves the caller's thread.
        ahead: Results that may wait for the caller, those under way included; None: twice ``workers``.

    Raises:
        Exception: The first that a call raised, in the order of the items; no further call begins after it.
    """
    if workers == 1:
        yield from map(call, items)
        return
    running: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="ragval")
    try:
        for item in items:
            running.append(pool.submit(call, item))
            if len(running) >= (ahead or 2 * workers):
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        # Not waited for: what still runs after a failure ends when the caller closes its client.
        pool.shutdown(wait=False, cancel_futures=True)
