"""Errors of the suite and of outside systems as failed steps, in one clear line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import dagster as dg

from ragval_pipeline.errors import SuiteError, SystemFailure


@contextmanager
def reading_the_suite() -> Iterator[None]:
    """Turn an error of the suite into a failed step with one clear line."""
    try:
        yield
    except SuiteError as error:
        told = {"problem": error.problem, "remedy": error.remedy, "file": error.file or "", "key": error.key or ""}
        raise dg.Failure(str(error), metadata={_FAULT: dg.MetadataValue.json(told)}, allow_retries=False) from None


#: Metadata key of the suite's error in a failed step.
_FAULT = "fault_of_the_suite"


def fault_of_the_suite(result: dg.ExecuteInProcessResult) -> SuiteError | None:
    """The suite's error that failed a step of a run, found only with a system; None if there is none."""
    for event in result.all_events:
        given = event.step_failure_data.user_failure_data if event.is_step_failure else None
        found = given.metadata.get(_FAULT) if given is not None else None
        if isinstance(found, dg.JsonMetadataValue) and isinstance(found.value, Mapping):
            told = found.value
            return SuiteError(
                told["problem"], remedy=told["remedy"], file=told["file"] or None, key=told["key"] or None
            )
    return None


@contextmanager
def reading_the_world() -> Iterator[None]:
    """Turn the failure of an outside system into a failed step that says what failed."""
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
        ) from None  # Dagster stores the texts of causes, and a server's response may repeat the key
