"""What every measuring asset has in common: it is skipped when its group is not selected, and it always materialises.

What lives here: the guard around a measurement. What does not: any one measurement (``assets``).
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import dagster as dg

from ragval_pipeline.errors import NotMeasurableError, SuiteError, SystemFailure
from ragval_pipeline.findings.factory import grade_findings
from ragval_pipeline.orchestration.costs import CountedEmbedding
from ragval_pipeline.orchestration.groups import is_selected
from ragval_pipeline.orchestration.metadata import measurement_metadata
from ragval_pipeline.orchestration.names import selected_groups
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.section_tables import section_tables
from ragval_pipeline.validation.measurement import Measurement, failed_measurement


def measure(
    context: dg.AssetExecutionContext,
    *,
    asset: str,
    work: Callable[[], Measurement],
    severities: Mapping[str, str] | None = None,
    embedding: CountedEmbedding | None = None,
) -> dg.MaterializeResult[Measurement]:
    """Run one measurement so that the asset materialises whatever happens.

    A system that fails or a detector that crashes becomes a measurement without values: the asset's check raises for
    it, and the report still runs and says what was not measured.

    Args:
        context: Of the step.
        asset: Name of the asset; it is skipped when no group that needs it is selected.
        work: Measures.
        severities: The suite's own severities by finding code, so that the UI shows what the report will say.
        embedding: What the work embeds with; its cost is told also when the work fails.
    """
    if is_selected(asset, selected_groups(context.run.tags)):
        progress_of(asset)(0, None)
        measurement = _measured(context, asset, work)
        progress_of(asset)(1, 1)
    else:
        measurement = Measurement(asset=asset, selected=False)
    if embedding is not None:
        measurement = measurement.model_copy(update={"sections": {**measurement.sections, **embedding.section()}})
    if severities:
        graded = tuple(grade_findings(measurement.findings, severities))
        measurement = measurement.model_copy(update={"findings": graded})
    metadata = {**measurement_metadata(measurement), **section_tables(measurement.sections)}
    return dg.MaterializeResult(value=measurement, metadata=metadata)


def _measured(context: dg.AssetExecutionContext, asset: str, work: Callable[[], Measurement]) -> Measurement:
    started = time.monotonic()
    try:
        measurement = work()
    except (SystemFailure, NotMeasurableError) as error:
        context.log.error("%s: %s", asset, error)
        measurement = failed_measurement(asset, error)
    except SuiteError as error:
        context.log.error("%s: %s", asset, error)
        measurement = _wrongly_asked(asset, error)
    except Exception as error:  # noqa: BLE001  it is reported, as a finding, by the check and in the log
        log_crash(context, asset, error)
        measurement = failed_measurement(asset, error)
    return measurement.model_copy(update={"seconds": time.monotonic() - started})


def _wrongly_asked(asset: str, error: SuiteError) -> Measurement:
    """A measurement that the suite makes impossible: no defect of ragval's, so the suite's own fault is told."""
    failed = failed_measurement(asset, error)
    findings = [
        finding.model_copy(update={"cause": str(error), "remedy": error.remedy or "Correct the suite."})
        for finding in failed.findings
    ]
    failure = failed.failure and failed.failure.model_copy(update={"message": str(error)})
    return failed.model_copy(update={"findings": tuple(findings), "failure": failure})


def log_crash(context: dg.AssetExecutionContext, asset: str, error: Exception) -> None:
    """Log the traceback of a defect, without what caused it: answers of servers may repeat keys."""
    context.log.error("%s crashed\n%s", asset, "".join(traceback.format_exception(error, chain=False)))


@contextmanager
def reading_the_suite() -> Iterator[None]:
    """Turn a fault of the suite into a failed step with one clear line."""
    try:
        yield
    except SuiteError as error:
        raise dg.Failure(str(error), allow_retries=False) from None


@contextmanager
def reading_the_world() -> Iterator[None]:
    """Turn the failure of an outside system into a failed step that carries what the report needs to know of it."""
    try:
        yield
    except SystemFailure as error:
        raise dg.Failure(
            str(error),
            metadata={
                "code": error.code,
                "system": error.system,
                "subject": error.subject,
                "problem": error.problem,
                "remedy": error.remedy,
                "attempts": error.attempts,
                "details": dg.MetadataValue.json(dict(error.details)),
            },
            allow_retries=False,
        ) from None  # Dagster keeps the texts of causes, and a server's answer may repeat the key


def failure_of_step(failure: dg.Failure) -> SystemFailure | None:
    """The failure of an outside system that a step ended with; null when it ended otherwise."""
    known: dict[str, Any] = {name: value.value for name, value in failure.metadata.items()}
    return SystemFailure(known.pop("problem"), **known) if "problem" in known else None
