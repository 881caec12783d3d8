"""Asking one question, and looking at a kept run again."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ended, Home

QUESTION = "Why does having a body make artificial intelligence harder than a chatbot?"


def test_each_hit_has_its_rank_score_page_chunk_and_words(home: Home, ragval: Callable[..., Ended]) -> None:
    ended = ragval("search", "-s", home.suite, "--top-k", "3", QUESTION)
    assert ended.code == 0
    first, second = ended.out.splitlines()[:2]
    assert "1 0." in first
    assert "chunk_index 0" in first
    assert second.split()[0] == "https://physical-ai-book.example/docs/intro"
    assert "chatbot" in ended.out
    assert "3 hits; " in ended.out
    assert "at or above retrieval.min_similarity" in ended.out


def test_hits_below_the_threshold_are_shown_too(home: Home, ragval: Callable[..., Ended]) -> None:
    home.edit(retrieval={"min_similarity": 0.99})
    found = ragval("search", "-s", home.suite, "--json", QUESTION).json
    assert len(found["results"]) == found["total_found"] == 5
    assert max(hit["similarity_score"] for hit in found["results"]) < 0.99


def test_what_the_answer_says_of_hits_below_the_threshold_is_true(home: Home, ragval: Callable[..., Ended]) -> None:
    home.edit(retrieval={"min_similarity": 0.99})
    told = "5 hits; 0 of them at or above retrieval.min_similarity (0.99)"
    assert ragval("search", "-s", home.suite, "--json", QUESTION).json["message"] == told
    assert told in ragval("search", "-s", home.suite, QUESTION).out


@pytest.mark.parametrize(("text", "words"), [("  ", "must not be empty"), ("x" * 9000, "8000")])
def test_what_nobody_can_search_for_is_refused(text: str, words: str, home: Home, ragval: Callable[..., Ended]) -> None:
    ended = ragval("search", "-s", home.suite, text)
    assert ended.code == 2
    assert words in ended.message


def test_a_failed_system_is_named_and_is_no_empty_answer(home: Home, ragval: Callable[..., Ended]) -> None:
    home.edit(qdrant={"collection": "none"})
    ended = ragval("search", "-s", home.suite, QUESTION)
    assert ended.code == 3
    assert "none" in ended.message
    assert ended.out == ""


def test_a_kept_run_shows_its_summary_again_by_name_or_by_folder(home: Home, ragval: Callable[..., Ended]) -> None:
    ran = ragval("run", "-s", home.suite, "--only", "coverage", "--output", "copy")
    shown = ragval("show", "-s", home.suite)
    # The time that a person waited, start included, is known only while they do.
    seconds = re.compile(r"\d+\.\d s\b")
    assert shown.code == 0
    assert seconds.sub("", shown.out) == seconds.sub("", ran.out.partition("Copied to")[0])
    by_folder = ragval("show", "copy")
    assert "PASS" in by_folder.out
    assert by_folder.out.replace(str(Path("copy")), "") != by_folder.out
    (kept,) = home.reports()
    assert ragval("show", "-s", home.suite, "--json").stdout == kept.read_bytes()
