"""The value of a measuring asset: criteria, findings and sections of the report, or why there are none."""

from __future__ import annotations

import math
import os
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_serializer, field_validator, model_validator

from ragval_pipeline.errors import (
    BudgetReachedError,
    NotMeasurableError,
    RagvalError,
    SystemFailure,
    as_sentence,
    failure_of_machine,
)
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.rules.check.crashed import RULE as CHECK_CRASHED
from ragval_pipeline.text.printing import did_you_mean, printable, show_count
from ragval_pipeline.validation.packed import Packed

ReasonCode = Literal["no_data", "too_few", "unreachable", "crashed", "not_applicable", "not_selected"]

#: Reasons that do not count against a run, even if the criterion is required.
EXCUSED: frozenset[ReasonCode] = frozenset({"not_applicable", "not_selected"})


class MeasuredValue(BaseModel):
    """The value of one criterion, or why it has none.

    Attributes:
        name: Name of the criterion.
        value: A fraction 0..1, a count, a score or milliseconds, by criterion; None if not measured.
        numerator: The count of a ratio, or the sum of a mean.
        denominator: The total.
        reason: One sentence; always given if ``value`` is None.
        reason_code: Why there is no value; None if there is one.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    value: float | None = None
    numerator: int | float | None = None  # counts stay integers: floats are not exact for large ones
    denominator: int | float | None = None
    reason: str = ""
    reason_code: ReasonCode | None = None

    @model_validator(mode="after")
    def _value_or_reason(self) -> MeasuredValue:
        if (self.value is None) != (self.reason_code is not None):
            raise ValueError(f"{self.name}: a value, or the reason code for why there is none")
        return self


class Failure(BaseModel):
    """Why an asset could not measure.

    Attributes:
        kind: ``unreachable``: an outside system failed. ``no_data``: nothing to measure. ``crashed``: a defect.
            ``budget``: it would have cost more than the suite allows. ``stale``: measured in another run, or on another
            state of the index.
        message: One line without secrets.
        system: Name of the outside system, or None.
        exception: Type of the exception.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    kind: Literal["unreachable", "no_data", "crashed", "stale", "budget"]
    message: str
    system: str | None = None
    exception: str = ""

    @property
    def reason_code(self) -> ReasonCode:
        """Why the criteria of the asset have no value."""
        return "no_data" if self.kind == "stale" or self.kind == "budget" else self.kind  # noqa: PLR1714  for mypy


