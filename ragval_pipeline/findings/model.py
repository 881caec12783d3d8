"""The shape of a finding, as detectors make it and as the report shows it, and the aspects of its subjects."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass


class Aspect(StrEnum):
    """One property of an entity; its value says what it is.

    A row of the catalogue *breaks* the aspects that no longer hold for its subjects, and *reads* those that its own
    measurement relies on. What reads an aspect follows from what breaks it, on the entities that both share.
    """

    FIELD = "the value of a payload field is right"
    ORIGIN = "a payload field is filled from the right source and configured under its name"
    VARIETY = "a payload field distinguishes points"
    ONCE = "a page is stored once, under one address"
    PRESENCE = "the chunks of a page are in the index"
    POSITION = "a place on a page belongs to one point"
    COPIES = "a text is stored once"
    PLACE = "a text is stored under the address of its page"
    CURRENT = "a chunk is from the present version of its page"
    LATEST = "a chunk is stored in its latest version alone"
    VERSION = "a page is as it was when it was embedded"
    TEXT = "the words of a chunk are on its page"
    OWN = "a point has the text that it was made for"
    CUT = "a chunk has its original length"
    KEPT = "a chunk keeps the text that it was embedded with"
    LETTERS = "letters are decoded correctly"
    WORDS = "words are separated where the page separates them"
    FRAME = "a chunk has no text from around the page's content"
    SPLIT = "pages are divided into chunks"
    LENGTH = "the embedding model reads a chunk to its end"
    HEADINGS = "the headings of a page are in its chunks"
    PAGE = "a page of the site can be read"
    LISTED = "a page that the site lists is there to be ingested"
    VECTOR = "a vector belongs to its text"
    MODEL = "vectors come from the model that embeds the queries"
    SPACE = "distances in the collection are meaningful for every search"
    DISTINCTION = "texts differ in their content, instead of sharing the same phrases"
    SEARCH = "a search returns the nearest vectors"
    STABLE = "a repeated question gets the same results"
    RANK = "a page is found by its own words"
    PLACES = "a chunk appears in results only where it belongs"
    TARGET = "what a query expects exists"
    REACH = "right answers reach the threshold"
    SELECTION = "wrong answers stay below the threshold"
    ANSWER = "a query is answered as expected"
    VALUE = "a criterion keeps its value"


#: Aspects that hold of one field at a time.
OF_A_FIELD = frozenset({Aspect.FIELD, Aspect.ORIGIN, Aspect.VARIETY})
#: Aspects that what a page lacks is read for where it is stored elsewhere.
OF_ADDRESSES = OF_A_FIELD | {Aspect.PLACE}
#: Aspects of points alone: a page breaks them for the points that it names.
OF_POINTS = frozenset({Aspect.KEPT})
#: Aspects of the collection as a whole, and the share of its points from which on a finding of points breaks them. On
#: unit vectors a twentieth that lies at random is met in most answers; a phrase drowns others when most chunks hold it;
#: where most pages are one chunk, a top_k is more of the index, and each chunk holds the words of a whole page; answers
#: that change are not all the exact ones.
OF_THE_WHOLE: Mapping[Aspect, float] = {
    Aspect.SPACE: 0.05,
    Aspect.DISTINCTION: 0.5,
    Aspect.SPLIT: 0.5,
    Aspect.STABLE: 0.0,
}
#: Aspects that are judged without a ranking in between: what breaks them decides, and nothing has to be simulated.
DECIDED = frozenset(
    {Aspect.FIELD, Aspect.ORIGIN, Aspect.TARGET, Aspect.REACH, Aspect.SELECTION, Aspect.ANSWER, Aspect.VALUE}
)
#: What can be wrong with the text that a vector is made of.
OF_TEXTS = frozenset({Aspect.TEXT, Aspect.CUT, Aspect.LETTERS, Aspect.WORDS, Aspect.LENGTH})
#: What can be wrong with vectors and with how they are searched.
OF_VECTORS = frozenset({Aspect.VECTOR, Aspect.SPACE, Aspect.SEARCH})


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
        points: Ids of the points in the answer to a query, of those next to what a page lacks, or of those of other
            pages that have a point's number.
        queries: Ids of the queries that a metric fell by.
        fields: Canonical payload fields that this subject is about.
        module: The module that a query expects where it names no page.
        thresholds: The score that a query is held to, or those that are judged.
        indices: Chunk indices that a page lacks, or that points hold whose page is not known.
        words: Words of a point that differ, or that this can account for; ``None``: not compared, or any number.
        beside: Of each of ``points`` what the page lacks next to it, as a share of what it holds.
        surplus: What a point was counted to hold and does not, as a share of what it holds; ``None``: not known.
        fell: By how much the value of a ranking fell, 0..1, where each finding lowers it by its share at most.
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
    beside: tuple[float, ...] = ()
    surplus: float | None = None
    fell: float | None = None
    extent: float = 1.0
    without: frozenset[Aspect] = frozenset()
    needs: tuple[Need, ...] = ()


class Finding(BaseModel):
    """One thing that is wrong: a code, in one scope, with every subject it holds for.

    Attributes:
        code: Code of the catalogue, e.g. ``coverage.missing_page``.
        severity: ``error``, ``warning`` or ``info``, after the suite's own settings.
        scope: Field, module or metric that the finding is limited to, or None.
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
