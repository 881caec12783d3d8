from __future__ import annotations

import ir_measures
from hypothesis import given
from hypothesis import strategies as st

from ragval_pipeline.reporting.files.tables import qrels_trec, run_trec
from ragval_pipeline.text.trec_ids import decode_id, encode_id

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


def test_blanks_are_percent_encoded_and_what_looks_like_that_is_told_apart():
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
