"""Loading a code location for little more than ``import dagster``.

What lives here: the pause of the garbage collector. What does not: what is loaded (``suites``).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep Python's collector from running inside the block.

    Definitions are many objects that all stay: a full collection in between looks at every object of Dagster, finds
    nothing, and takes as long as half of the loading.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
