"""The planters, one file per group of codes; new files are found automatically."""

from __future__ import annotations

import pkgutil
from importlib import import_module


def load_all() -> None:
    """Import every module of this package, so that its planters register."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
