from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
import yaml

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.splice import with_numbers, write_numbers

FILE = Path("ragval.yaml")
BOTH = {"min_similarity": 0.41, "relevance_similarity": 0.3}


def changed(text: str, **values: float) -> str:
    return with_numbers(text, "retrieval", values, file=FILE)


def test_only_the_numbers_change() -> None:
    text = (
        "# my suite\n"
        "suite:   'book'   # name\n"
        "retrieval:\n"
        "    top_k: 5\n"
        "    min_similarity:   0.70   # from the seed\n"
        "    relevance_similarity: 0.50\n"
        "criteria: {coverage: 1.0}\n"
    )
    expected = text.replace("0.70 ", "0.41 ").replace("0.50\n", "0.3\n")
    assert changed(text, **BOTH) == expected


def test_line_ends_of_windows_and_a_byte_order_mark_stay() -> None:
    text = "\ufeffsuite: book\r\nretrieval:\r\n  min_similarity: 0.7\r\n\r\n# end\r\n"
    assert changed(text, min_similarity=0.41) == text.replace("0.7", "0.41")


@pytest.mark.parametrize("written", ["0.7", ".7", "7e-1", "+0.70", "null", "~", "'0.7'", '"0.7"', "1"])
def test_every_way_to_write_a_number_is_replaced(written: str) -> None:
    text = f"retrieval:\n  min_similarity: {written} # why\n"
    assert changed(text, min_similarity=0.41) == "retrieval:\n  min_similarity: 0.41 # why\n"


def test_a_key_that_is_not_there_is_added_in_the_sections_own_notation() -> None:
    assert changed("retrieval:\n    top_k: 5  # five\n", min_similarity=0.41) == (
        "retrieval:\n    min_similarity: 0.41\n    top_k: 5  # five\n"
    )
    assert changed("retrieval: {top_k: 5}\n", min_similarity=0.41) == "retrieval: {min_similarity: 0.41, top_k: 5}\n"
    assert changed("retrieval:\r\n  top_k: 5\r\n", min_similarity=0.41) == (
        "retrieval:\r\n  min_similarity: 0.41\r\n  top_k: 5\r\n"
    )


@pytest.mark.parametrize(
    "text", ["retrieval:\n", "retrieval: {}\n", "retrieval: null # none\n", "retrieval: ~\nx: 1\n"]
)
def test_an_empty_section_is_filled(text: str) -> None:
    content = yaml.safe_load(changed(text, **BOTH))
    assert content["retrieval"] == BOTH
    assert content.keys() == yaml.safe_load(text).keys()


@pytest.mark.parametrize(("text", "before"), [("suite: book\n", "suite: book\n"), ("suite: book", "suite: book\n")])
def test_a_section_that_is_not_there_is_added_at_the_end(text: str, before: str) -> None:
    assert changed(text, min_similarity=0.41) == f"{before}retrieval:\n  min_similarity: 0.41\n"


def test_the_same_key_elsewhere_is_left_alone() -> None:
    text = "queries:\n- {query_text: A?, min_similarity: 0.9}\nretrieval: {min_similarity: 0.7}\n"
    assert changed(text, min_similarity=0.41) == text.replace("0.7}", "0.41}")


@pytest.mark.parametrize(
    "value",
    ["${MIN:-0.7}", "*limit", "&own 0.7", "[0.7]", "high"],
    ids=["placeholder", "alias", "anchor", "list", "word"],
)
def test_a_value_that_is_not_a_plain_number_is_refused_with_its_line(value: str) -> None:
    text = f"other: &limit 0.7\nretrieval:\n  min_similarity: {value}\n"
    with pytest.raises(SuiteError, match=r"retrieval.min_similarity: is not a plain number \(line 3\)"):
        changed(text, min_similarity=0.41)


def test_an_emoji_before_the_number_does_not_move_the_place() -> None:
    text = "# 📚 Bücher\nretrieval:\n  min_similarity: 0.7\n"
    assert changed(text, min_similarity=0.41) == text.replace("0.7", "0.41")


def test_the_file_keeps_its_permissions_and_a_link_stays_one(tmp_path: Path) -> None:
    real = tmp_path / "real.yaml"
    real.write_bytes(b"retrieval:\r\n  min_similarity: 0.7\r\n")
    real.chmod(0o640)
    link = tmp_path / "ragval.yaml"
    link.symlink_to(real)
    assert write_numbers(link, "retrieval", {"min_similarity": 0.41})
    assert link.is_symlink()
    assert real.read_bytes() == b"retrieval:\r\n  min_similarity: 0.41\r\n"
    assert os.stat(real).st_mode & 0o777 == 0o640  # noqa: PTH116
    assert not write_numbers(link, "retrieval", {"min_similarity": 0.41})
    assert {path.name for path in tmp_path.iterdir()} == {"real.yaml", "ragval.yaml"}


def test_a_number_that_another_section_shares_is_not_changed_for_it() -> None:
    text = "retrieval: &shared\n  min_similarity: 0.7\nother: *shared\n"
    with pytest.raises(
        SuiteError, match=r"cannot be edited in place\. Write the values yourself: min_similarity: 0\.41"
    ):
        changed(text, min_similarity=0.41)


@pytest.mark.parametrize(("content", "problem"), [(b"- a\n", "holds no settings"), (b"\xff", "cannot be read")])
def test_a_file_that_is_no_suite_is_refused_and_stays_as_it_is(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "ragval.yaml"
    file.write_bytes(content)
    with pytest.raises(SuiteError, match=problem):
        write_numbers(file, "retrieval", BOTH)
    assert file.read_bytes() == content


def test_where_the_disk_takes_no_more_the_suite_stays_as_it_was_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "ragval.yaml"
    file.write_text("suite: book\n", encoding="utf-8")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(SuiteError, match="cannot be written: File too large"):
            write_numbers(file, "retrieval", BOTH)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [
        ("ragval.yaml", "suite: book\n")
    ]
