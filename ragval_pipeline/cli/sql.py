"""``ragval sql``: a query over the views of a kept run."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile, json_flag
from ragval_pipeline.cli.runs import kept_run
from ragval_pipeline.cli.terminal import print_json, printing, say, stdout_console
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.text.printing import did_you_mean

if TYPE_CHECKING:
    from ragval_pipeline.lazy import pa
    from ragval_pipeline.validation.views.session import Views

_MOST_ROWS = 200
#: No SELECT has the shape of a code: two words with a dot between them.
_CODE = re.compile(r"[a-z_]+\.[a-z_]+")
#: Longer values are cut in a table; JSON and CSV hold them whole.
_MOST_CHARACTERS = 500


def sql(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Folder name, run id (or its beginning), last, baseline, or a run's folder."
        ),
    ] = "last",
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY",
            help="One SELECT, or the code of a finding for the query that finds it; - reads it from stdin; left out: "
            "list the views.",
        ),
    ] = None,
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    limit: Annotated[int, typer.Option("--limit", metavar="ROWS", min=1, help="Maximum rows to show.")] = _MOST_ROWS,
    as_json: Annotated[bool, json_flag("the rows as JSON")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the rows as CSV.")] = False,
    log_level: LogLevel = None,
) -> int:
    """Query the facts of a kept run with SQL: points, chunks, pages, spans, blocks, site, queries, hits, findings."""
    from ragval_pipeline.reporting.kept_views import views_of_run
    from ragval_pipeline.sources.history import KeptRun
    from ragval_pipeline.sources.storage import open_folder
    from ragval_pipeline.validation.relational import with_thresholds

    if as_json and as_csv:
        raise SuiteError("--json and --csv exclude each other", key="sql", remedy="Choose one.")
    kept = KeptRun(open_folder(kept_run(run, suite).folder))
    statement = None if query is None else with_thresholds(_asked(query))
    with views_of_run(kept, statement or "") as views:
        if statement is None:
            _list(views)
            return 0
        rows = views.select(statement, most=limit + 1)
    shown = rows.slice(0, limit)
    if as_json:
        print_json(shown.to_pylist())
    elif as_csv:
        _print_csv(shown)
    else:
        _print_table(shown)
    if rows.num_rows > limit:
        say(f"The first {limit:,} rows; --limit shows more.")
    return 0


def _asked(query: str) -> str:
    """The query that is meant: a SELECT, or the query of a rule, named by its code."""
    from ragval_pipeline.findings.catalogue import CATALOGUE

    if query == "-":
        return sys.stdin.read()
    if query not in CATALOGUE:
        if _CODE.fullmatch(query):
            is_own = query.startswith("custom.")
            remedy = "Its query is in the file of the rule." if is_own else did_you_mean(query, CATALOGUE)
            raise SuiteError(f"{query} is not a finding of the catalogue", key="sql", remedy=remedy)
        return query
    if not CATALOGUE[query].sql:
        raise SuiteError(
            f"{query} is found by comparing, not by a query", key="sql", remedy=f"ragval explain {query} says how."
        )
    return CATALOGUE[query].sql


def _list(views: Views) -> None:
    """The views with their columns."""
    from ragval_pipeline.validation.views.tables import VIEWS

    with printing() as printer:
        for name, view in VIEWS.items():
            printer.line((name, "bold"), (f"  {view.row}", ""))
            printer.line((", ".join(column for column, _ in views.columns(name)), "dim"), indent=2)


def _print_csv(rows: pa.Table) -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(rows.column_names)
    for row in rows.to_pylist():
        writer.writerow(["" if value is None else value for value in row.values()])


def _print_table(rows: pa.Table) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from ragval_pipeline.text.printing import printable

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in rows.column_names:
        table.add_column(Text(name), overflow="fold")
    for row in rows.to_pylist():
        table.add_row(
            *(Text("" if value is None else printable(value, limit=_MOST_CHARACTERS)) for value in row.values())
        )
    stdout_console().print(table)
