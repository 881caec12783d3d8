"""A run for readers: one document, which every output renders.

What is shown, in which order, nested how and in which words is decided here, once. report.html, summary.md, terminal,
junit.xml, alerts, Dagster and the answers to agents are templates over it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.bundle import DIAGNOSIS, ReportBundle
from ragval_pipeline.reporting.change_view import ChangeView, change_view
from ragval_pipeline.reporting.corpus import Corpus, CorpusFiles, names_in, read_corpus
from ragval_pipeline.reporting.headline import drafts_of, failure_of, headline
from ragval_pipeline.reporting.outline import (
    count_by_severity,
    following,
    index_words,
    language_words,
    mode_words,
    own_first,
    spent_words,
    title_of,
    traffic_words,
    verdict_words,
    would_change,
)
from ragval_pipeline.reporting.pages import PageTable, page_table
from ragval_pipeline.reporting.partitions import PartitionRow, partition_rows, partition_words
from ragval_pipeline.reporting.questions import ordered, score_note
from ragval_pipeline.reporting.subjects import Subjects, SubjectWords
from ragval_pipeline.rules.rule import Severity
from ragval_pipeline.sources.history import EVIDENCE
from ragval_pipeline.sources.storage import open_folder
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.repair.tree import FindingNode, by_level, finding_tree, goes_away
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult


@dataclass(frozen=True)
class FindingEntry:
    """A finding in words, with what follows from it.

    Attributes:
        node: The finding, as in the report, and its consequences.
        below: The entries of these.
        namer: Names its subjects.
    """

    node: FindingNode
    below: tuple[FindingEntry, ...]
    namer: Subjects = field(repr=False)

    @property
    def finding(self) -> ReportedFinding:
        """The finding, as in the report."""
        return self.node.finding

    @property
    def title(self) -> str:
        """Its title."""
        return title_of(self.finding.code)

    @property
    def message(self) -> str:
        """Its sentence, with titles instead of addresses."""
        return self.namer.message(self.finding)

    @property
    def pattern(self) -> str:
        """What its subjects have in common, as a sentence; may be empty."""
        told = self.namer.pattern(self.finding)
        return f"{told[:1].upper()}{told[1:]}." if told else ""

    @property
    def follows(self) -> tuple[int, str]:
        """How many of its subjects follow from the parent finding, and a sentence about the causes of the rest."""
        return following(self.finding)

    @property
    def would_change(self) -> str:
        """What its repair would clear and break; empty if that was not simulated."""
        return would_change(self.finding)

    @property
    def goes_away(self) -> bool:
        """Whether it certainly goes away with the finding that it follows from."""
        return bool(self.finding.because) and goes_away(self.finding)

    @property
    def severities(self) -> list[Severity]:
        """Its severity and those of all that follow from it, each once."""
        return list(dict.fromkeys([self.finding.severity, *(name for each in self.below for name in each.severities)]))

    def subjects(self, start: int = 0, end: int | None = None) -> Iterator[SubjectWords]:
        """Its subjects in words, those without a cause and those affected most first; made when they are written."""
        return (self.namer.words(self.finding, name) for name in own_first(self.finding)[start:end])


@dataclass(frozen=True)
class Criteria:
    """The criteria by weight.

    Attributes:
        required: Those that decide: first the missed ones, then what was not measured, then what is met.
        shown: Measured but not required: first those below their gate.
        unmeasured: Neither.
    """

    required: Sequence[CriterionResult]
    shown: Sequence[CriterionResult]
    unmeasured: Sequence[CriterionResult]

    @classmethod
    def of(cls, results: Iterable[CriterionResult]) -> Criteria:
        """Sorted by weight, else in report order."""
        known = sorted(results, key=lambda result: ("not_met", "not_measured", "met").index(result.verdict))
        rest = [result for result in known if not result.required]
        return cls(
            [result for result in known if result.required],
            [result for result in rest if result.verdict != "not_measured"],
            [result for result in rest if result.verdict == "not_measured"],
        )

    @property
    def all(self) -> list[CriterionResult]:
        """All in this order."""
        return [*self.required, *self.shown, *self.unmeasured]

    @property
    def missed(self) -> list[CriterionResult]:
        """Required, and not met or not measured."""
        return [result for result in self.required if result.verdict != "met"]

    @property
    def met(self) -> list[CriterionResult]:
        """Required and met."""
        return [result for result in self.required if result.verdict == "met"]

    @property
    def counted(self) -> int:
        """Number of required ones that count in this run."""
        return sum(not result.excused for result in self.required)

    @property
    def below(self) -> list[CriterionResult]:
        """Below their gate, not required."""
        return [result for result in self.shown if result.verdict == "not_met"]

    @property
    def fine(self) -> list[CriterionResult]:
        """Measured, not required, and not below a gate."""
        return [result for result in self.shown if result.verdict != "not_met"]


@dataclass(frozen=True)
class RunDocument:
    """A run as every output shows it.

    Attributes:
        report: The run: its names, times and figures.
        word: The verdict in a word, with a remark if only some groups were run.
        sentence: The verdict in a sentence.
        failure: What outside system failed; None for other verdicts.
        about: Remarks on index, languages, ways to search, and the log of real questions.
        spent: What embedding and reranking have cost; empty if nothing is counted.
        note: Why scores are low although results are right; None: they are not.
        changes: What changed since the earlier run; None: there is none.
        tree: The findings, each below the one that it follows from, what costs readers most first.
        criteria: The criteria by weight.
        pages: The pages of the site; None if none is known here.
        namer: Names pages, points and questions.
    """

    report: ValidationReport
    word: str
    sentence: str
    failure: str | None
    about: Sequence[str]
    spent: str
    note: str | None
    changes: ChangeView | None
    tree: Sequence[FindingEntry]
    criteria: Criteria
    pages: PageTable | None
    namer: Subjects = field(repr=False)

    @cached_property
    def findings(self) -> list[ReportedFinding]:
        """The tree as a list, level by level: causes first, what is for information last."""
        return by_level([entry.node for entry in self.tree])

    @property
    def entries(self) -> Iterator[FindingEntry]:
        """The entries of the tree, each before what follows from it."""
        left = list(reversed(self.tree))
        while left:
            yield (entry := left.pop())
            left.extend(reversed(entry.below))

    @cached_property
    def counts(self) -> Mapping[Severity, int]:
        """Number of findings of each severity."""
        return count_by_severity(self.report.findings)

    @property
    def counted(self) -> str:
        """These in words: ``1 error, 2 warnings, 3 info``; empty without findings."""
        loud = [plural(count, severity) for severity, count in self.counts.items() if count and severity != "info"]
        return ", ".join([*loud, *([f"{self.counts['info']:,} info"] if self.counts["info"] else [])])

    @property
    def partitions(self) -> list[PartitionRow]:
        """The partitions, those that miss most first."""
        return partition_rows(self.report)

    @property
    def partition_words(self) -> list[str]:
        """How many partitions miss something, and what the worst ones miss; empty without partitions."""
        return partition_words(self.report)

    @property
    def drafts(self) -> int:
        """Number of test queries that nobody has confirmed: they are run but not counted."""
        return len(drafts_of(self.report))

    @property
    def questions(self) -> Iterator[tuple[int, QueryReport]]:
        """The test queries with their numbers in the report: failed ones, then passed ones, then those not counted."""
        return ordered(self.report.query_results)

    @cached_property
    def failed(self) -> int:
        """Number of test queries that count and did not pass."""
        return sum(query.counted and query.passed is not True for query in self.report.query_results)

    @property
    def failed_questions(self) -> Iterator[QueryReport]:
        """These test queries."""
        return (query for _, query in islice(self.questions, self.failed))


def run_document(
    report: ValidationReport,
    subjects: Subjects | None = None,
    *,
    note: str | None = None,
    changes: ChangeView | None = None,
    pages: PageTable | None = None,
) -> RunDocument:
    """The document of a report; without ``subjects``, they have the names in the report."""
    namer = subjects or Subjects(report)

    def entry(node: FindingNode) -> FindingEntry:
        return FindingEntry(node, tuple(map(entry, node.consequences)), namer)

    return RunDocument(
        report=report,
        word=verdict_words(report),
        sentence=headline(report),
        failure=failure_of(report),
        about=[*index_words(report), *language_words(report), *mode_words(report), *traffic_words(report)],
        spent=spent_words(report),
        note=note,
        changes=changes,
        tree=[entry(node) for node in finding_tree(report.findings)],
        criteria=Criteria.of(report.criteria),
        pages=pages,
        namer=namer,
    )


def bundle_document(bundle: ReportBundle, corpus: Corpus) -> RunDocument:
    """The document of a run with all that is known of it."""
    return run_document(
        bundle.report,
        Subjects(bundle.report, corpus, bundle.findings, bundle.extras.get(DIAGNOSIS)),
        note=score_note(bundle),
        changes=change_view(bundle.history.changes) if bundle.history else None,
        pages=page_table(bundle, corpus),
    )


def kept_document(report: ValidationReport, page: str | None) -> RunDocument:
    """The document of a report with the names that the evidence beside its ``report.html`` has.

    Without them, if ``page`` is None or the evidence cannot be read.
    """
    if page is None or not report.findings:
        return run_document(report)
    try:
        folder = open_folder(page).parent
        file = folder / EVIDENCE / DIAGNOSIS
        located: dict[str, Any] = json.loads(file.read_bytes()) if file.exists() else {}
        corpus = read_corpus(CorpusFiles.of_run(folder), names_in(report), lengths=False)
    except (OSError, ValueError, RagvalError):
        return run_document(report)
    return run_document(report, Subjects(report, corpus, located=located))
