"""``${NAME}`` and ``${NAME:-default}``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.interpolation import interpolate, interpolate_known
from ragval_pipeline.suite.load import load_suite, resolve_suite
from tests.suite.writing import SMALLEST, refused, write


@pytest.mark.parametrize(
    ("written", "environ", "read"),
    [
        ("${A}", {"A": "x"}, "x"),
        ("${A}", {"A": "  x\n"}, "x"),
        ("${A}/sitemap.xml", {"A": "https://x.org"}, "https://x.org/sitemap.xml"),
        ("${A}-${B}", {"A": "1", "B": "2"}, "1-2"),
        ("${A:-y}", {}, "y"),
        ("${A:-y}", {"A": ""}, "y"),
        ("${A:-y}", {"A": " \t"}, "y"),
        ("${A:-y}", {"A": "x"}, "x"),
        ("${A:-http://localhost:6333}", {}, "http://localhost:6333"),
        ("${A:-}", {}, ""),
        ("$A and $", {}, "$A and $"),
        ("$${A}", {"A": "x"}, "${A}"),
        ("does not start a placeholder", {}, "does not start a placeholder"),
        # What a variable holds is text, not a placeholder.
        ("${A}", {"A": "${B}"}, "${B}"),
    ],
)
def test_placeholders_are_read_from_the_environment(written: str, environ: dict[str, str], read: str):
    assert interpolate(written, environ) == read


def test_placeholders_are_read_at_every_depth_and_other_values_stay():
    written = {"a": ["${X}", {"b": "${X}!"}], "n": 3, "t": True, "none": None}
    assert interpolate(written, {"X": "1"}) == {"a": ["1", {"b": "1!"}], "n": 3, "t": True, "none": None}


@pytest.mark.parametrize(("environ", "says"), [({}, "is not set"), ({"A": " "}, "is empty")])
def test_a_variable_without_default_is_an_error_that_names_file_key_and_variable(environ: dict[str, str], says: str):
    with pytest.raises(SuiteError) as caught:
        interpolate({"q": [{"text": "${A}"}]}, environ, file="ragval.yaml")
    text = f"ragval.yaml: q[0].text: the environment variable A {says}"
    assert str(caught.value) == f"{text}. Set A, or write ${{A:-default}}."


@pytest.mark.parametrize("written", ["${}", "${1A}", "${A-b}", "${A", "${A B}", "x ${A:b} y"])
@pytest.mark.parametrize("read", [interpolate, interpolate_known])
def test_a_malformed_placeholder_is_an_error_before_it_is_sent_anywhere(written: str, read: Any):
    with pytest.raises(SuiteError, match=r"k: contains \$\{ that does not start a placeholder"):
        read({"k": written}, {"A": "x", "b": "y"})


def test_a_key_with_an_empty_placeholder_counts_as_not_given():
    written = {"api_key": "${K:-}", "hosts": ["${H:-}", "x.org"], "blank": "", "both": "${K:-}${H:-}"}
    assert interpolate(written, {}) == {"hosts": ["x.org"], "blank": ""}


def test_an_outline_keeps_what_has_no_value_yet():
    written = {"a": "${A}", "b": "${B:-y}", "c": "${C:-}"}
    assert interpolate_known(written, {}) == {"a": "${A}", "b": "y", "c": "${C:-}"}
    assert interpolate_known(written, {"A": "1", "B": "2", "C": "3"}) == {"a": "1", "b": "2", "c": "3"}


def test_numbers_lists_and_switches_are_read_from_the_environment(tmp_path: Path):
    written = {
        **SMALLEST,
        "retrieval": {"top_k": "${TOP}", "k": ["${TOP}", 3], "exact": "${EXACT}", "min_similarity": "${MIN:-0.4}"},
        "criteria": {"coverage": "${COVERAGE}", "mrr": {"threshold": "${COVERAGE}", "required": "${EXACT}"}},
        "severity": {"query.failed": "${GRADE:-off}"},
    }
    suite = load_suite(write(tmp_path, written))
    read = resolve_suite(suite, {"TOP": "7", "EXACT": "true", "COVERAGE": "0.9"})
    assert (read.retrieval.top_k, read.retrieval.k, read.retrieval.exact) == (7, (7, 3), True)
    assert read.retrieval.min_similarity == 0.4
    assert read.criteria["coverage"] is not None
    assert read.criteria["coverage"].threshold == 0.9
    assert read.severity == {"query.failed": "off"}


def test_a_wrong_value_from_the_environment_names_the_variable_and_never_shows_the_value(tmp_path: Path):
    error = refused(tmp_path, {**SMALLEST, "retrieval": {"top_k": "${COHERE_KEY}"}}, {"COHERE_KEY": "CANARY"})
    assert error.key == "retrieval.top_k"
    assert "COHERE_KEY" in str(error)
    assert "CANARY" not in str(error)


def test_a_suite_is_read_again_from_the_environment_each_time(tmp_path: Path):
    suite = load_suite(write(tmp_path, {**SMALLEST, "report_uri": "${REPORTS:-./reports}"}))
    # Definitions keep the placeholder: values between assets are stored where the run says, not where loading said.
    assert suite.report_uri == "${REPORTS:-./reports}"
    assert resolve_suite(suite, {}).report_uri == str(tmp_path / "reports")
    assert resolve_suite(suite, {"REPORTS": "s3://bucket/r"}).report_uri == "s3://bucket/r"
    assert resolve_suite(resolve_suite(suite, {}), {"REPORTS": "/abs"}).report_uri == "/abs"
