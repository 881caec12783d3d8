from __future__ import annotations

from typing import get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from upath import UPath

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.reporting.corpus import Corpus, CorpusFiles, PageEntry, PointName, read_corpus
from ragval_pipeline.reporting.subjects import Subjects
from ragval_pipeline.rules.vector.text_mismatch import LOOKS, Look
from ragval_pipeline.validation.facts.tables import page_schema
from ragval_pipeline.validation.report import QualityMetrics
from tests.reporting import factory

URLS = [f"https://x.test/docs/{name}" for name in ("intro", "tags/a", "tags/b", "tags/c")]
CORPUS = Corpus(
    points={f"p{n}": PointName(URLS[0], URLS[0], n, f"Intro Words of chunk {n}") for n in range(4)},
    pages={url: PageEntry(url, url, title, True, stored=3.0, lost="its end")
           for url, title in zip(URLS, ("Intro", "A", "B", "C"), strict=True)},
)  # fmt: skip


def subjects(finding, **more):
    run = factory.report(findings=[finding], quality_metrics=QualityMetrics(total_chunks=4), **more)
    return Subjects(run, CORPUS, [finding]), run.findings[0]


def test_a_point_is_named_by_its_page_its_number_and_its_first_words():
    named, finding = subjects(make_finding("vector.text_mismatch", [
        Subject(name="p2", details={"cosine": 0.123, "looks_like": "noise"}), "elsewhere",
    ]))  # fmt: skip
    found = named.words(finding, "p2")
    assert (found.title, found.place, found.url) == ("Intro", "chunk_index 2", URLS[0])
    assert found.words == "Words of chunk 2"
    assert found.line.startswith(
        "Intro, chunk_index 2: “Words of chunk 2” (its vector has similarity 0.12 to its own text"
    )
    assert found.line.endswith("; it does not resemble the vector of any text)")
    assert named.words(finding, "elsewhere").line == "point elsewhere"


def test_no_vector_is_described_by_the_name_that_programs_read():
    details = {"cosine": 0.5, "looks_like": "another_point", "belongs_to": "p1", "others": ["p1"]}
    named, finding = subjects(make_finding("vector.text_mismatch", [Subject(name="p2", details=details)]))
    assert named.words(finding, "p2").note == (
        "its vector has similarity 0.50 to its own text; it is that of chunk_index 1 of Intro"
    )
    assert LOOKS.keys() == set(get_args(Look))
    assert not [words for words in LOOKS.values() if "_" in words]


def test_a_short_chunk_is_quoted_once_and_its_letters_are_those_that_count():
    named, finding = subjects(make_finding("chunk.too_small", [
        Subject(name="p1", details={"letters": 14, "text": "Intro Words of chunk 1"}),
        Subject(name="p9", details={"letters": 20, "text": "机器人手爪一直闭"}),
    ]))  # fmt: skip
    assert named.words(finding, "p1").line == "Intro, chunk_index 1: “Words of chunk 1” (14 letters)"
    unread = named.words(finding, "p9").line
    assert unread == "point p9: “机器人手爪一直闭” (counts as 20 letters, 2.5 for each of its script)"


@pytest.mark.parametrize(
    ("code", "names", "told"),
    [
        ("coverage.missing_page", URLS, "all 4 pages of the site"),
        ("coverage.missing_page", URLS[1:], "all 3 under /docs/tags/, and no other page is under it"),
        ("coverage.missing_page", URLS[:2], ""),
        ("integrity.not_captured", URLS[:2], "each loses its end"),
        ("chunk.ingested_twice", URLS[:1], "it is stored 3 times"),
        ("text.mojibake", ["p0", "p1"], "all on “Intro”"),
        ("text.mojibake", ["p0", "p1", "p2", "p3"], "all 4 chunks of the index"),
        ("text.mojibake", ["p0"], ""),
    ],
)
def test_many_subjects_are_described_by_what_they_have_in_common(code, names, told):
    named, finding = subjects(make_finding(code, names))
    assert named.pattern(finding) == told


def test_points_without_a_page_are_not_counted_by_pages():
    corpus = Corpus(points={name: PointName(None, None, 0, "Words") for name in ("p0", "p1")})
    finding = make_finding("retrieval.incomplete_metadata", ["p0", "p1"])
    run = factory.report(findings=[finding], quality_metrics=QualityMetrics(total_chunks=4))
    assert Subjects(run, corpus, [finding]).pattern(run.findings[0]) == ""


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        ([{"code": 90, "paragraph": 50}, {"code": 10, "item": 40}], "most of the lost text is code"),
        ([{"code": 90, "paragraph": 50}, {"row": 40}], ""),
        ([{"paragraph": 90}, {"row": 40}], ""),
        ([{}, {"row": 40}], "most of the lost text is tables"),
        ([{}, {}], ""),
    ],
)
def test_losses_at_different_places_of_pages_are_described_by_their_most_common_kind(lost, told):
    pages = {url: PageEntry(url, url, lost_letters=letters) for url, letters in zip(URLS, lost, strict=False)}
    finding = make_finding("integrity.not_captured", URLS[:2])
    run = factory.report(findings=[finding])
    assert Subjects(run, Corpus(pages=pages), [finding]).pattern(run.findings[0]).rpartition("; ")[2] == told


