"""The same suite with some keys changed, before and after its variables are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.load import load_suite, resolve_suite, variant_of
from ragval_pipeline.suite.model import Suite

WRITTEN = """
suite: book
qdrant: {url: "${SOMEWHERE}", collection: book_next}
source: {sitemap: "${SITE}/sitemap.xml"}
criteria: {coverage: 1.0, query_pass_rate: 0.8}
automation: {after_asset: a/b}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    file = tmp_path / "ragval.yaml"
    file.write_text(WRITTEN, encoding="utf-8")
    return load_suite(file)


def test_a_variant_changes_what_it_names_and_nothing_else(suite: Suite) -> None:
    other = variant_of(
        suite,
        {
            "suite": "book_live",
            "qdrant": {"collection": "book"},
            "criteria": {"coverage": {"threshold": 1.0, "required": False}},
            "automation": {"after_asset": None},
        },
    )
    assert (other.suite, other.qdrant.collection, other.automation.after_asset) == ("book_live", "book", None)
    gate = other.criteria["coverage"]
    assert gate is not None
    assert gate.required is False
    assert other.criteria["query_pass_rate"] == suite.criteria["query_pass_rate"]
    assert suite.qdrant.collection == "book_next"


def test_a_variant_reads_its_variables_when_a_run_starts(suite: Suite) -> None:
    other = variant_of(suite, {"suite": "book_live", "qdrant": {"collection": "book"}})
    resolved = resolve_suite(other, {"SOMEWHERE": "http://qdrant:6333", "SITE": "https://docs.example"})
    assert (resolved.suite, resolved.qdrant.url) == ("book_live", "http://qdrant:6333")
    assert resolved.qdrant.collection == "book"


def test_a_change_that_a_suite_does_not_take_is_an_error(suite: Suite) -> None:
    with pytest.raises(SuiteError, match="colection"):
        variant_of(suite, {"qdrant": {"colection": "book"}})


def test_a_suite_made_in_python_has_variants_too(suite: Suite) -> None:
    made = Suite.model_validate({"suite": "book", "qdrant": {"url": "http://q", "collection": "next"}})
    other = variant_of(made, {"suite": "book_live", "qdrant": {"collection": "book"}})
    assert (other.suite, other.qdrant.collection, other.qdrant.url) == ("book_live", "book", "http://q")
    assert made.qdrant.collection == "next"
