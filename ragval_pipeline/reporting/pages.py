"""The pages of a run for readers: a row for each with its figures and findings, those with problems first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.corpus import Corpus, PageEntry
from ragval_pipeline.reporting.questions import grades_of, page_key
from ragval_pipeline.rules.coverage.stale_page import RULE as STALE_PAGE
from ragval_pipeline.sources.http.addresses import split_url
from ragval_pipeline.text.numbers import show_percent
from ragval_pipeline.text.printing import plural

#: A page captured to this share is shown as complete.
_WHOLE = 0.95


@dataclass(frozen=True)
class PageRow:
    """A page with its figures; None: not measured."""

    number: int
    page: PageEntry
    name: str
    path: str
    stale: bool
    asked: int
    passed: int
    findings: int
    tone: str

    @property
    def state(self) -> str:
        """Whether it is in the index, and how much of it."""
        if self.tone == "bad":
            return "not in the index"
        if self.page.captured is None:
            return plural(self.page.chunks, "chunk")
        return f"{show_percent(self.page.captured)} captured in {plural(self.page.chunks, 'chunk')}"


@dataclass(frozen=True)
class PageTable:
    """The pages of a site.

    Attributes:
        rows: The pages, those with problems first, else in the order of the site.
        wrong: Number of those with problems.
        summary: How many are in the index in full, in part, and not at all.
    """

    rows: list[PageRow]
    wrong: int
    summary: str


def page_table(bundle: ReportBundle, corpus: Corpus) -> PageTable | None:
    """A row for each page in scope; None if no page is known."""
    pages = corpus.site
    if not pages:
        return None
    findings, stale = _findings_by_page(bundle, corpus)
    questions, passed = _questions_by_page(bundle)
    missing = set(bundle.report.coverage_report.missing_urls or ())
    rows = [
        PageRow(
            number=number,
            page=page,
            name=page.name,
            path=split_url(page.url).path or page.url,
            stale=page.key in stale,
            asked=questions[page.key],
            passed=passed[page.key],
            findings=findings[page.key],
            tone=_tone(page, page.url in missing),
        )
        for number, page in enumerate(pages, start=1)
    ]
    counts = Counter(row.tone for row in rows)
    summary = (
        f"{plural(len(rows), 'page')}: {counts['good']} in full, {counts['warning']} in part, "
        f"{counts['bad']} missing, {counts['none']} not compared"
    )
    wrong = [row for row in rows if _is_wrong(row)]
    return PageTable([*wrong, *(row for row in rows if not _is_wrong(row))], len(wrong), summary)


def _is_wrong(row: PageRow) -> bool:
    return bool(row.findings) or row.tone in {"bad", "warning"}


def _findings_by_page(bundle: ReportBundle, corpus: Corpus) -> tuple[Mapping[str, int], frozenset[str]]:
    """Number of findings other than info per page, and the pages that changed."""
    found: Counter[str] = Counter()
    stale: set[str] = set()
    for finding in bundle.findings:
        keys = {_page_of(subject.page, subject.name, corpus) for subject in finding.subjects} - {None}
        if finding.severity != "info" and finding.subject_kind in {"page", "point", "url"}:
            found.update(key for key in keys if key)
        if finding.code == STALE_PAGE.code:
            stale.update(key for key in keys if key)
    return found, frozenset(stale)


def _page_of(key: str | None, name: str, corpus: Corpus) -> str | None:
    if key is not None:
        return key
    known = corpus.points.get(name)
    page = corpus.page(known.page_key if known else name)
    return page.key if page else None


def _questions_by_page(bundle: ReportBundle) -> tuple[Counter[str], Counter[str]]:
    """Number of questions that count and expect each page, and how many of these passed."""
    key, asked, passed = page_key(bundle), Counter[str](), Counter[str]()
    for query in (query for query in bundle.report.query_results if query.counted):
        pages = {key(page) for page, grade in grades_of(query, bundle, key).items() if grade > 0}
        asked.update(pages)
        passed.update(pages if query.passed else ())
    return asked, passed


def _tone(page: PageEntry, missing: bool) -> str:
    if missing or not page.chunks:
        return "bad"
    if page.captured is None:
        return "none"
    return "good" if page.captured >= _WHOLE else "warning"


def modules_missing(bundle: ReportBundle) -> Iterable[tuple[str, int, int]]:
    """Modules with missing pages: name, indexed pages, all pages."""
    modules = bundle.report.coverage_report.by_module.items()
    return [(name, module.indexed, module.total) for name, module in modules if module.missing]
