"""What kept runs of a suite say, in small pages, for an agent that asks one thing at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.cli.explain import explained
from ragval_pipeline.cli.runs import History, kept_run, open_history
from ragval_pipeline.errors import RagvalError, SuiteError
from ragval_pipeline.text.printing import nearest

if TYPE_CHECKING:
    from ragval_pipeline.findings.model import ReportedFinding
    from ragval_pipeline.reporting.run import Run
    from ragval_pipeline.validation.query_report import QueryReport
    from ragval_pipeline.validation.verdict import CriterionResult
    from ragval_pipeline.validation.views.session import Views

Answer = dict[str, Any]
#: Characters of a text, and entries of a list inside an item.
_TEXT, _LIST = 400, 10
#: Subjects of a finding beside the others, and entries of each list of the plan.
_FIRST = 3

_SUBJECTS = "select subject, details from findings where code = $code and subject is not null"
#: Every page that the site lists or the index has.
_PAGES = """
    select coalesce(s.url, p.url, c.page_url) as url, coalesce(s.page_key, p.page_key, c.page_key) as page_key,
        s.url is not null as in_sitemap, s.out_of_scope, p.state, p.problem, coalesce(c.points, 0) as points
    from site s full join pages p using (page_key) full join (
        select page_key, any_value(page_url) as page_url, count(*) as points
        from points where page_key is not null group by 1
    ) c using (page_key)"""
_FINDINGS_OF_PAGE = """
    select code, severity, count(*) as subjects from findings
    where subject in ($url, $key) or subject in (select point_id from points where page_key = $key)
    group by all order by 1"""
_CHUNKS_OF_PAGE = """
    select point_id, chunk_index, c.letters, c.found as letters_on_page, left(p.text, 200) as text_begins
    from points p left join (select point_id, letters, found from chunks) c using (point_id)
    where page_key = $key order by chunk_index nulls last, point_id"""
#: Blocks of a page whose letters are not all in its chunks.
_LACKING = """
    select kind, letters, held as letters_in_chunks, text from blocks
    where page_key = $key and held < letters and text is not null order by letters - held desc"""


@dataclass(frozen=True)
class Agent:
    """Answers about the runs of a suite file; ``run`` is a folder name, the beginning of a run id, last or baseline.

    Methods raise ``SuiteError`` for what does not exist, and ``RagvalError`` for what cannot be read.
    """

    suite: Path

    @cached_property
    def masked(self) -> Callable[[str], str]:
        """A text as it may be shown: without the phrases that must be absent."""
        from ragval_pipeline.reporting.masked import masking
        from ragval_pipeline.suite.absent import load_absent
        from ragval_pipeline.suite.load import load_suite

        return masking(load_absent(load_suite(self.suite)))

    def runs(self, *, offset: int, limit: int) -> Answer:
        """The kept runs, newest first."""
        from ragval_pipeline.reporting.history.runs import read_point
        from ragval_pipeline.sources.history import kept_runs

        found = kept_runs(self._history().base)[::-1]
        page = _page(found, offset, limit)
        points = [read_point(run) for run in found[offset : offset + limit]]
        known = ("name", "timestamp", "verdict", "collection_name")
        return {**page, "items": [{name: getattr(point, name) for name in known} for point in points]}

    def verdict(self, run: str) -> Answer:
        """The verdict of a run, what decided it, and its first findings."""
        kept = self._run(run)
        report, document = kept.report, kept.document
        return {
            "run": Path(kept.folder).name,
            **{name: getattr(report, name) for name in ("suite", "collection_name", "timestamp", "verdict")},
            "sentence": document.sentence,
            "criteria": [_criterion(result) for result in (*document.criteria.required, *document.criteria.below)],
            "findings": dict(document.counts),
            "first_findings": [_brief(finding) for finding in document.findings[:_FIRST]],
        }

    def findings(self, run: str, *, severity: str | None, offset: int, limit: int) -> Answer:
        """The findings of a run, causes before consequences; ``severity`` None: all."""
        found = [entry for entry in self._run(run).document.findings if severity in {None, entry.severity}]
        return _page(found, offset, limit, _brief)

    def finding(self, code: str, run: str, *, offset: int, limit: int) -> Answer:
        """A finding of a run with its cause, its remedy, and its subjects with what was measured on them."""
        kept = self._run(run)
        found = [entry for entry in kept.report.findings if entry.code == code]
        if not found:
            raise _unknown(code, dict.fromkeys(entry.code for entry in kept.report.findings), "finding of this run")
        with _views(kept) as views:
            rows = views.select(_SUBJECTS, given={"code": code}).to_pylist()
        first = found[0]
        told = {"cause": first.cause, "remedy": first.remedy, "scopes": [entry.scope for entry in found]}
        return {**_brief(first), **told, "subjects": _page(rows, offset, limit, _short)}

    def explain(self, name: str) -> Answer:
        """What a finding or a criterion means, how it is measured, and what to do."""
        title, sections = explained(name, self.suite)
        return {"name": name, "title": title, **{heading: " ".join(told) for heading, told in sections}}

    def page(self, url: str, run: str, *, offset: int, limit: int) -> Answer:
        """What a run knows of one page: its state, its findings, its chunks, and the words that they lack."""
        kept = self._run(run)
        with _views(kept) as views:
            row = _page_row(views, url)
            key = {"key": row["page_key"]}
            findings = views.select(_FINDINGS_OF_PAGE, given={**key, "url": row["url"]})
            chunks = views.select(_CHUNKS_OF_PAGE, given=key)
            lacking = views.select(_LACKING, given=key, most=_LIST)
        told = {"findings": findings.to_pylist(), "lacking": [_short(entry) for entry in lacking.to_pylist()]}
        return {**row, **told, "chunks": _page(chunks.to_pylist(), offset, limit, _short)}

    def questions(self, run: str, *, offset: int, limit: int) -> Answer:
        """The test queries of a run, those that did not pass first."""
        asked = [query for _, query in self._run(run).document.questions]
        return _page(asked, offset, limit, _question)

    def question(self, query: str, run: str) -> Answer:
        """A test query by its id or text, with its hits."""
        results = self._run(run).report.query_results
        for result in results:
            if query in {result.query_id, result.query.get("query_text")}:
                hits = [_short(asdict(hit)) for hit in result.top_results]
                return {**_question(result), "expected": _short(dict(result.query)), "hits": hits}
        raise _unknown(query, [result.query_id for result in results], "test query of this run")

    def search(self, text: str, *, top_k: int) -> Answer:
        """The hits of a question that is asked now."""
        from ragval_pipeline.reporting.masked import masked_value
        from ragval_pipeline.sources.search.retriever import Retriever, ValidationError
        from ragval_pipeline.suite.load import load_suite, resolve_suite
        from ragval_pipeline.text.sensitive import without_sensitive

        try:
            with Retriever(resolve_suite(load_suite(self.suite))) as retriever:
                result = retriever.nearest(text, top_k)
        except ValidationError as error:
            raise SuiteError(str(error), key="text") from None
        if result.status == "error":
            raise RagvalError(result.message)
        hits = masked_value(result.model_dump(mode="json")["results"], without_sensitive)
        return {"query": text, "message": result.message, "hits": [_short(hit) for hit in hits]}

    def compare(self, before: str, after: str, *, offset: int, limit: int) -> Answer:
        """What changed from one run to another: criteria, findings, and the queries that pass or fail now."""
        from ragval_pipeline.reporting.history.compare import compare_runs, comparison_json

        history = self._history()
        sides = history.run(before), history.run(after)
        told = comparison_json(compare_runs(*sides, tolerated_drop=history.suite.history.tolerated_drop))
        known = ("name", "timestamp", "verdict", "collection_name")
        return {
            **{side: {name: told[side][name] for name in known} for side in ("before", "after")},
            "no_regression": told["no_regression"],
            "not_compared": told["not_compared"],
            **{name: _page(told[name], offset, limit, _short) for name in ("criteria", "findings", "query_changes")},
        }

    def plan(self, run: str, part: str | None, *, offset: int, limit: int) -> Answer:
        """What to do about the findings of a run; ``part`` None: the first entries of each list."""
        from ragval_pipeline.reporting.bundle import REMEDIATION
        from ragval_pipeline.sources.history import reading_from
        from ragval_pipeline.sources.storage import open_folder
        from ragval_pipeline.text.json_text import parse_json

        file = open_folder(self._run(run).folder) / REMEDIATION
        with reading_from(file):
            plan: dict[str, list[Any]] = parse_json(file.read_bytes())
        if part is None:
            return {name: _page(entries, 0, _FIRST, _short) for name, entries in plan.items() if entries}
        if part not in plan:
            raise _unknown(part, plan, "part of the plan")
        return _page(plan[part], offset, limit, _short)

    def _history(self) -> History:
        return open_history(self.suite)

    def _run(self, name: str) -> Run:
        if "/" in name or "\\" in name:  # only runs of the suite, not every folder of this machine
            raise SuiteError(f"there is no run {name}", key="run", remedy="Use a name of the tool runs, or last.")
        return kept_run(str(self._history().run(name).folder), self.suite)


@contextmanager
def _views(run: Run) -> Iterator[Views]:
    from ragval_pipeline.reporting.kept_views import views_of_run
    from ragval_pipeline.sources.history import KeptRun
    from ragval_pipeline.sources.storage import open_folder

    with views_of_run(KeptRun(open_folder(run.folder))) as views:
        yield views


def _page_row(views: Views, url: str) -> Answer:
    """The one page that has this address, or whose address holds this text."""
    pages = views.select(_PAGES).to_pylist()
    same = [row for row in pages if url in {row["url"], row["page_key"]}]
    found = same or [row for row in pages if url and url in (row["url"] or "")]
    if len(found) == 1:
        return dict(found[0])
    if not found:
        raise _unknown(url, [row["url"] for row in pages if row["url"]], "page of the site or the index")
    listed = ", ".join(str(row["url"]) for row in found[:_LIST])
    raise SuiteError(f"{len(found)} pages have {url} in their address", key="url", remedy=f"Choose one: {listed}")


def _page(entries: Sequence[Any], offset: int, limit: int, shape: Any = None) -> Answer:
    """One page of a list, and where the next begins; None: this is the last."""
    items = [entry if shape is None else shape(entry) for entry in entries[offset : offset + limit]]
    following = offset + limit
    return {"total": len(entries), "next_offset": following if following < len(entries) else None, "items": items}


def _brief(finding: ReportedFinding) -> Answer:
    """A finding in a list."""
    known = ("code", "severity", "scope", "message", "subject_kind", "count", "because")
    told = {name: getattr(finding, name) for name in known}
    return {**_short(told), "first_subjects": finding.subjects[:_FIRST]}


def _criterion(result: CriterionResult) -> Answer:
    known = ("name", "verdict", "value", "operator", "threshold", "required", "reason")
    return {name: getattr(result, name) for name in known}


def _question(result: QueryReport) -> Answer:
    known = ("query_id", "passed", "status", "best_similarity", "fail_reason")
    told: Answer = _short(
        {"query_text": result.query.get("query_text"), **{name: getattr(result, name) for name in known}}
    )
    return told


def _short(value: Any) -> Any:
    """A value with its long texts and lists cut, and said to be."""
    if isinstance(value, dict):
        return {name: _short(entry) for name, entry in value.items() if entry is not None}
    if isinstance(value, list | tuple):
        rest = [f"and {len(value) - _LIST:,} more"] if len(value) > _LIST else []
        return [_short(entry) for entry in value[:_LIST]] + rest
    if isinstance(value, str) and len(value) > _TEXT:
        return f"{value[:_TEXT]} ... ({len(value):,} characters)"
    return value


def _unknown(name: str, known: Any, kind: str) -> SuiteError:
    near = nearest(name, [str(entry) for entry in known], count=_FIRST)
    remedy = f"Did you mean {' or '.join(near)}?" if near else "List them first."
    return SuiteError(f"{name} is no {kind}", remedy=remedy)
