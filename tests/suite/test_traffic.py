from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.suite.traffic import AskedText, Log, load_traffic, shown_filter

ROWS = [
    {"question": "How do I  pay?", "count": 3, "time": "2026-01-01T10:00:00Z"},
    {"question": "How do I pay?", "count": 2, "time": "2026-01-31"},
    {"question": "mail me at a.b@example.com", "filter": {"lang": "en", "version": 2}},
]
ASKED = (AskedText("How do I pay?", 5), AskedText("mail me at [email]", 1, '{"lang": "en", "version": 2}'))


def load(folder: Path, written: str) -> Log | None:
    head = "suite: docs\nqdrant: {path: q, collection: docs}\nembedding: {provider: static}\n"
    (folder / "ragval.yaml").write_text(f"{head}traffic: {written}\n", encoding="utf-8")
    return load_traffic(load_suite(folder / "ragval.yaml"))


def as_jsonl(file: Path) -> None:
    file.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")


def as_csv(file: Path) -> None:
    lines = ["question;count;time;filter", "How do I  pay?;3;2026-01-01T10:00:00Z;", "How do I pay?;2;2026-01-31;"]
    lines.append('mail me at a.b@example.com;;;"{""version"": 2, ""lang"": ""en""}"')
    file.write_text("\n".join(lines), encoding="utf-8")


def as_parquet(file: Path) -> None:
    rows = [{**row, "filter": json.dumps(row["filter"]) if "filter" in row else None} for row in ROWS]
    parquet.write_table(pa.Table.from_pylist([{"time": None, "count": None, **row} for row in rows]), file)


@pytest.mark.parametrize(("name", "write"), [("a.jsonl", as_jsonl), ("a.csv", as_csv), ("a.parquet", as_parquet)])
def test_a_log_is_the_same_in_every_format(name: str, write, tmp_path: Path) -> None:
    write(tmp_path / name)
    log = load(tmp_path, name)
    assert log is not None
    assert log.questions == ASKED
    assert log.masked == {"email": 1}
    assert (log.asked, log.first.isoformat()[:10], log.last.isoformat()[:10]) == (6, "2026-01-01", "2026-01-31")


def test_columns_are_named_in_capitals_too_as_in_spreadsheets(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Question,Count\nHow do I pay?,12\n", encoding="utf-8")
    parquet.write_table(pa.Table.from_pylist([{"Question": "How do I pay?", "Count": 12}]), tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        log = load(tmp_path, name)
        assert log is not None
        assert log.questions == (AskedText("How do I pay?", 12),)


def test_a_suite_without_a_log_has_none(tmp_path: Path) -> None:
    assert load(tmp_path, "null") is None


@pytest.mark.parametrize(
    ("line", "key", "remedy"),
    [
        ({"text": ""}, "line 2, text", "as it was asked"),
        ({"words": "?"}, "line 2", "Name the column"),
        ({"text": "a", "count": 0}, "line 2, count", "how often"),
        ({"text": "a", "count": "often"}, "line 2, count", "how often"),
        ({"text": "a", "count": "1.234"}, "line 2, count", "without separators"),
        ({"text": "a", "count": "1,234"}, "line 2, count", "without separators"),
        ({"text": "a", "time": "yesterday"}, "line 2, time", "ISO 8601"),
        ({"text": "a", "filter": ["x"]}, "line 2, filter", "{field: value}"),
        ({"text": "a", "filter": "not json"}, "line 2, filter", "{field: value}"),
    ],
)
def test_a_wrong_entry_is_named_by_file_line_key_and_remedy(line: dict, key: str, remedy: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(f'{{"text": "secret a@b.example"}}\n{json.dumps(line)}', encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, "log.jsonl")
    assert caught.value.file == str(tmp_path / "log.jsonl")
    assert caught.value.key == key
    assert remedy in caught.value.remedy
    assert "a@b.example" not in str(caught.value)


def test_a_parquet_file_without_questions_and_one_that_is_none_are_errors(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"id": [1]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_text("text")
    for name, told in (
        ("a.parquet", "no column of questions"),
        ("b.parquet", "not a readable"),
        ("c.parquet", "exist"),
    ):
        with pytest.raises(SuiteError, match=told):
            load(tmp_path, name)


def test_a_struct_of_filters_has_only_the_fields_of_its_row(tmp_path: Path) -> None:
    rows = [{"text": "a", "filter": {"lang": "en"}}, {"text": "b", "filter": {"version": 2}}, {"text": "c"}]
    kind = pa.struct([("lang", pa.string()), ("version", pa.int64())])
    table = pa.Table.from_pylist(rows, pa.schema([("text", pa.string()), ("filter", kind)]))
    parquet.write_table(table, tmp_path / "a.parquet")
    log = load(tmp_path, "a.parquet")
    assert log is not None
    assert [question.filter for question in log.questions] == ['{"lang": "en"}', '{"version": 2}', ""]


def test_counts_with_groups_of_thousands_are_whole_numbers(tmp_path: Path) -> None:
    lines = ["text;count", "a;1.234.567", "b;1'234", "c;12", "d;0.125", "e;1.5"]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    log = load(tmp_path, "a.csv")
    assert log is not None
    assert {question.text: question.count for question in log.questions} == {
        "a": 1_234_567, "b": 1234, "c": 12, "d": 0.125, "e": 1.5,
    }  # fmt: skip


def test_personal_data_in_a_filter_is_searched_for_and_never_shown(tmp_path: Path) -> None:
    only = {"lang": "en", "user": "a.b@example.com"}
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "my orders", "filter": only}), encoding="utf-8")
    log = load(tmp_path, "a.jsonl")
    assert log is not None
    assert json.loads(log.questions[0].filter) == only
    assert shown_filter(log.questions[0].filter) == '{"lang": "en", "user": "[email]"}'
    assert log.masked == {"email": 1}
    assert shown_filter('{"version": 2}') == '{"version": 2}'
