"""Query files in every format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
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


@pytest.mark.parametrize("between", [" ", "\n", "; ", "|"])
def test_pages_in_one_cell_may_stand_side_by_side_or_below_each_other(tmp_path: Path, between: str):
    pages = ("https://x.org/docs/a", "http://x.org/docs/My page")
    put(tmp_path, "q.csv", f'query,relevant_urls\nx,"{between.join(pages)}"\n')
    assert read(tmp_path, "q.csv")[0].relevant_urls == pages


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
        ("q.yaml", "- {query: a, score_threshold: 1.7}", "[0].score_threshold", "not 1.7. Correct it or leave the key"),
        ("q.yaml", "- {query: a, expected_keywords: [x, 2]}", "[0].expected_keywords[1]", "must be a text, not 2"),
        ("q.yaml", "- {query: a, expected_results: [3]}", "[0].expected_results[0]", "must be a mapping"),
        ("q.yaml", "- 5\n", "[0]", "is not a mapping"),
        ("q.yaml", "- [a]\n", "[0]", "is not a mapping"),
        ("q.yaml", "a: [x]\nb: [y]\n", None, "is not a list of queries"),
        ("q.yaml", "query_text: x\n", None, "is not a list of queries"),
        ("q.yaml", "- query: [\n", None, "is not readable YAML at line 2"),
        ("q.yaml", "- {query: a, query: b}\n", None, "the key query occurs twice"),
        ("q.json", "[{]", None, "is not readable JSON at line 1, column 3"),
        ("q.json", '{"queries": "x"}', None, "is not a list of queries"),
        ("q.json", '[{"query": "a", "query": "b"}]', None, "the key query occurs twice"),
        ("q.json", "[" * 100_000, None, "is nested too deeply"),
        ("q.jsonl", '{"query": "a"}\n\n{"query": "b",}\n', None, "is not readable JSON at line 3"),
        ("q.jsonl", '{"query": "a"}\n[1]\n', "line 2", "is not a mapping"),
        ("q.jsonl", '{"query": "a"}\n\n{"top_k": 0, "query": "b"}', "line 3, top_k", "greater than or equal to 1"),
        ("q.csv", "query,top_k\na,1\nb,zero\n", "line 3, top_k", "must be a valid integer, not 'zero'"),
        ("q.csv", 'query,id\n"a\nb",1\n"c",1\n', "line 4", "the query id 1 occurs twice, first at line 2"),
        ("q.csv", "query\na,b\n", "line 2", "has more cells than the header"),
        ("q.csv", "query,query\na,b\n", "line 1", "has two columns called query"),
        ("q.csv", 'query\n"a\n', None, "is not readable CSV at line 2"),
        ("q.csv", 'query\n"a"b\n', None, "is not readable CSV at line 2"),
        ("q.csv", "query,expected_results\na,{\n", None, "is not readable JSON at line 2, expected_results"),
        ("q.csv", "query,negative\na,maybe\n", "line 2, negative", "valid boolean"),
        ("q.csv", "What is ROS 2?\nWhat is URDF?\n", "line 1", "has no column of questions"),
        ("q.parquet", "", None, "has the ending .parquet, which is not a known format of a query file"),
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
@example(content=[{"metadata": True}])
def test_any_json_is_queries_or_an_error_of_one_line(tmp_path: Path, content: Any):
    put(tmp_path, "q.json", json.dumps(content))
    try:
        read(tmp_path, "q.json")
    except SuiteError as error:
        one_line(error)


BROKEN = '[{"id": "arm", "query": "a", "expected_module": "module-(1"}]'


def test_a_module_that_is_no_regular_expression_is_refused_with_file_and_query(tmp_path: Path):
    put(tmp_path, "q.json", BROKEN)
    error = refused(tmp_path, "q.json", retrieval={"module_match": "regex"})
    assert error.key == "[0].expected_module"
    assert "q.json" in str(error)
    assert "query arm: module-(1 is not a regular expression" in str(error)
    assert "at position 7" in str(error)


def test_without_the_setting_a_module_may_hold_any_signs(tmp_path: Path):
    put(tmp_path, "q.json", BROKEN)
    assert read(tmp_path, "q.json")[0].expected_module == "module-(1"


def test_valid_expressions_and_queries_without_a_module_pass(tmp_path: Path):
    queries = ["a", {"query": "b", "expected_module": "module-[12].*"}]
    assert len(read(tmp_path, queries, retrieval={"module_match": "regex"})) == 2


CLASSIC = """<top>
<num> Number: 301
<title> International Organized
Crime
<desc> Description:
Identify organizations that &amp; how.

