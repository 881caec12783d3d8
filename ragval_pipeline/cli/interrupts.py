"""Ctrl-C and SIGTERM end a command, even if the exception that they raise is lost on its way."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})
_received: socket.socket | None = None


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM unwind like Ctrl-C, so that half-written files are removed, and remember both for ``check``.

    Python discards an exception that a signal raises in a callback or a destructor, and Dagster forgets a signal that
    arrives after the last step of a run. The operating system's signals are therefore also written to a socket.
    """
    global _received  # noqa: PLW0603  as signal handlers, it belongs to the process

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours, systems = socket.socketpair()
    with closing(ours), closing(systems):
        for end in (ours, systems):
            end.setblocking(False)
        fd = signal.set_wakeup_fd(systems.fileno(), warn_on_full_buffer=False)
        outer, _received = _received, ours
        before = signal.getsignal(signal.SIGTERM)
        try:
            signal.signal(signal.SIGTERM, interrupt)
            yield
        finally:
            signal.signal(signal.SIGTERM, before)
            signal.set_wakeup_fd(fd)
            _received = outer


def check_interrupted() -> None:
    """Raise KeyboardInterrupt if a signal has asked for the end of this command, and it has not ended."""
    if _received is None:
        return
    try:
        received = _received.recv(4096)
    except BlockingIOError:
        return
    if not _SIGNALS.isdisjoint(received):
        raise KeyboardInterrupt
