from __future__ import annotations

import csv
import io

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragval_pipeline.reporting.files.tables import (
    HIT_COLUMNS,
    QUERY_COLUMNS,
    cell,
    csv_pieces,
    qrels_trec,
    run_trec,
    sitemap_urls_csv,
)
from ragval_pipeline.text.trec_ids import decode_id, encode_id
from tests.reporting import factory


def rows(report):
    return list(csv.DictReader(io.StringIO(b"".join(csv_pieces(report)).decode("utf-8"), newline="")))


def test_each_hit_has_a_row_and_a_query_without_hits_has_one():
    report = factory.report(query_results=[factory.query("q1", "a", 0.5), factory.query("q2", "b", None, passed=False)])
    table = rows(report)
    assert [(row["query_id"], row["rank"]) for row in table] == [("q1", "1"), ("q1", "2"), ("q1", "3"), ("q2", "")]
    assert list(table[0]) == [*QUERY_COLUMNS, *HIT_COLUMNS]


def test_scores_stay_numbers_negative_ones_too():
    query = factory.query("q1", "a", -0.25, hits=[factory.hit(1, -0.25)])
    row = rows(factory.report(query_results=[query]))[0]
    assert row["similarity_score"] == "-0.25"
    assert row["best_similarity"] == "-0.25"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\ufeff=", "\u202e="])
def test_text_that_begins_like_a_formula_gets_an_apostrophe(start):
    assert cell(f"{start}1+1").startswith("'")


def test_ordinary_text_and_its_lines_quotes_and_commas_come_back_as_they_were():
    text = 'a "quoted", word\nand a line'
    report = factory.report(query_results=[factory.query("q1", text, 0.5, hits=[factory.hit(1, 0.5, chunk_text=text)])])
    row = rows(report)[0]
    assert (row["query_text"], row["chunk_text"]) == (text, text)


def test_hostile_payloads_leave_no_cell_that_a_program_would_run():
    table = rows(factory.hostile().report)
    assert len(table) == len(factory.HOSTILE)
    numbers = {"rank", "similarity_score", "best_similarity", "returned_k", "token_count", "chunk_index"}
    cells = [text for row in table for name, text in row.items() if name not in numbers]
    assert not [text for text in cells if text[:1] in tuple("=+-@\t\r")]


IDS = st.text(st.sampled_from("ab%25209ACED\u00a0\u2003\u3000 \t\n\x00\x1c\ud800/é"), max_size=12) | st.text(max_size=8)


@given(IDS)
def test_an_id_is_one_column_and_comes_back(name):
    column = encode_id(name)
    assert len(column.split()) == 1
    column.encode("utf-8")
    assert decode_id(column) == name


@given(IDS, IDS)
def test_two_ids_never_become_one(first, second):
    assert (encode_id(first) == encode_id(second)) == (first == second)


def test_blanks_are_percent_encoded_and_texts_that_look_encoded_are_distinguished():
    assert encode_id("my doc") == "my%20doc"
    assert encode_id("my%20doc") == "my%2520doc"


def test_scores_are_ranks_below_zero_and_a_page_counts_where_it_comes_first():
    assert run_trec({"q1": ["a", "b", "a", "c"]}).decode().splitlines() == [
        "q1 Q0 a 1 -1 ragval", "q1 Q0 b 2 -2 ragval", "q1 Q0 c 3 -3 ragval",
    ]  # fmt: skip


def test_ir_measures_reads_both_files(tmp_path):
    run, qrels = tmp_path / "run.trec", tmp_path / "qrels.trec"
    run.write_bytes(run_trec({"my query": ["page b", "page a"], "q2": []}))
    qrels.write_bytes(qrels_trec({"my query": {"page a": 2}, "q2": {"page a": 1}}))
    measured = ir_measures.calc_aggregate(
        [ir_measures.RR], ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
    )
    assert measured[ir_measures.RR] == 0.25


def test_pages_that_nobody_counted_are_neither_indexed_nor_not():
    content = sitemap_urls_csv(factory.inventory(), None).decode()
    assert {row["indexed"] for row in csv.DictReader(io.StringIO(content, newline=""))} == {""}