<narr> Narrative:
A relevant document must.
</top>

<top>

<head> Tipster Topic Description
<num> Number:  051
<dom> Domain: International Economics
<title> Topic:  Airbus Subsidies

<desc> Description:
Document will discuss.
</top>
"""
UNCLOSED = "<top>\n<num>Number: 301\n<title>International Organized Crime\n<top><num> 51 <title> Airbus Subsidies\n"
XML = """<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment -->
<topics>
  <topic number="301"><query>International Organized Crime</query><question>Who?</question></topic>
  <topic number='51' type="x"><query>Airbus Subsidies</query><narrative>n</narrative></topic>
</topics>
"""
CLOSED = """<top><num>301</num><title>International Organized Crime</title></top>
<TOP><NUM>51</NUM><TITLE>Airbus Subsidies</TITLE></TOP>"""
TSV = "301\tInternational Organized Crime\n# a comment\n51\tAirbus Subsidies\n"
HEADED = "qid\tquery\n301\tInternational Organized Crime\n51\tAirbus Subsidies\n"
CSV = "id,query_text\n301,International Organized Crime\n51,Airbus Subsidies\n"
JSONL = '{"_id": "301", "text": "International Organized Crime"}\n{"qid": 51, "title": "Airbus Subsidies"}\n'
JSON = '[{"id": 301, "query": "International Organized Crime"}, {"query_id": "51", "question": "Airbus Subsidies"}]'
YAML = "- {id: 301, query: International Organized Crime}\n- {topic_id: 51, title: Airbus Subsidies}\n"
QRELS = "301 0 FBIS-1 1\n301 0 https://x.org/a -1\n51 0 WSJ-1 2\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [("topics.301", CLASSIC), ("t.txt", CLASSIC), ("t.txt", UNCLOSED), ("t.xml", XML), ("t.xml", "\ufeff" + XML),
     ("t.txt", CLOSED), ("t.tsv", TSV), ("topics", TSV), ("t.tsv", HEADED), ("t.csv", CSV), ("t.jsonl", JSONL),
     ("t.json", JSON), ("t.yaml", YAML)],
)  # fmt: skip
def test_topics_of_every_form_are_joined_to_their_judgements(tmp_path: Path, name: str, text: str):
    put(tmp_path, name, text)
    put(tmp_path, "qrels.txt", QRELS)
    first, second = read(tmp_path, {"topics": name, "qrels": "qrels.txt"})
    assert (first.id, first.query_text) == ("301", "International Organized Crime")
    assert first.grades == {"FBIS-1": 1, "https://x.org/a": -1}
    assert (second.id.lstrip("0"), second.query_text) == ("51", "Airbus Subsidies")
    assert second.grades == {"WSJ-1": 2}


def test_a_description_is_kept_for_people(tmp_path: Path):
    put(tmp_path, "t.txt", CLASSIC)
    put(tmp_path, "q.txt", QRELS)
    assert read(tmp_path, {"topics": "t.txt", "qrels": "q.txt"})[0].description == "Identify organizations that & how."


def test_a_topic_without_title_is_asked_by_its_description(tmp_path: Path):
    put(tmp_path, "t.txt", "<top><num> Number: 1\n<desc> Description: Which planes?\n</top>")
    put(tmp_path, "q.txt", "1 0 d 1")
    (query,) = read(tmp_path, {"topics": "t.txt", "qrels": "q.txt"})
    assert (query.query_text, query.description) == ("Which planes?", None)


def test_topics_that_nobody_judged_are_asked_too(tmp_path: Path):
    put(tmp_path, "t.tsv", TSV)
    put(tmp_path, "q.txt", "51 0 d 1")
    assert [bool(query.grades) for query in read(tmp_path, {"topics": "t.tsv", "qrels": "q.txt"})] == [False, True]


def test_fields_that_ragval_knows_stay_and_others_are_metadata(tmp_path: Path):
    put(tmp_path, "t.csv", "qid,query,category,year\n1,x,Crime,1999\n")
    put(tmp_path, "q.txt", "1 0 d 1")
    (query,) = read(tmp_path, {"topics": "t.csv", "qrels": "q.txt"})
    assert (query.category, query.metadata) == ("Crime", {"year": "1999"})


@pytest.mark.parametrize(
    ("name", "text", "key", "says"),
    [
        ("t.txt", "<top>\n<title> x\n</top>", "line 1", "the topic has no number"),
        (
            "t.txt",
            CLASSIC + "<top>\n<num> Number: 9\n</top>",
            f"line {CLASSIC.count(chr(10)) + 1}",
            "the topic has no text",
        ),
        ("t.txt", "<html><body>404</body></html>", None, "contains no <top> or <topic>"),
        ("t.tsv", "1\tx\nno tab here\n", "line 2", "the topic has no text"),
        ("t.tsv", "1\tx\n\ty\n", "line 2", "the topic has no number"),
        ("t.jsonl", '{"text": "x"}', "line 1", "the topic has no number"),
        ("t.jsonl", '{"_id": "1"}', "line 1", "the topic has no text"),
        ("t.tsv", "1\tx\n1\ty\n", "line 2", "the query id 1 occurs twice"),
        ("t.tsv", "7\tx\n", None, "judges none of the 1 queries"),
    ],
)
def test_text_that_is_not_a_topic_is_refused_with_its_line(
    tmp_path: Path, name: str, text: str, key: str | None, says: str
):
    put(tmp_path, name, text)
    put(tmp_path, "q.txt", "1 0 d 1\n301 0 d 1\n51 0 d 1\n")
    error = refused(tmp_path, {"topics": name, "qrels": "q.txt"})
    assert error.key == key
    assert says in str(error)


@pytest.mark.parametrize(("name", "kind"), [("t.tsv", "topics file"), ("q.txt", "qrels file")])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str, kind: str):
    for file, text in (("t.tsv", TSV), ("q.txt", QRELS)):
        if file != name:
            put(tmp_path, file, text)
    error = refused(tmp_path, {"topics": "t.tsv", "qrels": "q.txt"})
    assert f"{name}: there is no such {kind}" in str(error)


def test_every_wrong_entry_is_told_at_once(tmp_path: Path):
    text = "- {query: a, negativ: true}\n- {query: b}\n- {qury: c}\n- {query: d, min_similarity: 7}\n"
    put(tmp_path, "q.yaml", text)
    error = refused(tmp_path, "q.yaml")
    first, *rest = str(error).splitlines()
    assert "[0].negativ: is not a known key" in first
    assert [line.partition(": ")[0] for line in rest] == ["[2].query_text", "[3].min_similarity"]


def test_columns_of_a_spreadsheet_are_known_by_their_words(tmp_path: Path):
    text = "Query\tRelevant URLs\tMin-Similarity\nWhat is ROS 2?\thttps://x.org/a\t0.5\n"
    put(tmp_path, "q.csv", text)
    [query] = read(tmp_path, "q.csv")
    assert (query.query_text, query.relevant_urls, query.min_similarity) == (
        "What is ROS 2?",
        ("https://x.org/a",),
        0.5,
    )


def test_a_table_without_questions_is_refused_with_its_columns(tmp_path: Path):
    put(tmp_path, "q.csv", "frage,url\nWas?,https://x.org/a\n")
    error = refused(tmp_path, "q.csv")
    assert "line 1: has no column of questions, only frage, url" in str(error)
