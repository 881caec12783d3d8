from __future__ import annotations

import csv
import io

import pytest

from ragval_pipeline.reporting.files.tables import HIT_COLUMNS, QUERY_COLUMNS, cell, csv_pieces
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
