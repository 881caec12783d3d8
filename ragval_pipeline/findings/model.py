"""The model of a finding, as made by detectors and as shown in reports."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Severity

#: Maximum subjects per finding in ``validation_report.json``; ``findings.parquet`` holds all.
REPORTED_SUBJECTS = 100
#: Maximum subjects named as those that are affected most.
WORST_SUBJECTS = 10


class Need(BaseModel):
    """One of several conditions that a subject missed: the subject has a cause only if all of them have.

    Attributes:
        aspects: Aspects that the condition reads.
        fields: Canonical payload fields that it reads.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    aspects: frozenset[Aspect]
    fields: tuple[str, ...] = ()


class ToldOfSubject:
    """What the details of a subject say whatever the code of its finding, with its type."""

    __slots__ = ()

    if TYPE_CHECKING:
        details: Mapping[str, Any]

    @property
    def because(self) -> str | None:
        """Code of the finding that it follows from, if not all subjects of its finding do."""
        return self.details.get("because")

    @property
    def field(self) -> str | None:
        """Canonical payload field that it is about."""
        return self.details.get("field")

    @property
    def expected_pages(self) -> Sequence[str]:
        """Pages that a query expects."""
        return self.details.get("expected_pages") or ()

    @property
    def page_url(self) -> str | None:
        """Address of its page."""
        return self.details.get("page_url")

    @property
    def source_url(self) -> str | None:
        """The address stored with it, if that is not its page's."""
        return self.details.get("source_url")

    @property
    def chunk_index(self) -> int | None:
        """Its number on its page, as stored."""
        number = self.details.get("chunk_index")
        return number if isinstance(number, int) else None

    @property
    def text(self) -> str:
        """Its text, or the beginning of it; empty if it is not shown."""
        return str(self.details.get("text") or "")

    @property
    def compared_with(self) -> tuple[str, ...]:
        """Names of the subjects that it was compared with."""
        within = self.details.get("within")
        return tuple(str(name) for name in (*(self.details.get("others") or ()), within) if name)


class ReportedSubject(ToldOfSubject):
    """A subject in a report: its name, and what was measured on it."""

    __slots__ = ("details", "name")

    def __init__(self, name: str, details: Mapping[str, Any]) -> None:
        self.name, self.details = name, details


@dataclass(frozen=True, slots=True, config=ConfigDict(defer_build=True))
class Subject(ToldOfSubject):
    """One subject of a finding, with its measurements and the entities that it concerns.

    Files show ``name`` and ``details``. The graph of causes and the plan of repairs read only the other attributes.

    Attributes:
        name: A page URL, point id, query id, host or field, as text.
        details: What was measured on this subject, JSON values only.
        page: Key of the page that this subject is or belongs to, if any.
        pages: Keys of further pages: those that a query expects, that a host holds or has copies of.
        points: Ids of the points in a query's result, of those next to a page's missing content, or of those of other
            pages with a point's number.
        queries: Ids of the queries that lowered a metric, or of the negative ones that a threshold admits.
        values: The metric's value for each of ``queries`` before it fell.
        fields: Canonical payload fields that this subject is about.
        module: The module that a query expects if it names no page.
        thresholds: The score threshold of a query, or the thresholds judged.
        indices: Chunk indices that a page lacks, or that points hold whose page is not known.
        words: Number of a point's words that differ, or that this can account for; ``None``: not compared, or any
            number.
        beside: For each of ``points``, the size of what the page lacks next to it, relative to the point's text.
        surplus: Tokens counted for a point beyond its text, relative to its text; ``None``: not known.
        fell: By how much a ranking metric fell, 0..1; each finding lowers it by at most its reach.
        extent: Share of the subject that is affected, 0..1: lost content of a page, truncated or damaged text.
        without: Aspects of the code's row that this subject does not break or read.
        needs: The conditions that a query missed; empty: a single one, with all that the code's row reads.
        copies: Ids of the points, or addresses, that hold the same as this one: of each such group one stays. Empty: it
            is no copy of any.
        document: Value of the field that tells copies apart by the document that they are from.
        within: Id of the point of the same page that holds all of this one's text beside more; empty: there is none.
        is_outdated: Whether its page shows that this is the surplus one of them.
        generations: Ids of a page's points by ingestion, if it was ingested more than once.
        older: Those of them that are older, or repeat the others; empty if that is not known.
        current: Ids of the points that hold the present version of what this one is an older version of.
        homes: Pages of the site, as in the sitemap, whose text this holds under another address.
        is_foreign: Whether it belongs to another site that shares the collection, or is a file that no site lists.
        edition: The version or language of a page, and before it the folder that it shares with the others; empty: no
            others are known.
    """

    name: str
    details: dict[str, Any] = Field(default_factory=dict)
    page: str | None = None
    pages: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
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
    copies: tuple[str, ...] = ()
    document: str = ""
    within: str = ""
    is_outdated: bool = False
    generations: tuple[tuple[str, ...], ...] = ()
    older: tuple[str, ...] = ()
    current: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    is_foreign: bool = False
    edition: tuple[str, ...] = ()


class Cleared(NamedTuple):
    """What a simulated repair clears, or breaks.

    Attributes:
        names: Its subjects.
        of: Number of all subjects that it could.
    """

    names: tuple[str, ...]
    of: int


