"""Findings of the rules that a suite has of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.check.crashed import RULE as CHECK_CRASHED
from ragval_pipeline.sources.snapshot.manifest import arrow_schema
from ragval_pipeline.sources.snapshot.records import tracked_fields
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.rules import WrittenRule, fields_of_rules, load_rules
from ragval_pipeline.text.characters import encodable
from ragval_pipeline.validation.relational import plain
from ragval_pipeline.validation.views.session import QueryError, Views, open_views

_NAME, _PAGE = "name", "page"


def check_rules(rules: Iterable[WrittenRule], schemas: Mapping[str, Any]) -> None:
    """Refuse rules whose query cannot be answered, before anything is read.

    Args:
        rules: The rules.
        schemas: Arrow schemas of the tables that a run of the suite has more columns in than every run.

    Raises:
        SuiteError: Names the file, line and column of the mistake.
    """
    with open_views({name: schema.empty_table() for name, schema in schemas.items()}) as views:
        for written in rules:
            try:
                columns = views.select(written.rule.sql, most=0).column_names
            except QueryError as error:
                raise _located(error, written) from None
            if _NAME not in columns:
                raise SuiteError(
                    "yields no column called name",
                    file=written.file,
                    key=f"{written.rule.code}.sql",
                    remedy="Name the column with the subject: select point_id as name.",
                )


def checked_rules(suite: Suite) -> list[WrittenRule]:
    """The rules of a suite, each with a query that can be answered; empty, and nothing loaded, if it has none.

    Raises:
        SuiteError: A pattern, a file, a rule or a query is wrong.
    """
    if not suite.rules:
        return []
    rules = load_rules(suite)
    fields_of_rules(rules)
    check_rules(rules, {"_points": arrow_schema(tracked_fields(suite.payload.fields, suite.payload.required))})
    return rules


def own_findings(rules: Iterable[WrittenRule], tables: Mapping[str, Any]) -> Iterator[Finding]:
    """The finding of each rule that has rows, and ``check.crashed`` for each that could not be answered.

    Args:
        rules: The rules.
        tables: The run's tables, as for ``open_views``.
    """
    with open_views(tables) as views:
        for written in rules:
            try:
                finding = _finding(written, views)
            except QueryError as error:
                finding = make_finding(
                    CHECK_CRASHED.code,
                    [Subject(written.rule.code)],
                    message=f"The rule {written.rule.code} could not be answered: {error.problem}.",
                    cause=f"The query in {written.file.name} fails on the rows of this run.",
                    remedy="Correct the query; ragval sql tries it on the kept run.",
                )
            if finding is not None:
                yield finding


def _finding(written: WrittenRule, views: Views) -> Finding | None:
    rule = written.rule
    subjects = [_subject(row) for row in views.select(rule.sql).to_pylist() if row[_NAME] is not None]
    if not subjects:
        return None
    count = len({subject.name for subject in subjects})
    made = make_finding(
        rule.code, subjects, message=rule.message.replace("{count}", f"{count:,}"), cause=rule.cause, remedy=rule.remedy
    )
    return made.model_copy(update={"severity": rule.severity, "subject_kind": rule.subject_kind})


def _subject(row: Mapping[str, Any]) -> Subject:
    page = row.get(_PAGE)
    details = {name: plain(value) for name, value in row.items() if name not in {_NAME, _PAGE} and value is not None}
    return Subject(encodable(str(row[_NAME])), details=details, page=None if page is None else str(page))


def _located(error: QueryError, written: WrittenRule) -> SuiteError:
    line = written.line + (error.line or 1) - 1
    column = written.column + (error.column or 1) - 1
    return SuiteError(
        f"line {line}, column {column}: {error.problem}",
        file=written.file,
        key=f"{written.rule.code}.sql",
        remedy="ragval sql lists the views and their columns.",
    )
