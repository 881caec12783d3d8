"""What keeps loading a code location fast: numeric packages imported on first use, and no garbage collection."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["OnFirstUse", "loading_without_collector", "np", "pa", "pc", "pq"]


class OnFirstUse:
    """Stands for a module; each of its names is looked up once."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
else:
    np, pa, pc, pq = map(OnFirstUse, ("numpy", "pyarrow", "pyarrow.compute", "pyarrow.parquet"))


@contextmanager
def loading_without_collector() -> Iterator[None]:
    """Exclude everything loaded inside the block from garbage collection, then and later.

    Modules and definitions are many permanent objects: a full collection scans every object of Dagster, finds nothing,
    and takes half the loading time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_on:
            gc.enable()