class Told:
    """What the details of a finding say whatever its code, with its type."""

    if TYPE_CHECKING:
        details: dict[str, Any]

    @property
    def is_required(self) -> bool:
        """Whether the suite requires the payload field that it is about; true if it is about none."""
        return bool(self.details.get("required", True))

    @property
    def field(self) -> str | None:
        """Canonical payload field that it is about."""
        return self.details.get("field")

    @property
    def is_expected(self) -> bool:
        """Whether what it names is right where it is: private addresses of a development site."""
        return bool(self.details.get("expected"))

    @property
    def would_clear(self) -> dict[str, Cleared]:
        """What its repair clears, by code, as far as it was simulated."""
        entries = self.details.get("would_clear", {}).items()
        return {code: Cleared(tuple(entry["cleared"]), entry["of"]) for code, entry in entries}

    @property
    def would_break(self) -> Cleared | None:
        """The queries that pass now and fail after its repair, as far as it was simulated; None without any."""
        entry = self.details.get("would_fail")
        return None if entry is None else Cleared(tuple(entry["failing"]), entry["of"])


class Finding(Told, BaseModel):
    """One problem: a code in one scope, with all its subjects.

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
        because: Code of the finding that this one follows from; ``None`` if some subjects have no cause.
        looked_at: Number of subjects examined, if that is a sample; ``None``: all.
        share: Share of the index or of the queries that is affected, 0..1, which decides on the order; ``None``: not
            known.
        reach: Share of the pages, points or queries that are affected at all, 0..1, which decides on what can follow.
        asked: Share of the real questions that it concerns, 0..1, which decides on the order before ``share`` does;
            ``None``: there is no log, or it names no page.
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
    reach: float | None = None
    asked: float | None = None

    @property
    def is_of_editions(self) -> bool:
        """Whether it is about pages that other versions or languages stand beside."""
        return any(subject.edition for subject in self.subjects)

    @property
    def count(self) -> int:
        """Number of subjects."""
        return len(self.subjects)

    def limited(self, names: Collection[str]) -> Finding:
        """The finding with some of its subjects alone."""
        return self.model_copy(update={"subjects": tuple(each for each in self.subjects if each.name in names)})

    def reported(self) -> ReportedFinding:
        """The form for ``validation_report.json``: at most ``REPORTED_SUBJECTS`` subjects, and their count.

        If some subjects are affected more than others, ``details.worst`` names those first.
        """
        shown = self.subjects[:REPORTED_SUBJECTS]
        are_alike = len({subject.extent for subject in self.subjects}) < 2
        worst = [] if are_alike else heapq.nlargest(WORST_SUBJECTS, self.subjects, key=lambda subject: subject.extent)
        per_subject = {subject.name: subject.details for subject in (*shown, *worst) if subject.details}
        computed = {
            "share": None if self.share is None else round(self.share, 4),
            "asked_share": None if self.asked is None else round(self.asked, 6),
            "worst": [subject.name for subject in worst] or None,
        }
        details = {
            **{name: value for name, value in computed.items() if value is not None},
            **self.details,
            **({"subjects": per_subject} if per_subject else {}),
        }
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


class ReportedFinding(Told, BaseModel):
    """A finding in ``validation_report.json``.

    ``details.subjects`` maps subject names to their measurements.
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

    def limited(self, names: Collection[str]) -> ReportedFinding:
        """The finding with some of its subjects alone, which ``names`` has all."""
        worst = {"worst": [name for name in self.worst if name in names]} if self.worst else {}
        own = {"subjects": [name for name in self.subjects if name in names], "count": len(names)}
        return self.model_copy(update={**own, "details": {**self.details, **worst}})

    @property
    def measured(self) -> dict[str, dict[str, Any]]:
        """What was measured on its subjects, by name."""
        entries = self.details.get("subjects", {})
        return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}

    def subject(self, name: str) -> ReportedSubject:
        """One of its subjects, with what was measured on it."""
        entry = self.details.get("subjects", {}).get(name)
        return ReportedSubject(name, entry if isinstance(entry, dict) else {})

    @property
    def worst(self) -> tuple[str, ...]:
        """The subjects that are affected most, if some are more than others."""
        return tuple(self.details.get("worst", ()))

    @property
    def share(self) -> float:
        """Share of the index or of the queries that is affected, 0..1; 0: not known."""
        return float(self.details.get("share") or 0.0)

    @property
    def weight(self) -> float:
        """Share of the real questions that it concerns; without a log ``share``."""
        asked = self.details.get("asked_share")
        return self.share if asked is None else float(asked)

    @property
    def is_asked(self) -> bool:
        """Whether a log tells how many of the real questions it concerns."""
        return self.details.get("asked_share") is not None

    @property
    def elsewhere(self) -> int:
        """How many of its pages are stored under other addresses."""
        return int(self.details.get("elsewhere") or 0)

    @property
    def causes(self) -> dict[str, int]:
        """Number of subjects by the code that they follow from, if not all follow from one."""
        return dict(self.details.get("causes", {}))

    @property
    def joint_causes(self) -> dict[str, int]:
        """Of subjects that one cause does not account for, their number by the further code."""
        return dict(self.details.get("together_with", {}))
