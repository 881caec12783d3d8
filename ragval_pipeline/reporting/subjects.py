"""Readable names of findings' subjects: a page by its title, a point by its page, number and first words.

A subject's measurements become one sentence, and so does what many subjects have in common. report.html, terminal and
summary.md show the same words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding, ReportedFinding, ReportedSubject
from ragval_pipeline.reporting.corpus import Corpus
from ragval_pipeline.rules.chunk.ingested_twice import RULE as INGESTED_TWICE
from ragval_pipeline.rules.details import LISTED, PASSAGE, read
from ragval_pipeline.rules.integrity.not_captured import RULE as NOT_CAPTURED
from ragval_pipeline.rules.query.failed import RULE as QUERY_FAILED
from ragval_pipeline.rules.query.failed import without_found
from ragval_pipeline.sources.http.addresses import is_http_url, readable_path, split_url
from ragval_pipeline.text.display import shorten
from ragval_pipeline.text.numbers import show_score
from ragval_pipeline.text.printing import chunk_name, plural, times
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.thresholds import MOST

_WORDS, _NOTE, _QUESTION, _NAME = 90, 260, 160, 200
#: Measurements already included in the names of subjects, or only for programs.
_SILENT = frozenset(
    {"page_url", "points", "because", "expected_pages", "expected_module", "simulated", "fields", "generations",
     "older", "told_by", "cut_chunks", "page_is_whole", "on_site", "share", "field", "source_url", "chunk_index",
     "threshold", "min_letters", "point", "required", "together_with"}
)  # fmt: skip

#: Names of passages by kind; most content is paragraphs, which says nothing about a loss.
_KINDS = {"code": "code", "row": "tables", "item": "list items", "heading": "headings"}


@dataclass(frozen=True)
class SubjectWords:
    """A subject in words.

    Attributes:
        name: As in the report's files.
        title: The page's title, the question, or the name itself.
        url: The page's address; None without one.
        place: The chunk on its page: ``chunk_index 3``; empty for other subjects.
        words: First words of the chunk; empty for other subjects.
        note: Its measurements, as a sentence without full stop; may be empty.
    """

    name: str
    title: str
    url: str | None = None
    place: str = ""
    words: str = ""
    note: str = ""

    @property
    def line(self) -> str:
        """All of it on one line."""
        named = f"{self.title}, {self.place}" if self.place else self.title
        quoted = f"{named}: “{shorten(self.words, 60)}”" if self.words else named
        return f"{quoted} ({self.note})" if self.note else quoted


class Subjects:
    """Names the subjects of the findings of one run.

    Args:
        report: The run; None while it is running: then queries are named by their ids.
        corpus: What it read; None: points are named by their findings' details.
        findings: The findings with all their subjects, as far as available.
        located: Ranks of the right pages of failed queries, by query id (``evidence/query_diagnosis.json``).
    """

    def __init__(
        self,
        report: ValidationReport | None = None,
        corpus: Corpus | None = None,
        findings: Iterable[Finding] = (),
        located: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._located = located or {}
        self._corpus = corpus or Corpus()
        self._chunks = report.quality_metrics.total_chunks if report else None
        named = (
            {name for entry in report.findings if entry.subject_kind == "query" for name in entry.subjects}
            if report
            else set()
        )
        results = report.query_results if named and report else ()
        self._queries = {query.query_id: query for query in results if query.query_id in named}
        self._all = {
            (finding.code, finding.scope): [subject.name for subject in finding.subjects] for finding in findings
        }

    def words(self, finding: ReportedFinding, name: str) -> SubjectWords:
        """One subject."""
        subject = finding.subject(name)
        note = shorten(self._note(finding, subject.details), _NOTE)
        if finding.code == QUERY_FAILED.code and name in self._located and name in self._queries:
            note = f"its page is {where_beyond(self._queries[name], self._located[name])}{self._winner(name)}"
        query = self._queries.get(name) if finding.subject_kind == "query" else None
        if query is not None:
            if finding.code in CATALOGUE and CATALOGUE[finding.code].is_failed_query:
                note = note or shorten(without_found(query.fail_reason or ""), _NOTE)
            return SubjectWords(name, f"“{question_of(query)}”", note=note)
        if finding.subject_kind == "point":
            return self._point(subject, note)
        page = self._corpus.page(name) if finding.subject_kind in {"page", "url"} else None
        if page is not None:
            return SubjectWords(name, page.name, url=name, note=note)
        title = shorten(readable_path(name) if is_http_url(name) else name, _NAME)
        return SubjectWords(name, title, name if is_http_url(name) else None, note=note)

    def _winner(self, name: str) -> str:
        """The top hit instead of the right page."""
        hits = self._queries[name].top_results
        page = self._corpus.page(hits[0].source_url) if hits else None
        return f"; first came {page.name} with {show_score(hits[0].similarity_score)}" if page else ""

    def point(self, name: str) -> str:
        """A point in a few words: ``chunk_index 3 of Getting started``."""
        words = self._point(ReportedSubject(name, {}), "")
        return f"{words.place} of {words.title}" if words.place else words.title

    def page(self, url: str) -> str:
        """A page by its title, or by its path if unknown."""
        page = self._corpus.page(url)
        return page.name if page else readable_path(url)

    def path(self, url: str) -> str:
        """The readable part of an address; other texts are unchanged."""
        return readable_path(url)

    def message(self, finding: ReportedFinding) -> str:
        """The finding's sentence with its page's title instead of the address."""
        if finding.count == 1 and finding.subjects and finding.subject_kind in {"page", "query"}:
            title = self.words(finding, finding.subjects[0]).title
            return finding.message.replace(finding.subjects[0], title if title.startswith("“") else f"“{title}”", 1)
        return finding.message

    def pattern(self, finding: ReportedFinding) -> str:
        """What the subjects have in common, as a sentence without full stop; may be empty."""
        names = self._all.get((finding.code, finding.scope)) or finding.subjects
        if len(names) < finding.count:
            return ""
        if finding.subject_kind == "page":
            told = [self._which_pages(names), self._what_is_lost(finding, names), self._how_often(finding, names)]
        elif finding.subject_kind == "point":
            told = [self._which_points(finding, names)]
        else:
            told = [self._where_pages_are(names)] if finding.code == QUERY_FAILED.code else []
        return "; ".join(part for part in told if part)

    def _which_pages(self, names: Sequence[str]) -> str:
        site = self._corpus.site
        if len(site) > 1 and len(names) == len(site) and all(self._corpus.page(name) for name in names):
            return f"all {len(site):,} pages of the site"
        if len(names) < 3:
            return ""
        shared = _shared_folder(names)
        whole = [page for page in site if split_url(page.url).path.startswith(shared)]
        if not shared.strip("/") or len(whole) == len(site):
            return ""
        return f"all {len(names):,} under {shared}" + (
            "" if len(whole) > len(names) else ", and no other page is under it"
        )

    def _what_is_lost(self, finding: ReportedFinding, names: Sequence[str]) -> str:
        if finding.code != NOT_CAPTURED.code:
            return ""
        pages = [page for name in names if (page := self._corpus.page(name))]
        parts = {page.lost for page in pages}
        if None not in parts and len(parts) == 1 and len(pages) == len(names):
            return f"it loses {parts.pop()}" if len(names) == 1 else f"each loses {parts.pop()}"
        letters: Counter[str] = Counter()
        for page in pages:
            letters.update(page.lost_letters)
        [(kind, most)] = letters.most_common(1) or [("", 0)]
        named = _KINDS.get(kind)
        return f"most of the lost text is {named}" if named and most > MOST * letters.total() else ""

    def _how_often(self, finding: ReportedFinding, names: Sequence[str]) -> str:
        if finding.code != INGESTED_TWICE.code or finding.scope is not None:  # of partitions, each once
            return ""
        counts = {round(page.stored) for name in names if (page := self._corpus.page(name)) and page.stored}
        often = counts.pop() if len(counts) == 1 else 0
        # That it is stored twice is what the finding says.
        return f"{'it' if len(names) == 1 else 'each'} is stored {times(often)}" if often > 2 else ""

    def _where_pages_are(self, names: Sequence[str]) -> str:
        """Ranks of the right pages of failed questions."""
        places = [self._located[name].get("rank") for name in names if name in self._located]
        found = sorted(place for place in places if place is not None)
        if not found or len(names) < 2:
            return ""
        span = f"place {found[0]}" if found[0] == found[-1] else f"places {found[0]} to {found[-1]}"
        whose = "their pages" if len(found) == len(names) else f"{len(found):,} of their {len(names):,} pages"
        return f"{whose} {'comes' if len(found) == 1 else 'come'} further down, at {span}"

    def _which_points(self, finding: ReportedFinding, names: Sequence[str]) -> str:
        points = [self._corpus.points[name] for name in names if name in self._corpus.points]
        chunks = self._chunks
        told = [f"all {chunks:,} chunks of the index"] if chunks and chunks == len(names) > 1 else []
        pages = {point.page_key for point in points if point.page_key}
        if len(points) == len(names) > 1 and pages and not told:
            [first] = pages if len(pages) == 1 else [None]
            page = self._corpus.page(first)
            where = f"all on “{page.name}”" if page else f"on {plural(len(pages), 'page')}"
            told += [where] if where not in finding.message else []
        if len(points) == len(names) > 2 and {point.number for point in points} == {0}:
            told.append("each is the first chunk of its page")
        return "; ".join(told)

    def _point(self, subject: ReportedSubject, note: str) -> SubjectWords:
        name = subject.name
        known = self._corpus.points.get(name)
        url = subject.page_url or (known.url if known else None)
        said = known.words if known else subject.text
        if known is None and not url:
            return SubjectWords(name, f"point {name}", words=shorten(said, _WORDS), note=note)
        page = self._corpus.page(url) or self._corpus.page(known.page_key if known else None)
        number = known.number if known and known.number is not None else subject.chunk_index
        title = page.name if page else readable_path(str(url)) if url else "a point without a page"
        # A chunk often begins with the title of its page, which is already shown before it.
        words = shorten(said.removeprefix(title).lstrip(" :#-") or said, _WORDS)
        place = chunk_name(number) if isinstance(number, int) else "a chunk"
        return SubjectWords(name, title, str(url) if url else None, place, words, note)

    # what was measured

    def _note(self, finding: ReportedFinding, details: Mapping[str, Any]) -> str:
        if not details:
            return ""
        rule = CATALOGUE.get(finding.code)
        try:
            said = read(rule.details, details).note(self) if rule and rule.details else ""
        except (KeyError, TypeError, ValueError):  # the report of another version
            said = ""
        return said or self.facts(details)

    def facts(self, details: Mapping[str, Any]) -> str:
        """Measurements without a sentence, as names and values."""
        told = [
            f"{key.replace('_', ' ')} {self.value(key, value)}"
            for key, value in details.items()
            if key not in _SILENT and value not in (None, "", [], {})
        ]
        return ", ".join(told)

    def value(self, key: str, value: Any) -> str:
        """A measurement in readable form; points by their names, pages by their paths."""
        if key == "title_of":
            return readable_path(str(value))
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float):
            return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
        if isinstance(value, int):
            return f"{value:,}"
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {self.value(key, entry)}" for name, entry in list(value.items())[:LISTED])
        if isinstance(value, list | tuple):
            shown = [self._entry(key, entry) for entry in value[:LISTED]]
            return ", ".join(shown) + (f" and {len(value) - LISTED:,} more" if len(value) > LISTED else "")
        return shorten(str(value), PASSAGE)

    def _entry(self, key: str, entry: Any) -> str:
        if isinstance(entry, str) and key in {"others", "with", "copies"}:
            return self.point(entry) if entry in self._corpus.points or not is_http_url(entry) else readable_path(entry)
        return self.value(key, entry)


def where_beyond(query: QueryReport, located: Mapping[str, Any]) -> str:
    """Where the right page is beyond the hits: ``at place 9 with 0.510; place 5 has 0.530``."""
    if located.get("rank") is None:
        return f"not among the first {plural(located['searched'], 'hit')}"
    last = query.top_results[-1]
    needed = f"; place {last.rank} has {show_score(last.similarity_score)}"
    return f"at place {located['rank']:,} with {show_score(located['score'])}{needed}"


def question_of(query: QueryReport) -> str:
    """The text of a query, under any of its names."""
    found = (query.query[name] for name in ("query_text", "query", "text") if query.query.get(name))
    return shorten(str(next(found, query.query_id)), _QUESTION)


def _shared_folder(urls: Sequence[str]) -> str:
    paths = [split_url(url).path.rstrip("/").split("/")[:-1] for url in urls]
    shared = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "/".join(shared) + "/"
