"""ragval: tells whether the search index behind a RAG assistant can be trusted.

The names below are imported when they are first used: loading this package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragval_pipeline.orchestration.build import build_validation_defs
    from ragval_pipeline.orchestration.run import run_validation
    from ragval_pipeline.sources.retriever import Retriever
    from ragval_pipeline.suite.load import load_suite

_EXPORTS = {
    "Retriever": "ragval_pipeline.sources.retriever",
    "build_validation_defs": "ragval_pipeline.orchestration.build",
    "load_suite": "ragval_pipeline.suite.load",
    "run_validation": "ragval_pipeline.orchestration.run",
}

__all__ = ["Retriever", "build_validation_defs", "load_suite", "run_validation"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
