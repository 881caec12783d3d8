from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.conftest import Ended, Home

Ragval = Callable[..., Ended]

pytestmark = pytest.mark.usefixtures("without_gx")

PAGE = "https://physical-ai-book.example/docs/module-3-isaac/ch1-isaac-sim"
PHRASE = "Isaac Sim"


def test_what_must_be_absent_is_named_and_its_words_stand_in_no_file_of_the_report(home: Home, ragval: Ragval) -> None:
    home.edit(absent=[PAGE, {"phrase": PHRASE}, "nobody wrote this sentence"])
    ended = ragval("run", "-s", home.suite, "--json", "--only", "metadata,queries,coverage")
    assert ended.code == 1
    found = {entry["code"]: entry for entry in ended.json["findings"]}
    assert set(found["absent.present"]["details"]["entries"]) == {PAGE, "phrase 2"}
    assert {
        subject["name"] if isinstance(subject, dict) else subject for subject in found["absent.found"]["subjects"]
    } == {
        PAGE,
        "phrase 2",
    }
    [report] = home.reports()
    written = [file for file in report.parent.rglob("*") if file.is_file() and file.suffix != ".parquet"]
    assert len(written) > 10
    assert {file.name for file in written if PHRASE.lower() in file.read_text(errors="replace").lower()} == set()
    assert PHRASE.lower() not in f"{ended.out}{ended.err}".lower()


def test_a_phrase_that_a_report_uses_itself_takes_no_report_away(home: Home, ragval: Ragval) -> None:
    home.edit(absent=["pass", "error", "coverage", {"phrase": "2026"}])
    ended = ragval("run", "-s", home.suite, "--json", "--only", "coverage")
    assert ended.code == 0, ended.err
    assert ended.json["verdict"] == "pass"


def test_the_id_of_a_question_says_no_phrase_that_its_words_hold(home: Home, ragval: Ragval) -> None:
    home.edit(absent=[PHRASE], queries=[{"query_text": "What is Isaac Sim for?", "relevant_urls": [PAGE]}])
    ragval("run", "-s", home.suite, "--only", "queries")
    [report] = home.reports()
    trec = [report.parent / "run.trec", report.parent / "qrels.trec"]
    assert [file.name for file in trec if "what-is-isaac-sim" in file.read_text().lower()] == []


def test_a_list_that_is_not_there_is_an_error_before_anything_is_read(home: Home, ragval: Ragval) -> None:
    home.edit(absent="nowhere.txt")
    ended = ragval("run", "-s", home.suite, "--only", "metadata")
    assert ended.code == 2
    assert "nowhere.txt" in ended.message
    assert home.reports() == []