def test_details_are_sentences_and_those_of_an_unknown_kind_still_names_and_values():
    cases = {
        "chunk.index_gap": (
            {"missing": [2, 3], "missing_count": 2, "highest": 7}, "chunk_index 2, 3 missing, the highest is 7"
        ),
        "chunk.too_small": ({"letters": 12, "text": "Intro Words"}, "12 letters"),
        "chunk.duplicate_text": ({"others": ["p1"]}, "the same as chunk_index 1 of Intro"),
        "chunk.over_model_limit": (
            {"tokens": 812, "limit": 512, "embedded_share": 0.63}, "812 tokens; the model reads 512, 63 % of it"
        ),
        "vector.swapped": (
            {"belongs_to": "p1", "others": ["p1"], "cosine": 0.22, "cosine_there": 0.999},
            "its vector has similarity 0.22 to its own text, and 1.00 to chunk_index 1 of Intro",
        ),
        "coverage.foreign_host": (
            {"pages": 1, "points": 7, "urls": ["https://old.example/a"]},
            "1 page with 7 chunks, such as https://old.example/a",
        ),
        "payload.invalid_value": (
            {"value": '"Gears"', "page_url": URLS[0], "title_of": "https://docs.example/gears/"},
            'value "Gears", title of /gears/',
        ),
        "payload.wrong_type": ({"value": -1, "page_url": URLS[0]}, "value -1"),
        "integrity.drifted": (
            {"coverage": 0.9987, "words": 140, "changed_words": 1, "replaced": [{"words": "90", "page": "45"}],
             "inserted": []},
            "99.9 % of it is on the page, 1 of 140 words differs: “90”, where it has “45”",
        ),
        "integrity.not_captured": ({"unknown": 1.5}, "unknown 1.5"),
        "retrieval.hub_chunk": (
            {"queries": 25, "of": 70, "expected": 0.47},
            "answers 25 of 70 questions, where less than one would be expected",
        ),
        "query.dead_target": (
            {"targets": ["/docs/tags/a"], "near": {"/docs/tags/a": URLS[1]}, "query_strings": False, "on_site": False,
             "expected_pages": [], "expected_module": None},
            f"expects /docs/tags/a; did you mean {URLS[1]}?",
        ),
        "regression.query_lost": (
            {"before": {"best_similarity": 0.524, "first_chunk": "p1", "first_page": URLS[0]},
             "now": {"best_similarity": 0.437, "first_chunk": "p9", "first_page": URLS[1]}, "reason": "its page"},
            "first came Intro with 0.524, now A with 0.437",
        ),
        "query.duplicate": ({"others": ["q2"], "contradicting": False}, "the same question as q2"),
        "query.unreachable_gate": (
            {"ceiling": 0.25, "gate": 0.95, "n": 20, "state": "unreachable"},
            "the gate is 0.95, at most 0.25 is possible with 20 queries",
        ),
        "retrieval.crowded_top_k": (
            {"hits": 5, "repeated": 4, "crowded_out": [URLS[1]]},
            "4 of 5 hits nearly repeat a better one; no place is left for A",
        ),
        "retrieval.nondeterministic": ({"overlap": 0.667}, "66.7 % of the hits are the same"),
        "chunk.stale_tail": (
            {"chunk_index": 7, "checked_on_page": True, "embedded_at": "2026-01-01T00:00:00Z",
             "page_embedded_at": "2026-02-01T00:00:00Z"},
            "embedded 2026-01-01T00:00:00Z, the rest of its page 2026-02-01T00:00:00Z",
        ),
        "chunk.token_count_off": ({"claimed": 875, "recounted": 171}, "875 stored, 171 counted"),
        "text.mojibake": (
            {"passages": 3, "example": "thÃ©", "reads": "thé"}, "“thÃ©” should read “thé”, and 2 more passages"
        ),
    }  # fmt: skip
    for code, (details, told) in cases.items():
        named, finding = subjects(make_finding(code, [Subject(name="p0", details=details)]))
        assert named.words(finding, "p0").note == told, code


@pytest.mark.parametrize(
    ("changed", "inserted", "told"),
    [
        (1, [], "1 of 140 words differs"),
        (1, ["not"], "1 of 140 words differs: “not”, which it does not have"),
        (2, ["not", "never"], "2 of 140 words differ, such as “not”, which it does not have"),
    ],
)
def test_a_chunk_that_drifted_names_a_word_that_differs(changed, inserted, told):
    details = {"coverage": 0.99, "words": 140, "changed_words": changed, "replaced": [], "inserted": inserted}
    named, finding = subjects(make_finding("integrity.drifted", [Subject(name="p0", details=details)]))
    assert named.words(finding, "p0").note == f"99 % of it is on the page, {told}"


