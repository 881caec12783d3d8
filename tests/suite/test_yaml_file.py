"""Reading YAML: what is refused, and that the message says where."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.yaml_file import parse_yaml, read_text
from ragval_pipeline.text.printing import printable
from tests.suite.writing import one_line

FILE = Path("suite.yaml")


def problem_of(text: str) -> str:
    with pytest.raises(SuiteError) as caught:
        parse_yaml(text, file=FILE)
    return str(one_line(caught.value))


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: [1, 2\nb: 3\n", 2), ("a: 1\n b: 2\n", 2), ("a: 'x\n", 2), ("a: 1\n\tb: 2\n", 2), ("a: 1\n---\nb: 2\n", 2),
     ("a: @x\n", 1), ("a: 1\nb: {c: 1, d\n\n", 4)],
)  # fmt: skip
def test_broken_yaml_names_the_line(text: str, line: int):
    assert f"suite.yaml: is not readable YAML at line {line}, column " in problem_of(text)


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("a: 1\nb: 2\na: 3\n", "a", 3),
        ("x:\n  a: 1\n  a: 1\n", "a", 3),
        ("- {a: 1, a: 2}\n", "a", 1),
        ("1: a\n1: b", "1", 2),
    ],
)
def test_a_duplicate_key_is_refused(text: str, key: str, line: int):
    problem = problem_of(text)
    assert f"at line {line}, " in problem
    assert f"the key {key} occurs twice" in problem


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("a: 1\n\tb: 2\n", "there is a tab. Indent with spaces."),
        ("a:\n  - 1\n \t- 2\n", "there is a tab. Indent with spaces."),
        ("a: 1\na: 2\n", "the key a occurs twice. Keep one of the two."),
        ("a: [1, 2\nb: 3\n", "Check indentation, colons and quotes there and in the line above."),
        ("a: *b\n", "put a text that starts with * in quotes"),
        ('a: "C:\\Users"\n', "write / instead, or take single quotes."),
        ('a: "C:\\docs"\n', "write / instead, or take single quotes."),
    ],
)
def test_text_that_is_not_yaml_is_an_error_with_a_remedy(text: str, remedy: str):
    assert problem_of(text).endswith(remedy)


def test_a_merged_key_may_be_given_again():
    text = "base: &base {a: 1, b: 2}\nover: {<<: *base, a: 3}\n"
    assert parse_yaml(text, file=FILE)["over"] == {"a": 3, "b": 2}


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['touch pwned']",
        "!!python/name:os.system",
        "!env X",
        "!!binary x y",
        "!include x",
    ],
)
def test_tags_are_refused(tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert "suite.yaml: is not readable YAML" in problem_of(f"a: {tag}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{a: " * 100_000,
        "- " * 100_000 + "x",
        "? " * 50_000 + "x",
        "\n".join(" " * i + "a:" for i in range(1500)),
    ],
    ids=["flow list", "flow mapping", "block list", "complex key", "indents"],
)
def test_bottomless_nesting_ends_in_an_error_and_not_in_a_crash(text: str):
    assert "suite.yaml: is " in problem_of(text)


def test_aliases_that_multiply_are_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "aliases that expand to too much" in problem_of("\n".join(lines))


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a {b: [{c: *a}]}"])
def test_an_alias_that_holds_itself_is_refused(text: str):
    assert "aliases that expand to too much" in problem_of(text)


def test_an_alias_of_nothing_does_not_repeat_its_name():
    problem = problem_of("key: *secret\n")
    assert "secret" not in problem
    assert "put a text that starts with * in quotes" in problem


@pytest.mark.parametrize("text", ["a: 2024-13-45", "a: \x00", "? [a]\n: b\n", "a: 0o8"])
def test_odd_scalars_end_in_a_value_or_in_one_line(text: str):
    try:
        parse_yaml(text, file=FILE)
    except SuiteError as error:
        one_line(error)


def test_a_byte_order_mark_is_dropped(tmp_path: Path):
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbfsuite: book\n")
    assert read_text(file, kind="suite file") == "suite: book\n"


def test_other_encodings_are_refused_with_the_byte(tmp_path: Path):
    file = tmp_path / "a.yaml"
    file.write_bytes("name: Café".encode("latin-1"))
    with pytest.raises(SuiteError, match=r"is not UTF-8 text \(byte 9\)\. Save it as UTF-8\."):
        read_text(file, kind="suite file")


def test_a_path_that_no_file_system_has_is_an_error():
    with pytest.raises(SuiteError, match="cannot be read"):
        read_text(Path("a\0b.yaml"), kind="suite file")


def test_what_users_wrote_is_shown_in_one_line():
    assert printable("a\nb\x1b[31m\u202e") == "a\\nb\\x1b[31m\\u202e"
    assert printable("x" * 100) == "x" * 77 + "..."
    assert printable("Café 5") == "Café 5"


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path):
    file = tmp_path / "queries.yaml"
    os.mkfifo(file)
    with pytest.raises(SuiteError, match="is a pipe or device, not a query file"):
        read_text(file, kind="query file")
