"""What keeps loading fast: packages imported and models built on first use, and no garbage collection."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

__all__ = ["OnFirstUse", "loading_without_collector", "models_built_on_first_use", "np", "pa", "pc", "pq"]


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


#: One block at a time changes pydantic.
_CHANGING = Lock()


@contextmanager
def models_built_on_first_use(package: str) -> Iterator[None]:
    """Import a package whose pydantic models build their validators when they are first used, each as pydantic would.

    qdrant-client has hundreds of models, a run uses about ten, and building all of them takes half of its import.
    Before pydantic 2.14 first uses in several threads disturb each other: all are built at once, as without the block.
    """
    from pydantic import VERSION, BaseModel

    if package in sys.modules or tuple(map(int, VERSION.split(".")[:2])) < (2, 14):
        yield
        return
    with _CHANGING:
        config, rebuild = BaseModel.model_config, BaseModel.__dict__["model_rebuild"]

        def later(cls: type[BaseModel], /, **settings: Any) -> bool | None:
            # The package itself asks for all of its models, without settings; a first use has some.
            if cls.__module__.startswith(f"{package}.") and not settings:
                return None
            depth = settings.pop("_parent_namespace_depth", 2)
            built: bool | None = rebuild.__get__(None, cls)(_parent_namespace_depth=depth and depth + 1, **settings)
            return built

        BaseModel.model_config = {**config, "defer_build": True}
        BaseModel.model_rebuild = classmethod(later)  # type: ignore[assignment, method-assign]
        try:
            yield
        finally:
            BaseModel.model_config = config
            BaseModel.model_rebuild = rebuild  # type: ignore[method-assign]
