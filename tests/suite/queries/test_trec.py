"""TREC topics."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suite.queries.reading import put, read, refused

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
        ("t.txt", "<html><body>404</body></html>", None, "holds no <top> or <topic>"),
        ("t.tsv", "1\tx\nno tab here\n", "line 2", "the topic has no text"),
        ("t.tsv", "1\tx\n\ty\n", "line 2", "the topic has no number"),
        ("t.jsonl", '{"text": "x"}', "line 1", "the topic has no number"),
        ("t.jsonl", '{"_id": "1"}', "line 1", "the topic has no text"),
        ("t.tsv", "1\tx\n1\ty\n", "line 2", "the query id 1 stands twice"),
        ("t.tsv", "7\tx\n", None, "judges none of the 1 queries"),
    ],
)
def test_what_is_no_topic_is_refused_with_its_line(tmp_path: Path, name: str, text: str, key: str | None, says: str):
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
