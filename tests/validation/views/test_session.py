from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from ragval_pipeline.validation.facts.tables import chunk_schema, page_schema
from ragval_pipeline.validation.views.session import QueryError, Views, open_views
from ragval_pipeline.validation.views.tables import VIEWS

CHUNK = {"page_key": "/a", "letters": 4, "found": 0, "starts": [], "places": [], "lengths": []}
SHARED = {"compared": True, "letters": 10, "found": 9, "starts": [0, 6], "places": [5, 20], "lengths": [5, 4]}
CHUNKS = [{**CHUNK, "point_id": "1", **SHARED}, {**CHUNK, "point_id": "2", "compared": False}]
BLOCK = {"kind": "row", "letters": 8, "held": 3, "start": 2, "digest": 1, "text": "lost"}
PAGES = [
    {"page_key": "/a", "url": "https://x.org/a", "state": "read", "blocks": [BLOCK]},
    {"page_key": "/b", "url": "https://x.org/b", "state": "unreadable", "blocks": []},
]


@pytest.fixture
def views() -> Views:
    tables = {
        "_chunks": pa.Table.from_pylist(CHUNKS, schema=chunk_schema()),
        "_pages": pa.Table.from_pylist(PAGES, schema=page_schema()),
    }
    with open_views(tables, seconds=0.2) as opened:
        yield opened


def test_rows_of_facts_are_rows_of_views(views: Views) -> None:
    rows = views.select("select point_id, found from chunks order by point_id").to_pylist()
    assert rows == [{"point_id": "1", "found": 9}, {"point_id": "2", "found": 0}]


def test_a_span_is_a_row_of_its_own(views: Views) -> None:
    rows = views.select("select start, place, length, size from spans order by start").to_pylist()
    assert rows == [
        {"start": 0, "place": 5, "length": 5, "size": 10},
        {"start": 6, "place": 20, "length": 4, "size": 10},
    ]


def test_a_block_is_a_row_of_its_own_and_named_by_its_page(views: Views) -> None:
    assert views.select("select url, kind, letters - held as lost from blocks").to_pylist() == [
        {"url": "https://x.org/a", "kind": "row", "lost": 5}
    ]


def test_what_a_run_does_not_have_is_an_empty_view(views: Views) -> None:
    for name in VIEWS:
        assert views.select(f"select count(*) as n from {name}").column_names == ["n"]
    assert views.select("select * from queries").num_rows == 0


def test_rows_end_at_the_most_that_are_wanted(views: Views) -> None:
    assert views.select("select * from range(100000)", most=7).num_rows == 7


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_text('{file}')",
        "select * from read_csv('{file}')",
        "select * from '{file}'",
        "select * from glob('{folder}/*')",
        "select * from read_parquet('https://127.0.0.1:1/x.parquet')",
    ],
)
def test_a_query_reads_no_file_and_no_address(views: Views, sql: str, tmp_path: Path) -> None:
    file = tmp_path / "secret.txt"
    file.write_text("hidden")
    with pytest.raises(QueryError) as raised:
        views.select(sql.format(file=file, folder=tmp_path))
    assert "hidden" not in str(raised.value)


def test_a_query_sees_no_variable_of_the_process(views: Views) -> None:
    CHUNKS_HERE = pa.table({"secret": [1]})  # noqa: N806, F841
    with pytest.raises(QueryError):
        views.select("select * from CHUNKS_HERE")


@pytest.mark.parametrize(
    "sql",
    [
        "create table t as select 1", "drop view chunks", "set memory_limit = '9GB'", "copy (select 1) to 'x.csv'",
        "attach 'x.db'", "select 1; select 2", "", "install httpfs",
    ],
)  # fmt: skip
def test_only_one_select_is_answered(views: Views, sql: str) -> None:
    with pytest.raises(QueryError, match="one SELECT"):
        views.select(sql)


def test_a_mistake_is_named_by_line_and_column(views: Views) -> None:
    with pytest.raises(QueryError) as raised:
        views.select("select point_id,\n       lettres\nfrom chunks")
    assert (raised.value.line, raised.value.column) == (2, 8)
    assert '"lettres" not found' in str(raised.value)


def test_a_mistake_in_a_long_line_is_named_by_its_column(views: Views) -> None:
    lead = "select " + ", ".join(f"{number} as column_{number}" for number in range(40)) + ", "
    with pytest.raises(QueryError) as raised:
        views.select(f"{lead}lettres from chunks")
    assert (raised.value.line, raised.value.column) == (1, len(lead) + 1)


def test_an_unknown_table_is_answered_by_the_names_of_the_views(views: Views) -> None:
    with pytest.raises(QueryError) as raised:
        views.select("select * from _chunk")
    assert " _chunks" not in str(raised.value)
    assert "There are points, chunks, pages" in str(raised.value)


def test_a_query_that_takes_too_long_is_ended(views: Views) -> None:
    with pytest.raises(QueryError, match=r"more than 0\.2 seconds"):
        views.select("select count(*) from range(100000000) a, range(1000000) b where (a.range * b.range) % 7 = 3")
    assert views.select("select 1 as one").to_pylist() == [{"one": 1}]


def test_a_query_that_needs_too_much_memory_is_ended() -> None:
    with open_views({}, memory="32MB") as views, pytest.raises(QueryError, match="32MB of memory"):
        views.select("select list(range) as numbers from range(20000000)")
