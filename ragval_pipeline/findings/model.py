"""The shape of a finding, as detectors make it and as the report shows it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from ragval_pipeline.findings.aspects import Aspect

Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
#: Subjects that ``validation_report.json`` holds for one finding; ``findings.parquet`` holds all.
REPORTED_SUBJECTS = 100


class Need(BaseModel):
    """One of several conditions that a subject missed: all need a cause before the subject has one.

    Attributes:
        aspects: Aspects that the condition reads.
        fields: Canonical payload fields that it reads.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    aspects: frozenset[Aspect]
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, config=ConfigDict(defer_build=True))
class Subject:
    """One thing that a finding is about, with what was measured on it and the entities that it is about.

    ``name`` and ``details`` are what files show. The graph of causes reads the other attributes and nothing else.

    Attributes:
        name: A page URL, point id, query id, host or field, as text.
        details: What was measured on this subject, JSON values only.
        page: Key of the page that this subject is or belongs to, when it belongs to one.
        pages: Keys of further pages: those that a query expects, that a host holds or has copies of.
        points: Ids of the points in the answer to a query, or of those next to what a page lacks.
        queries: Ids of the queries that a metric fell by.
        fields: Canonical payload fields that this subject is about.
        module: The module that a query expects where it names no page.
        thresholds: The score that a query is held to, or those that are judged.
        indices: Chunk indices that a page lacks, or that points hold whose page is not known.
        words: Words of a point that differ, or that this can account for; ``None``: not compared, or any number.
        extent: Share of the subject that is affected, 0..1: lost content of a page, text that no model reads.
        without: Aspects of the code's row that hold for this subject all the same, or say nothing about it.
        needs: The conditions that a query missed; empty: one, of all that the code's row reads.
    """

    name: str
    details: dict[str, Any] = Field(default_factory=dict)
    page: str | None = None
    pages: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    module: str | None = None
    thresholds: tuple[float, ...] = ()
    indices: tuple[int, ...] = ()
    words: int | None = None
    extent: float = 1.0
    without: frozenset[Aspect] = frozenset()
    needs: tuple[Need, ...] = ()


class Finding(BaseModel):
    """One thing that is wrong: a code, in one scope, with every subject it holds for.

    Args:
        code: Code of the catalogue, e.g. ``coverage.missing_page``.
        severity: ``error``, ``warning`` or ``info``, after the suite's own settings.
        scope: Field, module or metric that the finding is limited to, or null.
        subject_kind: What the subjects are: ``page``, ``point``, ``query``, ``host``, ``field``, ...
        subjects: All subjects, sorted by name, each once.
        details: Facts about the finding as a whole, JSON values only.
        message: One sentence: what is wrong, with the count.
        cause: One sentence: the likely reason, as far as the run could tell.
        remedy: One sentence: what to do.
        because: Code of the finding that this one follows from; ``None`` where some subjects have no cause.
        looked_at: Subjects among which these were found, where that is a sample; ``None``: all that there are.
        share: Share of the index or of the queries that is affected, 0..1 (``findings.order``); ``None``: not known.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    code: str
    severity: Severity
    scope: str | None = None
    subject_kind: str
    subjects: tuple[Subject, ...] = ()
    details: dict[str, Any] = Field(default_factory=dict)
    message: str
    cause: str
    remedy: str
    because: str | None = None
    looked_at: int | None = None
    share: float | None = None

    @property
    def count(self) -> int:
        """Number of subjects."""
        return len(self.subjects)

    def reported(self) -> ReportedFinding:
        """The form that ``validation_report.json`` holds: at most ``REPORTED_SUBJECTS`` subjects, the count of all."""
        shown = self.subjects[:REPORTED_SUBJECTS]
        per_subject = {subject.name: subject.details for subject in shown if subject.details}
        share = {} if self.share is None else {"share": round(self.share, 4)}
        details = {**share, **self.details, **({"subjects": per_subject} if per_subject else {})}
        return ReportedFinding(
            code=self.code,
            severity=self.severity,
            scope=self.scope,
            subject_kind=self.subject_kind,
            subjects=[subject.name for subject in shown],
            count=self.count,
            details=details,
            message=self.message,
            cause=self.cause,
            remedy=self.remedy,
            because=self.because,
        )


class ReportedFinding(BaseModel):
    """A finding as ``validation_report.json`` holds it.

    ``details.subjects`` maps the name of a subject to what was measured on it.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    code: str
    severity: Severity
    scope: str | None
    subject_kind: str
    subjects: list[str] = Field(description="The first 100 subjects, sorted")
    count: int = Field(ge=0, description="Number of all subjects; findings.parquet holds them")
    details: dict[str, Any]
    message: str
    cause: str
    remedy: str
    because: str | None = Field(
        description="Code of the finding that this one follows from; null where some subjects have no cause: then "
        "`details.subjects` names the cause of each that has one"
    )
