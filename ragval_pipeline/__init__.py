"""ragval: tells whether the search index behind a RAG assistant can be trusted.

The names below are imported on first use, so loading this package is cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragval_pipeline.errors import NotMeasurableError, RagvalError, SuiteError, SystemFailure
    from ragval_pipeline.findings.model import Finding
    from ragval_pipeline.orchestration.alerts.sensor import build_alert_sensor
    from ragval_pipeline.orchestration.alerts.targets import AppriseAlert, EmailAlert, SlackAlert, WebhookAlert
    from ragval_pipeline.orchestration.build import build_validation_defs
    from ragval_pipeline.orchestration.component.component import RagValidation
    from ragval_pipeline.orchestration.run import run_validation, validate
    from ragval_pipeline.orchestration.triggers.gate import gate
    from ragval_pipeline.reporting.run import Run
    from ragval_pipeline.sources.search.retriever import RetrievalResponse, Retriever, ValidationError
    from ragval_pipeline.suite.load import load_suite
    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.validation.report import ValidationReport

    __version__: str

_EXPORTS = {
    "AppriseAlert": "ragval_pipeline.orchestration.alerts.targets",
    "EmailAlert": "ragval_pipeline.orchestration.alerts.targets",
    "Finding": "ragval_pipeline.findings.model",
    "NotMeasurableError": "ragval_pipeline.errors",
    "RagValidation": "ragval_pipeline.orchestration.component.component",
    "RagvalError": "ragval_pipeline.errors",
    "RetrievalResponse": "ragval_pipeline.sources.search.retriever",
    "Retriever": "ragval_pipeline.sources.search.retriever",
    "Run": "ragval_pipeline.reporting.run",
    "SlackAlert": "ragval_pipeline.orchestration.alerts.targets",
    "Suite": "ragval_pipeline.suite.model",
    "SuiteError": "ragval_pipeline.errors",
    "SystemFailure": "ragval_pipeline.errors",
    "ValidationError": "ragval_pipeline.sources.search.retriever",
    "ValidationReport": "ragval_pipeline.validation.report",
    "WebhookAlert": "ragval_pipeline.orchestration.alerts.targets",
    "build_alert_sensor": "ragval_pipeline.orchestration.alerts.sensor",
    "build_validation_defs": "ragval_pipeline.orchestration.build",
    "gate": "ragval_pipeline.orchestration.triggers.gate",
    "load_suite": "ragval_pipeline.suite.load",
    "run_validation": "ragval_pipeline.orchestration.run",
    "validate": "ragval_pipeline.orchestration.run",
}

__all__ = [
    "AppriseAlert",
    "EmailAlert",
    "Finding",
    "NotMeasurableError",
    "RagValidation",
    "RagvalError",
    "RetrievalResponse",
    "Retriever",
    "Run",
    "SlackAlert",
    "Suite",
    "SuiteError",
    "SystemFailure",
    "ValidationError",
    "ValidationReport",
    "WebhookAlert",
    "__version__",
    "build_alert_sensor",
    "build_validation_defs",
    "gate",
    "load_suite",
    "run_validation",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("ragval-pipeline")
        except PackageNotFoundError:
            return "0+unknown"  # a checkout that is not installed
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
