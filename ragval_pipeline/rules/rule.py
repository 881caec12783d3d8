"""The shape of a rule: what one file of this package declares about its code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Literal

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Details

Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
Level = Literal["subject", "corpus", "run"]
#: How ``validation/repair`` tries a repair: delete the subjects; keep one of each group of copies; embed texts again;
#: rewrite them as on their pages; add what pages lack; split long texts; restore addresses or other fields; search
#: exactly, embed queries as queries, read other payload paths, set another threshold, drop a dead expectation.
#: ``untried``: it needs another collection, or texts that could not be read.
Trial = Literal[
    "delete", "copies", "embed", "rewrite", "complete", "cut", "readdress", "fill", "search_exactly", "embed_as_query",
    "map_fields", "set_threshold", "drop_expectation", "untried",
]  # fmt: skip
#: Lines that a report gives to copy instead of those for the action.
Copied = Literal["nothing", "host_aliases", "exclude", "fields", "calibrate", "payload_index"]
Action = Literal["reingest", "delete", "chunker", "setting", "site", "query", "report", "rule"]


@dataclass(frozen=True)
class Found:
    """The rows of a rule's query in one scope.

    Attributes:
        rows: A row for each subject, by name.
        whole: The columns that begin with ``all_``, without that: the same in each row, and true of all subjects.
    """

    rows: Sequence[Mapping[str, Any]]
    whole: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def share(self, points: int) -> float:
        """The share of the rows of some number of points, 0..1."""
        return round(len(self) / max(points, 1), 4)


@dataclass(frozen=True)
class Told:
    """What a finding says; None: what every finding of its code does.

    Attributes:
        message: One sentence: what is wrong, with the count.
        cause: One sentence: the likely reason.
        remedy: One sentence: what to do.
        details: Facts about the finding as a whole; None: ``Found.whole``.
        severity: Its severity.
        looked_at: Number of subjects examined, if that is a sample.
    """

    message: str | None = None
    cause: str | None = None
    remedy: str | None = None
    details: Mapping[str, Any] | None = None
    severity: Severity | None = None
    looked_at: int | None = None


@dataclass(frozen=True)
class Rule:
    """What is known about a code whatever the index.

    Attributes:
        code: ``group.name``.
        severity: Severity unless the suite sets another.
        level: Whether the code holds for single subjects, for the corpus as a whole, or once a run.
        group: Group of measurements that detects it (``ragval run --only``).
        subject_kind: Kind of its subjects.
        action: The part of ``remediation.json`` that fixes it.
        title: What is wrong, as a heading: "Pages missing from the index".
        means: Predicate for one subject: "(the page /a) of the site has no chunk".
        many: The same of several: "(13 pages) of the site have no chunk".
        measured: How it is measured, for readers. Thresholds are in ``validation/thresholds.py``.
        cause: The usual cause, one sentence.
        remedy: What to do, one sentence.
        breaks: Aspects that do not hold for its subjects.
        reads: Aspects of its subjects that it is measured by: it follows from what breaks them.
        fields: Canonical payload fields of field-level aspects in ``breaks`` and ``reads``; empty: those that each
            subject names.
        lowers: Criteria whose value its subjects lower: they break ``Aspect.VALUE`` of these, which is added to
            ``breaks``.
        judged_by: Criteria that judge the same; if one is required, ``error_findings`` does not count it.
        details: What is measured on each subject, with the sentence for readers; None: no more than names and values.
        repair: How its repair is simulated; None: not at all, it is no cause of failed queries.
        keeps_one: Whether its subjects are groups of copies of which one is kept.
        repairs_all: Whether its repair changes every point, not only its subjects.
        simulated_as: Plural of its subjects, if each is a query result that is simulated again after repairs of others;
            empty: not.
        explains_queries_only: Whether its repair is tried on test queries only, not on other results.
        prevents: What it prevents: the ``run``, since a system failed, or ``measuring`` an index that was read.
        to_copy: Lines to copy for the remedy; None: those for the action.
        fails_rankings: Whether it lowers the ranking metrics of pages, such as ``hit_at_3``, beside ``criteria``.
        error_share: Share of the index's points, 0..1, from which a warning becomes an error; None: never.
        sql: How its subjects are found, if that is a query over the views of a run; empty: a function finds them. The
            query yields a row for each subject: ``name``, ``page`` (a key), if there is one finding for each field or
            collection its ``scope``, and the subject's details. A column that begins with ``_`` is the attribute of
            that name of ``Subject``, and one that begins with ``all_`` is the same in each row: a detail of the
            finding. ``$NAME`` is a threshold, or how much a report lists.
        keeps_words: Whether its repair leaves the rest of a text as the ingestion wrote it.
        lacks_value: Whether a field has no value, instead of a wrong one.
        tell: What the finding says of the rows, if that is not the same for all.
    """

    code: str
    severity: Severity
    level: Level
    group: str
    subject_kind: str
    action: Action
    title: str
    means: str
    many: str
    measured: str
    cause: str
    remedy: str
    breaks: Set[Aspect] = frozenset()
    reads: Set[Aspect] = frozenset()
    fields: tuple[str, ...] = ()
    lowers: tuple[str, ...] = ()
    judged_by: tuple[str, ...] = ()
    details: type[Details] | None = None
    repair: Trial | None = None
    keeps_one: bool = False
    repairs_all: bool = False
    simulated_as: str = ""
    explains_queries_only: bool = False
    prevents: Literal["run", "measuring"] | None = None
    to_copy: Copied | None = None
    fails_rankings: bool = False
    error_share: float | None = None
    keeps_words: bool = False
    lacks_value: bool = False
    sql: str = ""
    tell: Callable[[Found], Told] | None = None

    def __post_init__(self) -> None:
        if self.lowers:
            object.__setattr__(self, "breaks", self.breaks | {Aspect.VALUE})

    @property
    def is_failed_query(self) -> bool:
        """Whether its subjects are test queries that were not answered as expected."""
        return Aspect.ANSWER in self.breaks

    @property
    def names_stored_pages(self) -> bool:
        """Whether its subjects are pages as points name them, which the site may have under another address."""
        return self.subject_kind == "page" and self.group == "coverage" and Aspect.FIELD in self.breaks

    @property
    def names_lost_texts(self) -> bool:
        """Whether its subjects are pages whose texts the index lacks, or has under another address."""
        return self.repair == "complete" and not self.breaks.isdisjoint({Aspect.TARGET, Aspect.KEPT})

    @property
    def names_unread_pages(self) -> bool:
        """Whether its subjects are pages of the sitemap that could not be read."""
        return self.subject_kind == "page" and Aspect.PAGE in self.breaks

    @property
    def compares_results(self) -> bool:
        """Whether its subjects are results that were better in an earlier run."""
        return self.group == "regression" and bool(self.simulated_as)

    @property
    def criteria(self) -> frozenset[str]:
        """The criteria that its subjects concern."""
        return frozenset((*self.lowers, *self.judged_by))

    @property
    def sentence(self) -> str:
        """The sentence about one subject: "A page of the site has no chunk."."""
        kind = {"url": "URL"}.get(self.subject_kind, self.subject_kind)
        return f"{'An' if kind[0] in 'aeio' else 'A'} {kind} {self.means}."

    def severity_of(self, count: int, points: int) -> Severity:
        """The severity of a finding that names ``count`` of the index's ``points`` points."""
        return "error" if self.error_share is not None and count >= self.error_share * points else self.severity
