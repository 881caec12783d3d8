"""``compare --html``: one page that begins with what changed and names it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Ended, Home
from tests.cli.test_compare_indexes import copied, first_page
from tests.cli.test_history_page import DAYS, kept, words

Ragval = Callable[..., Ended]


def page(ragval: Ragval, file: Path, *arguments: object) -> tuple[Ended, str]:
    ended = ragval("compare", *arguments, "--html", file)
    return ended, file.read_text(encoding="utf-8")


def test_the_page_says_which_criterion_fell_and_from_what_to_what(home: Home, ragval: Ragval) -> None:
    kept(home, home.collection, [1.0, 0.75])
    _, text = page(ragval, home.folder / "two.html", DAYS[0], DAYS[1], "-s", home.suite)
    assert re.search(r"Pages in the index.*?100 %.*?75 %.*?now not met", words(text))
    assert "Pass → Fail" in words(text)
    assert "src=" not in text  # it opens without a network


def test_two_indexes_in_one_page_name_the_page_that_is_lost(home: Home, ragval: Ragval) -> None:
    lost = first_page(home)
    copied(home, without=lost)
    ended, text = page(ragval, home.folder / "two.html", "--with", "next", "-s", home.suite)
    assert ended.code == 1
    assert "1 page lost" in text
    assert lost in text
    assert "smallest loss that is told from chance" in text


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_read(home: Home, ragval: Ragval) -> None:
    ended = ragval("compare", "--with", "next", "-s", home.suite, "--html", home.folder / "no" / "two.html")
    assert ended.code == 2
    assert "a folder that does not exist" in ended.message
