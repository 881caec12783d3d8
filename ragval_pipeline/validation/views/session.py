"""One locked session over the views of a run: a query in, a table of rows out."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.lazy import pa
from ragval_pipeline.sources.datasets import queryable
from ragval_pipeline.validation.views.tables import VIEWS, raw_schemas

if TYPE_CHECKING:
    import duckdb

#: Memory of a session, and seconds of a query: room for joins over a million chunks.
MEMORY = "1GB"
SECONDS = 60.0  # work
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 2,  # work
    "python_enable_replacements": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "temp_directory": "",
    "preserve_insertion_order": False,
}
#: Where DuckDB points in a query: "LINE 3: ..." and a caret below it.
_LINE = re.compile(r"\n\nLINE (?P<line>\d+): (?P<shown>.*)\n(?P<lead> *)\^\s*$")
_WORD = re.compile(r"\w+")
_READ = re.compile(r"\b(?:from|join)\s+(\w+)")
_CUT = "..."


class QueryError(RagvalError):
    """A query cannot be answered.

    Args:
        problem: What is wrong, one clause.
        line: Line of the query, from 1; None: unknown.
        column: Column in that line, from 1.
    """

    exit_code = 2

    def __init__(self, problem: str, *, line: int | None = None, column: int | None = None) -> None:
        self.problem, self.line, self.column = problem, line, column
        where = "" if line is None else f"line {line}, column {column}: "
        super().__init__(f"query: {where}{problem}")


class Views:
    """The views of one run, open for queries; made by ``open_views``."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, *, seconds: float, memory: str) -> None:
        self._connection = connection
        self._seconds, self._memory = seconds, memory

    def select(self, sql: str, *, given: Mapping[str, Any] | None = None, most: int | None = None) -> pa.Table:
        """The rows of a single SELECT.

        Args:
            sql: The query, in DuckDB's SQL.
            given: Values of its parameters, which it has as ``$name``.
            most: Rows returned at most; None: all.

        Raises:
            QueryError: It is no single SELECT, is wrong, or takes more time or memory than a session has.
        """
        import duckdb

        timer = threading.Timer(self._seconds, self._connection.interrupt)
        try:
            self._check(sql)
            timer.start()
            reader = self._connection.execute(sql, given).to_arrow_reader(100_000)  # work
            return _first(reader, most)
        except duckdb.InterruptException:
            raise QueryError(f"it took more than {self._seconds:g} seconds") from None
        except duckdb.OutOfMemoryException:
            raise QueryError(f"it needs more than {self._memory} of memory") from None
        except duckdb.Error as error:
            raise _query_error(error, sql) from None
        finally:
            timer.cancel()

    def columns(self, view: str) -> list[tuple[str, str]]:
        """Name and type of each column of a view."""
        rows = self._connection.execute(f"describe {view}").fetchall()
        return [(str(row[0]), str(row[1])) for row in rows]

    def _check(self, sql: str) -> None:
        import duckdb

        statements = self._connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise QueryError("it must be one SELECT")


@contextmanager
def views_of_process(table: Callable[[str], Any], queries: Iterable[str]) -> Iterator[Views]:
    """The views that some queries of our own read, in the one database of this process.

    Args:
        table: The Arrow table or ``Files`` of a name of ``raw_schemas``; None: it is empty.
        queries: The queries.
    """
    names = frozenset().union(*map(views_in, queries))
    read = set(_WORD.findall(" ".join(VIEWS[name].sql for name in names)))
    with queryable() as query_of, _database().cursor() as connection:
        for name, schema in raw_schemas().items():
            if name in read:
                connection.execute(f"create temp view {name} as {query_of(name, table(name), schema)}")
        for name in names:
            connection.execute(f"create temp view {name} as {VIEWS[name].sql}")
        yield Views(connection, seconds=SECONDS, memory=MEMORY)


def views_in(query: str) -> frozenset[str]:
    """The views that a query of our own reads."""
    return frozenset(_READ.findall(query)) & VIEWS.keys()


@cache
def _database() -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect(config={**_SETTINGS, "memory_limit": MEMORY})


@contextmanager
def open_views(tables: Mapping[str, Any], *, seconds: float = SECONDS, memory: str = MEMORY) -> Iterator[Views]:
    """The views over a run's tables, for as long as the context is open.

    Args:
        tables: Arrow tables or datasets by the names of ``raw_schemas``; those that are missing are empty.
        seconds: Time that a query may take.
        memory: What a query may use, such as ``1GB``.
    """
    import duckdb

    with duckdb.connect(config={**_SETTINGS, "memory_limit": memory}) as connection:
        for name, schema in raw_schemas().items():
            connection.register(name, tables.get(name, schema.empty_table()))
        for name, view in VIEWS.items():
            connection.execute(f"create view {name} as {view.sql}")
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        yield Views(connection, seconds=seconds, memory=memory)


def _first(reader: pa.RecordBatchReader, most: int | None) -> pa.Table:
    batches, count = [], 0
    for batch in reader:
        batches.append(batch)
        count += batch.num_rows
        if most is not None and count >= most:
            break
    table = pa.Table.from_batches(batches, schema=reader.schema)
    return table if most is None else table.slice(0, most)


def _query_error(error: Exception, sql: str) -> QueryError:
    """DuckDB's message with the place that it points at; views are the only tables that it may suggest."""
    text = str(error).strip()
    place = _LINE.search(text)
    problem = _LINE.sub("", text) if place else text
    problem = re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", problem)
    problem = re.sub(r"\s+", " ", problem).strip().rstrip(".")
    problem = re.sub(r'\s*Did you mean "_\w+"\?', f" There are {', '.join(VIEWS)}.", problem)
    if place is None:
        return QueryError(problem)
    line = int(place["line"])
    shown, caret = place["shown"], len(place["lead"]) - len(f"LINE {line}: ")
    # DuckDB cuts long lines: the caret's place is that in the part shown.
    cut = shown.startswith(_CUT)
    start = sql.split("\n")[line - 1].find(shown.strip(".")) - len(_CUT) if cut else 0
    return QueryError(problem, line=line, column=start + caret + 1)