class Measurement(BaseModel):
    """The measurements of one asset.

    Attributes:
        asset: Name of the asset.
        values: Values of its criteria; those missing here were not measured because of ``failure``.
        by_partition: The same for each partition of the collection, by value of ``qdrant.partition_by``.
        findings: Its findings, with all subjects.
        sections: Parts of the report by name, JSON values only; those that grow with the test queries are packed.
        failure: Why it could not measure, or None.
        selected: False if ``--only`` left it out.
        seconds: How long it took.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    asset: str
    values: tuple[MeasuredValue, ...] = ()
    by_partition: dict[str, tuple[MeasuredValue, ...]] = Field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    sections: dict[str, Any] = Field(default_factory=dict)
    failure: Failure | None = None
    selected: bool = True
    seconds: float = 0.0

    @field_validator("sections")
    @classmethod
    def _packed_again(cls, sections: dict[str, Any]) -> dict[str, Any]:
        if not sections:
            return sections
        from ragval_pipeline.validation.query_report import PACKED_SECTIONS

        packed = {name: model for name, model in PACKED_SECTIONS.items() if name in sections}
        return {**sections, **{name: Packed.from_json(model, sections[name]) for name, model in packed.items()}}

    @field_serializer("sections")
    def _packed_still(self, sections: dict[str, Any]) -> dict[str, Any]:
        return {name: value.as_json() if isinstance(value, Packed) else value for name, value in sections.items()}

    def value(self, name: str, partition: str | None = None) -> MeasuredValue | None:
        """The value of the criterion ``name``, of the whole collection or of one partition, if measured here."""
        whole = next((value for value in self.values if value.name == name), None)
        if partition is None or whole is None or whole.value is None:
            return whole
        own = next((value for value in self.by_partition.get(partition, ()) if value.name == name), None)
        if own is None:
            return not_measured(name, "no_data", self._without(partition))
        # What the collection has applies to each partition.
        told = f"{own.reason} in the partition {printable(partition)}"
        return own if own.value is not None else not_measured(name, "no_data", told)

    def _without(self, partition: str) -> str:
        """Why there is no value for a partition."""
        if not self.by_partition:
            return f"{self.asset} was not measured for partitions"
        if partition in self.by_partition:
            return f"{self.asset} gives no value for {printable(partition)}"
        return f"no point is in the partition {printable(partition)}. {did_you_mean(partition, self.by_partition)}"


def ratio(name: str, numerator: float, denominator: float, *, of: str) -> MeasuredValue:
    """A fraction; not measured if the denominator is 0.

    ``of`` is what is counted, plural, for the reason: ``points``.
    """
    if not denominator:
        return not_measured(name, "no_data", f"there are no {of}")
    return MeasuredValue(
        name=name,
        value=numerator / denominator,
        numerator=numerator,
        denominator=denominator,
        reason=f"{show_count(numerator)} of {show_count(denominator)} {of}",
    )


def mean(name: str, values: list[float], *, of: str, without: ReasonCode = "not_applicable") -> MeasuredValue:
    """An average.

    ``of`` is what has these values, plural, for the reason; ``without`` why it is not measured without any.
    """
    if not values:
        return not_measured(name, without, f"there are no {of}")
    total = math.fsum(values)
    return MeasuredValue(
        name=name,
        value=total / len(values),
        numerator=total,
        denominator=len(values),
        reason=f"mean over {len(values):,} {of.replace('queries', 'query') if len(values) == 1 else of}",
    )


def not_measured(name: str, code: ReasonCode, reason: str) -> MeasuredValue:
    """A missing value, with its reason."""
    return MeasuredValue(name=name, reason=reason, reason_code=code)


def _begun(sentence: str) -> str:
    """With a capital letter, unless it begins with an address or a path."""
    return sentence[:1].upper() + sentence[1:] if sentence.partition(" ")[0].isalpha() else sentence


def failed_measurement(asset: str, error: BaseException) -> Measurement:
    """The measurement of an asset that raised: no values, a failure, and its finding."""
    if isinstance(error, BudgetReachedError):
        return Measurement(
            asset=asset, failure=Failure(kind="budget", message=str(error), exception=type(error).__name__)
        )
    if isinstance(error, SystemFailure | NotMeasurableError):
        kind: Literal["unreachable", "no_data"] = "unreachable" if isinstance(error, SystemFailure) else "no_data"
        tries = {"tries": error.attempts} if isinstance(error, SystemFailure) else {}
        finding = make_finding(
            error.code,
            [error.subject] if error.subject else [],
            message=as_sentence(str(error)),
            details={**error.details, **tries},
            cause=error.cause,
            remedy=as_sentence(error.remedy) if error.remedy else None,
        )
        system = error.system if isinstance(error, SystemFailure) else None
        failure = Failure(kind=kind, message=str(error), system=system, exception=type(error).__name__)
        return Measurement(asset=asset, findings=(finding,), failure=failure)
    # Our own errors, and the system's text for an errno, say what happened and contain no secrets.
    reason = f" {as_sentence(os.strerror(error.errno))}" if isinstance(error, OSError) and error.errno else ""
    raised, error = type(error).__name__, failure_of_machine(error) or error
    deliberate = isinstance(error, RagvalError)
    crashed = make_finding(
        CHECK_CRASHED.code,
        [asset],
        details={"exception": raised},
        message=f"{asset} failed to run ({raised}): its criteria are not measured.{reason}",
        cause="Not a bug: something that the run needs on its machine failed." if deliberate else None,
        remedy=_begun(as_sentence(str(error))) if deliberate else None,
    )
    failure = Failure(kind="crashed", message=f"{raised} in {asset}", exception=raised)
    return Measurement(asset=asset, findings=(crashed,), failure=failure)
