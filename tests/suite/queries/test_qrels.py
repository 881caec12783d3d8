"""Relevance judgements."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.queries.load import load_queries, unmatched_topics
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.suite.queries.qrels import read_qrels, with_judgements
from tests.suite.queries.reading import put
from tests.suite.writing import one_line, suite_of


@pytest.mark.parametrize(
    "text",
    [
        "1 0 d1 2\n1 0 d2 0\n2 0 https://x.org/a 1\n",
        "1\t0\td1\t2\n1\t0\td2\t0\n2\t0\thttps://x.org/a\t1",
        "1  Q0   d1 2\r\n1 Q0 d2 0\r\n\r\n2 Q0 https://x.org/a 1\r\n",
        "# made by hand\n1 0 d1 2\n#1 0 d9 2\n1 0 d2 0\n2 0 https://x.org/a 1\n",
        "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t0\n2\thttps://x.org/a\t1\n",
        "1\td1\t2\n1\td2\t0\n2\thttps://x.org/a\t1\n",
        "1\td1\t2.0\n1\td2\t0\n2\thttps://x.org/a\t1\n",
        "\ufeffquery_id 0 doc_id grade\n1 0 d1 2\n1 0 d2 0\n2 0 https://x.org/a 1\n",
    ],
)
def test_four_columns_and_three_read_alike(tmp_path: Path, text: str):
    assert read_qrels(put(tmp_path, "q.qrels", text)) == {"1": {"d1": 2, "d2": 0}, "2": {"https://x.org/a": 1}}


def test_tabs_let_ids_hold_blanks(tmp_path: Path):
    assert read_qrels(put(tmp_path, "q.tsv", "q 1\tdoc 1\t1\n")) == {"q 1": {"doc 1": 1}}


def test_negative_grades_are_kept_and_are_not_relevant(tmp_path: Path):
    qrels = read_qrels(put(tmp_path, "q.qrels", "1 0 junk -2\n1 0 good 1\n"))
    (query,) = with_judgements([TestQuery(id="1", query_text="x")], qrels, tmp_path)
    assert query.grades == {"junk": -2, "good": 1}


def test_of_two_judgements_the_higher_one_counts(tmp_path: Path):
    assert read_qrels(put(tmp_path, "q.qrels", "1 0 d 1\n1 0 d 3\n1 0 d 0\n")) == {"1": {"d": 3}}


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        ("1 0 d\n1 0 d 1 x\n", "line 2", "has 5 columns instead of 3 or 4"),
        ("1 0 d 1\n1 d\n", "line 2", "has 2 columns instead of 3 or 4"),
        ("1 0 d 1\n1 0 e high\n", "line 2", "the grade 'high' is not a whole number"),
        ("1 0 d 0.5\n", "line 1", "the grade '0.5' is not a whole number"),
        ("1 0 d inf\n1 0 d inf\n", "line 2", "the grade 'inf' is not a whole number"),
        ("a b c\nd e f\n", "line 2", "the grade 'f' is not a whole number"),
        ("", None, "holds no judgements"),
        ("query-id\tcorpus-id\tscore\n", None, "holds no judgements"),
        ("\n# nothing\n", None, "holds no judgements"),
    ],
)
def test_a_line_that_is_not_a_judgement_is_refused(tmp_path: Path, text: str, key: str | None, says: str):
    file = put(tmp_path, "q.qrels", text)
    with pytest.raises(SuiteError) as caught:
        read_qrels(file)
    assert caught.value.key == key
    assert says in str(one_line(caught.value))


def queries(*ids: str) -> list[TestQuery]:
    return [TestQuery(id=name, query_text="x") for name in ids]


def test_queries_without_a_relevant_document_that_expect_nothing_themselves_are_unjudged(tmp_path: Path):
    own = [
        TestQuery(id="module", query_text="x", expected_module="m"),
        TestQuery(id="score", query_text="x", min_similarity=0.5),
        TestQuery(id="negative", query_text="x", negative=True),
    ]
    judged = with_judgements([*queries("1", "2", "3"), *own], {"2": {"d": 1}, "3": {"d": 0}}, tmp_path)
    assert [query.grades for query in judged[:3]] == [{}, {"d": 1}, {"d": 0}]
    assert [query.id for query in judged if query.unjudged] == ["1", "3"]


def test_numbers_match_without_leading_zeros_unless_the_id_itself_is_there(tmp_path: Path):
    judged = with_judgements(queries("051", "52"), {"51": {"d": 1}, "052": {"e": 1}}, tmp_path)
    assert [query.grades for query in judged] == [{"d": 1}, {"e": 1}]
    exact = with_judgements(queries("051", "51"), {"51": {"d": 1}}, tmp_path)
    assert [query.grades for query in exact] == [{}, {"d": 1}]


def test_ids_of_the_qrels_that_name_no_query_are_counted_with_their_judgements(tmp_path: Path):
    put(tmp_path, "t.tsv", "051\tOne?\n2\tTwo?\n")
    put(tmp_path, "q.txt", "51 0 d 1\n7 0 d 1\n7 0 e 0\n8 0 d 1\n")
    suite = suite_of(tmp_path, queries={"topics": "t.tsv", "qrels": "q.txt"})
    assert unmatched_topics(suite, load_queries(suite)) == {"7": 2, "8": 1}


def test_judgements_on_no_query_at_all_are_refused(tmp_path: Path):
    with pytest.raises(SuiteError, match="judges none of the 1 queries: 7 is not the id of a query"):
        with_judgements(queries("1"), {"7": {"d": 1}}, tmp_path)


def test_a_negative_query_cannot_have_relevant_documents(tmp_path: Path):
    negative = [TestQuery(id="1", query_text="x", negative=True)]
    with pytest.raises(SuiteError, match="the query 1 is negative and has relevant documents"):
        with_judgements(negative, {"1": {"d": 1}}, tmp_path)
    assert with_judgements(negative, {"1": {"d": 0}}, tmp_path)[0].judgements == {"d": 0}


ids = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Z"], blacklist_characters="#"), min_size=1, max_size=6)


@given(
    table=st.dictionaries(ids, st.dictionaries(ids, st.integers(-2, 5), min_size=1, max_size=4), min_size=1, max_size=4)
)
def test_what_is_written_as_qrels_reads_back(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, dict[str, int]]
):
    lines = [f"{query} 0 {doc} {grade}" for query, grades in table.items() for doc, grade in grades.items()]
    folder = tmp_path_factory.mktemp("qrels")
    assert read_qrels(put(folder, "q.qrels", "\n".join(lines))) == table
