"""Numeric packages that are imported on first use: they take longer to load than a code location may."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["np", "pa", "pc", "pq"]


class _OnFirstUse:
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
    np, pa, pc, pq = map(_OnFirstUse, ("numpy", "pyarrow", "pyarrow.compute", "pyarrow.parquet"))
