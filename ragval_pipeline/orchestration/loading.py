"""Loading the code location without a look at what stays."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading_without_collector() -> Iterator[None]:
    """Keep Python's collector from looking at what is loaded inside the block, then and later.

    Modules and definitions are many objects that all stay: a full collection looks at every object of Dagster, finds
    nothing, and takes as long as half of the loading.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_on:
            gc.enable()
