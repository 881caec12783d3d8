"""How far a validation is, for whoever watches it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Called with the asset's name, done and total (None: not known).
Observer = Callable[[str, int, int | None], None]

_observer: ContextVar[Observer | None] = ContextVar("ragval_progress", default=None)


@contextmanager
def observed_by(observer: Observer) -> Iterator[None]:
    """Report progress of runs started inside the block to ``observer``."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def progress_of(asset: str) -> Callable[[int, int | None], None]:
    """A callback that reports the progress of one asset."""
    observer = _observer.get()

    def report(done: int, total: int | None) -> None:
        if observer is not None:
            observer(asset, done, total)

    return report


def expect_steps(count: int) -> None:
    """Give the observer the total number of steps, if it has a method ``expect``."""
    expect = getattr(_observer.get(), "expect", None)
    if expect is not None:
        expect(count)


def check_observer() -> None:
    """Let the observer end the run by raising, if it has a method ``check``."""
    check = getattr(_observer.get(), "check", None)
    if check is not None:
        check()