def test_a_lost_question_with_the_same_first_hit_says_what_it_misses_now():
    hit = {"best_similarity": 0.39, "first_chunk": "p1", "first_page": URLS[0]}
    details = {"before": hit, "now": hit, "reason": "expected page not in the top 5 (found: /docs/intro)"}
    named, finding = subjects(make_finding("regression.query_lost", [Subject(name="q1", details=details)]))
    assert named.words(finding, "q1").note == "expected page not in the top 5"
    vanished = Subject(name="q1", details={"before": hit, "now": None, "reason": "it is no longer asked"})
    named, finding = subjects(make_finding("regression.query_lost", [vanished]))
    assert named.words(finding, "q1").note == "it is no longer asked"


def test_a_failed_question_says_where_its_page_is():
    finding = make_finding("query.failed", ["q1"])
    run = factory.report(findings=[finding])
    located = {"q1": {"rank": 9, "score": 0.51, "searched": 80}}
    note = Subjects(run, CORPUS, [finding], located).words(run.findings[0], "q1").note
    assert note == "its page is at place 9 with 0.510; place 3 has 0.560"


def test_titles_lose_the_name_of_the_site_and_lost_ends_are_seen(tmp_path):
    files = CorpusFiles(facts=[UPath(tmp_path / "pages.parquet")], pages=[UPath(tmp_path / "copies.parquet")])
    blocks = [
        {
            "kind": ("paragraph", "code", "item")[page],
            "letters": 100,
            "held": held,
            "start": 100 * n,
            "digest": 10 * page + n,
            "text": "",
            "cut": 0,
            "weight": 1.0,
        }
        for page, helds in enumerate([(100, 100), (100, 0), (0, 100)])
        for n, held in enumerate(helds)
    ]
    rows = [
        {"page_key": url, "url": url, "state": "read", "problem": "", "unfit": None, "chunks": 1, "textless": 0,
         "blocks": blocks[2 * n : 2 * n + 2], "beside": [], "anchors": [], "damaged": []}
        for n, url in enumerate(URLS[:3])
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows, schema=page_schema()), tmp_path / "pages.parquet")
    titles = [{"page_key": url, "url": url, "title": f"{url[-1].upper()} | Site"} for url in URLS[:3]]
    pq.write_table(pa.Table.from_pylist(titles), tmp_path / "copies.parquet")
    payload = [{"point_id": url, "page_key": url, "page_url": url, "title": None} for url in URLS[:3]]
    pq.write_table(pa.Table.from_pylist(payload), tmp_path / "payload.parquet")
    files = CorpusFiles([UPath(tmp_path / "payload.parquet")], facts=files.facts, pages=files.pages)
    found = [(page.title, page.captured, page.lost, page.lost_letters) for page in read_corpus(files, ()).site]
    assert found == [
        ("O", 1.0, None, {}), ("A", 0.5, "its end", {"code": 100}), ("B", 0.5, "its beginning", {"item": 100}),
    ]  # fmt: skip


def test_a_page_without_a_title_is_named_by_its_first_heading_if_that_is_of_the_page(tmp_path):
    headings = {"a": [{"level": 1, "text": "Error lights"}], "b": [{"level": 2, "text": "Descaling"}], "c": []}
    copies = [{"page_key": key, "url": f"/{key}", "title": None, "headings": told} for key, told in headings.items()]
    pq.write_table(pa.Table.from_pylist(copies), tmp_path / "copies.parquet")
    found = read_corpus(CorpusFiles(pages=[UPath(tmp_path / "copies.parquet")]), ())
    assert [page.name for page in found.pages.values()] == ["Error lights", "/b", "/c"]


def test_evidence_that_cannot_be_read_costs_names_and_not_the_report(tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"no parquet")
    found = read_corpus(CorpusFiles(payload=[UPath(tmp_path / "broken.parquet")]), {"p1"})
    assert (found.points, found.pages, list(found.lengths)) == ({}, {}, [])


def test_the_first_words_of_a_chunk_end_with_a_word_wherever_its_beginning_was_cut(tmp_path):
    texts = ["one line", "word " * 100, "x" * 500]
    payload = [
        {"point_id": f"p{n}", "page_key": "/a", "page_url": "/a", "source_url": "/a", "title": "A", "chunk_index": n,
         "text": text} for n, text in enumerate(texts)
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(payload), tmp_path / "payload.parquet")
    corpus = read_corpus(CorpusFiles([UPath(tmp_path / "payload.parquet")]), {"p0", "p1", "p2"})
    words = [corpus.points[name].words for name in ("p0", "p1", "p2")]
    assert words[0] == "one line"
    assert words[1].endswith("word…")
    assert set(words[2]) == {"x", "…"}
