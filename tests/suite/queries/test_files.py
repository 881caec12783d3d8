"""Query files in every format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragval_pipeline.errors import SuiteError
from tests.suite.queries.reading import put, read, refused
from tests.suite.writing import one_line

QUERIES: list[dict[str, Any]] = [
    {"id": "a", "query_text": "What is ROS 2?", "expected_module": "Module 1", "min_similarity": 0.65},
    {"query_text": 'He said "URDF", then\nleft', "relevant_urls": ["https://x.org/a;b", "https://x.org/c"]},
    {"query_text": "Käse ☕", "expected_keywords": ["node", "topic"], "negative": False, "top_k": 3},
]


def as_csv(delimiter: str = ",") -> str:
    names = list(dict.fromkeys(name for query in QUERIES for name in query))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, delimiter=delimiter)
    writer.writeheader()
    for query in QUERIES:
        writer.writerow(
            {name: json.dumps(value) if isinstance(value, list) else value for name, value in query.items()}
        )
    return out.getvalue()


FORMATS = {
    "q.yaml": yaml.safe_dump(QUERIES, allow_unicode=True),
    "q.yml": yaml.safe_dump({"queries": QUERIES}, allow_unicode=True),
    "q.json": json.dumps(QUERIES),
    "wrapped.json": json.dumps({"test_queries": QUERIES}, ensure_ascii=False),
    "q.jsonl": "\n".join(json.dumps(query) for query in QUERIES),
    "q.ndjson": "".join(json.dumps(query) + "\r\n\r\n" for query in QUERIES),
    "q.csv": as_csv(),
    "excel.csv": as_csv(";"),
    "q.tsv": as_csv("\t"),
    "Q.JSON": json.dumps(QUERIES),
}


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_queries(tmp_path: Path, name: str, bom: bytes):
    put(tmp_path, name, bom + FORMATS[name].encode())
    queries = read(tmp_path, name)
    assert [query.fields() for query in queries] == [
        {"id": query.get("id", f"q{position}"), **query} for position, query in enumerate(QUERIES, 1)
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [("q.yaml", ""), ("q.yaml", "# nothing yet\n"), ("q.yaml", "[]"), ("q.yaml", "queries:\n"), ("q.json", "  "),
     ("q.json", "[]"), ("q.json", "null"), ("q.json", '{"queries": []}'), ("q.jsonl", "\n\n"), ("q.csv", ""),
     ("q.csv", "query_text,top_k\n"), ("q.csv", "query_text\n\n,\n"), ("q.tsv", "")],
)  # fmt: skip
def test_an_empty_file_has_no_queries(tmp_path: Path, name: str, text: str):
    put(tmp_path, name, text)
    assert read(tmp_path, name) == []
    put(tmp_path, name, b"\xef\xbb\xbf" + text.encode())
    assert read(tmp_path, name) == []


def test_texts_alone_are_queries(tmp_path: Path):
    put(tmp_path, "q.yaml", "- What is ROS 2?\n- query: What is URDF?\n")
    assert [query.query_text for query in read(tmp_path, "q.yaml")] == ["What is ROS 2?", "What is URDF?"]
    assert [query.id for query in read(tmp_path, ["one", {"text": "two"}])] == ["q1", "q2"]


def test_cells_of_csv_are_what_their_columns_say(tmp_path: Path):
    header = "query,expected_keywords,expected_topics,expected_results,metadata,negative,critical,score_threshold,id"
    row = 'x,"a; b|c","[""d;e""]","[{""id"": 1}]","{""n"": 1}",no,YES,0.5,007'
    put(tmp_path, "q.csv", f"{header}\n{row}\n")
    (query,) = read(tmp_path, "q.csv")
    assert query.expected_keywords == ("a", "b", "c")
    assert query.expected_topics == ("d;e",)
    assert query.expected_results == ({"id": 1},)
    assert query.metadata == {"n": 1}
    assert (query.negative, query.critical, query.min_similarity, query.id) == (False, True, 0.5, "007")


@pytest.mark.parametrize(
    ("name", "text", "key", "says"),
    [
        ("q.yaml", "- query: a\n- min_similarity: 1\n", "[1].query_text", "the query has no text"),
        ("q.yaml", "- query:\n", "[0].query_text", "the query has no text"),
        ("q.yaml", "- query: ' '\n", "[0].query", "must not be empty"),
        ("q.jsonl", '{"query": "\\u200b\\u200d"}\n', "line 1, query", "must not be empty"),
        ("q.csv", "query\n\u200b\n", "line 2, query", "must not be empty"),
        ("q.yaml", "- query: 404\n", "[0].query", "must be a text, not 404. Put it in quotes"),
        ("q.yaml", "- {query: a, expected_modul: b}", "[0].expected_modul", "Did you mean expected_module?"),
        ("q.yaml", "- {query: a, min_similarity: 1.7}", "[0].min_similarity", "less than or equal to 1, not 1.7"),
        ("q.yaml", "- {query: a, score_threshold: 1.7}", "[0].score_threshold", "less than or equal to 1, not 1.7"),
        ("q.yaml", "- {query: a, expected_keywords: [x, 2]}", "[0].expected_keywords[1]", "must be a text, not 2"),
        ("q.yaml", "- {query: a, expected_results: [3]}", "[0].expected_results[0]", "must be a mapping"),
        ("q.yaml", "- 5\n", "[0]", "is not a mapping"),
        ("q.yaml", "- [a]\n", "[0]", "is not a mapping"),
        ("q.yaml", "a: [x]\nb: [y]\n", None, "is not a list of queries"),
        ("q.yaml", "query_text: x\n", None, "is not a list of queries"),
        ("q.yaml", "- query: [\n", None, "is not readable YAML at line 2"),
        ("q.yaml", "- {query: a, query: b}\n", None, "the key query stands twice"),
        ("q.json", "[{]", None, "is not readable JSON at line 1, column 3"),
        ("q.json", '{"queries": "x"}', None, "is not a list of queries"),
        ("q.json", '[{"query": "a", "query": "b"}]', None, "the key query stands twice"),
        ("q.json", "[" * 100_000, None, "is nested too deeply"),
        ("q.jsonl", '{"query": "a"}\n\n{"query": "b",}\n', None, "is not readable JSON at line 3"),
        ("q.jsonl", '{"query": "a"}\n[1]\n', "line 2", "is not a mapping"),
        ("q.jsonl", '{"query": "a"}\n\n{"top_k": 0, "query": "b"}', "line 3, top_k", "greater than or equal to 1"),
        ("q.csv", "query,top_k\na,1\nb,zero\n", "line 3, top_k", "must be a valid integer, not 'zero'"),
        ("q.csv", 'query,id\n"a\nb",1\n"c",1\n', "line 4", "the query id 1 stands twice, first at line 2"),
        ("q.csv", "query\na,b\n", "line 2", "has more cells than the header"),
        ("q.csv", "query,query\na,b\n", "line 1", "has two columns called query"),
        ("q.csv", 'query\n"a\n', None, "is not readable CSV at line 2"),
        ("q.csv", 'query\n"a"b\n', None, "is not readable CSV at line 2"),
        ("q.csv", "query,expected_results\na,{\n", None, "is not readable JSON at line 2, expected_results"),
        ("q.csv", "query,negative\na,maybe\n", "line 2, negative", "valid boolean"),
        ("q.csv", "What is ROS 2?\nWhat is URDF?\n", "line 2.query_text".replace(".", ", "), "the query has no text"),
        ("q.parquet", "", None, "has the ending .parquet, which is no known format of a query file"),
        ("queries", "", None, "has the ending (none)"),
        ("q.yaml", b"- query: Caf\xe9\n", None, "is not UTF-8 text (byte 12)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_and_place(
    tmp_path: Path, name: str, text: str | bytes, key: str | None, says: str
):
    file = put(tmp_path, name, text)
    error = refused(tmp_path, name)
    assert error.file == str(file)
    assert error.key == key
    assert says in str(error)


def test_a_query_inside_the_suite_is_named_with_the_suite(tmp_path: Path):
    error = refused(tmp_path, ["fine", {"query": "x", "min_similarity": 1.7}])
    assert error.file == str(tmp_path / "ragval.yaml")
    assert error.key == "queries[1].min_similarity"


def test_what_is_wrong_with_an_entry_as_a_whole_is_named_by_the_entry_alone(tmp_path: Path):
    put(tmp_path, "q.jsonl", '{"query": "x", "text": "y"}')
    assert refused(tmp_path, [{"query": "x", "text": "y"}]).key == "queries[0]"
    assert refused(tmp_path, "q.jsonl").key == "line 1"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside, max_size=3),
    max_leaves=8,
)
fields = st.dictionaries(
    st.sampled_from(["query", "text", "id", "min_similarity", "relevant_urls", "expected_results", "template",
                     "parameters", "metadata", "top_k", "name"]) | st.text(max_size=5),
    json_values,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.lists(fields, max_size=3) | json_values)
def test_any_json_is_queries_or_an_error_of_one_line(tmp_path: Path, content: Any):
    put(tmp_path, "q.json", json.dumps(content))
    try:
        read(tmp_path, "q.json")
    except SuiteError as error:
        one_line(error)
