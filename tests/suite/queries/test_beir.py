"""BEIR folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragval_pipeline.suite.queries.load import load_queries, unmatched_topics
from tests.suite.queries.reading import put, read, refused
from tests.suite.writing import suite_of

HEADER = "query-id\tcorpus-id\tscore\n"


def beir(folder: Path, qrels: dict[str, str] | None = None) -> None:
    """Three queries, two of them judged, and no corpus: it is in the index."""
    lines = [
        {"_id": "PLAIN-1", "text": "Do cholesterol drugs help?", "metadata": {"url": "https://x.org/1"}},
        {"_id": "2", "text": "Is there a cure?", "metadata": {}, "title": "Cures"},
        {"_id": "3", "text": "Never judged"},
    ]
    put(folder, "queries.jsonl", "\n".join(json.dumps(line) for line in lines) + "\n")
    for name, text in (qrels or {"test.tsv": "2\tMED-10\t2\nPLAIN-1\thttps://x.org/a\t1\nPLAIN-1\tMED-2\t0\n"}).items():
        put(folder, f"qrels/{name}", HEADER + text)


def test_a_beir_folder_gives_its_judged_queries_with_their_grades(tmp_path: Path):
    beir(tmp_path / "nf")
    first, second = read(tmp_path, "nf")
    assert (first.id, first.query_text) == ("PLAIN-1", "Do cholesterol drugs help?")
    assert first.grades == {"https://x.org/a": 1, "MED-2": 0}
    assert first.metadata == {"url": "https://x.org/1"}
    assert second.grades == {"MED-10": 2}
    assert second.metadata == {"title": "Cures"}
    assert second.fields() == {"id": "2", "query_text": "Is there a cure?", "metadata": {"title": "Cures"}}


def test_judgements_on_queries_that_the_folder_does_not_have_are_counted(tmp_path: Path):
    beir(tmp_path / "nf", {"test.tsv": "2\tMED-10\t2\nPLAIN-9\tMED-2\t1\nPLAIN-9\tMED-3\t1\n"})
    suite = suite_of(tmp_path, queries="nf")
    assert unmatched_topics(suite, load_queries(suite)) == {"PLAIN-9": 2}


def test_the_only_split_counts(tmp_path: Path):
    beir(tmp_path / "nf", {"dev.tsv": "3\td\t1\n"})
    assert [query.id for query in read(tmp_path, "nf")] == ["3"]


def test_ids_that_json_writes_as_numbers_match(tmp_path: Path):
    put(tmp_path, "nf/queries.jsonl", '{"_id": 7, "text": "x"}\n')
    put(tmp_path, "nf/qrels/test.tsv", HEADER + "7\td\t1\n")
    assert read(tmp_path, "nf")[0].grades == {"d": 1}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "is a folder without queries.jsonl"),
        ({"queries.jsonl": '{"_id": "1", "text": "x"}'}, "holds no .tsv file"),
        ({"queries.jsonl": '{"_id": "1", "text": "x"}', "qrels/a.tsv": "1\td\t1", "qrels/b.tsv": "1\td\t1"},
         "holds several splits (a.tsv, b.tsv) and no test.tsv"),
        ({"queries.jsonl": '{"_id": "1", "text": "x"}', "qrels/test.tsv": HEADER}, "holds no judgements"),
        ({"queries.jsonl": '{"_id": "1", "text": "x"}', "qrels/test.tsv": "2\td\t1"}, "judges none of the 1 queries"),
        ({"queries.jsonl": '{"_id": "1", "text": ""}', "qrels/test.tsv": "1\td\t1"}, "the query has no text"),
        ({"queries.jsonl": "nonsense", "qrels/test.tsv": "1\td\t1"}, "is not readable JSON at line 1"),
        ({"queries.jsonl": '{"_id": "1", "text": "x"}\n{"_id": "1", "text": "y"}', "qrels/test.tsv": "1\td\t1"},
         "the query id 1 occurs twice, first at line 1"),
    ],
)  # fmt: skip
def test_a_folder_that_is_no_beir_folder_is_refused(tmp_path: Path, files: dict[str, str], says: str):
    (tmp_path / "nf").mkdir()
    for name, text in files.items():
        put(tmp_path / "nf", name, text)
    assert says in str(refused(tmp_path, "nf"))
