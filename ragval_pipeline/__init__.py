"""ragval: tells whether the search index behind a RAG assistant can be trusted.

The names below are imported when they are first used: loading this package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragval_pipeline.orchestration.alerts.email import EmailAlert
    from ragval_pipeline.orchestration.alerts.sensor import build_alert_sensor
    from ragval_pipeline.orchestration.alerts.slack import SlackAlert
    from ragval_pipeline.orchestration.alerts.webhook import WebhookAlert
    from ragval_pipeline.orchestration.build import build_validation_defs
    from ragval_pipeline.orchestration.component.component import RagValidation
    from ragval_pipeline.orchestration.run import run_validation
    from ragval_pipeline.sources.retriever import Retriever
    from ragval_pipeline.suite.load import load_suite

_EXPORTS = {
    "build_alert_sensor": "ragval_pipeline.orchestration.alerts.sensor",
    "build_validation_defs": "ragval_pipeline.orchestration.build",
    "EmailAlert": "ragval_pipeline.orchestration.alerts.email",
    "load_suite": "ragval_pipeline.suite.load",
    "RagValidation": "ragval_pipeline.orchestration.component.component",
    "Retriever": "ragval_pipeline.sources.retriever",
    "run_validation": "ragval_pipeline.orchestration.run",
    "SlackAlert": "ragval_pipeline.orchestration.alerts.slack",
    "WebhookAlert": "ragval_pipeline.orchestration.alerts.webhook",
}

__all__ = [
    "EmailAlert",
    "RagValidation",
    "Retriever",
    "SlackAlert",
    "WebhookAlert",
    "build_alert_sensor",
    "build_validation_defs",
    "load_suite",
    "run_validation",
]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
