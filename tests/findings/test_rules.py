"""A code is named by its file in ``rules/``, which types what is measured; everything else asks the rule."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import ragval_pipeline
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.rules.chunk.duplicate_index import Details as Index
from ragval_pipeline.rules.chunk.index_gap import Details
from ragval_pipeline.rules.details import read, written

PACKAGE = Path(ragval_pipeline.__file__).parent
#: Where codes may be written: by planters, profiles of seeds, and thresholds, which name criteria and groups, too.
MAY = ("rules/", "testing/", "suite/profiles/", "validation/thresholds.py")
#: Files that still do, and how often.
STILL = {"findings/catalogue.py": len(CATALOGUE)}


def test_codes_are_taken_from_their_rules() -> None:
    written = Counter(
        name
        for path in PACKAGE.rglob("*.py")
        if not (name := path.relative_to(PACKAGE).as_posix()).startswith(MAY)
        for code in re.findall(r"\"([a-z]+\.[a-z_]+)\"", path.read_text("utf-8"))
        if code in CATALOGUE
    )
    assert written == STILL


def test_rules_that_are_alike_have_a_property_in_common_instead_of_a_list() -> None:
    several = re.compile(r"[{(\[]\s*[A-Z_]+\.code,\s+[A-Z_]+\.code")
    assert not [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if not path.relative_to(PACKAGE).as_posix().startswith(MAY) and several.search(path.read_text("utf-8"))
    ]


def test_properties_of_rules_name_those_that_they_are_made_for() -> None:
    def named(name: str) -> set[str]:
        return {code for code, rule in CATALOGUE.items() if getattr(rule, name)}

    assert named("names_stored_pages") == {"coverage.orphan_page", "coverage.url_variant", "coverage.loopback_host"}
    assert named("names_lost_texts") == {"coverage.missing_page", "integrity.not_captured"}
    assert named("names_unread_pages") == {"source.page_unfit", "integrity.page_unreadable"}
    assert named("compares_results") == {"regression.query_lost", "regression.significant_drop"}


#: Errors of outside systems have details of their own.
OF_ERRORS = (
    "errors.py",
    "sources/search/methods.py",
    "sources/site/page_reader.py",
    "testing/defects/planters/index.py",
)


def test_details_are_read_by_their_types() -> None:
    by_key = re.compile(r"\bdetails(\[\"|\.(get|pop)\(\")")
    found = {
        name
        for path in PACKAGE.rglob("*.py")
        if not (name := path.relative_to(PACKAGE).as_posix()).startswith(OF_ERRORS)
        and by_key.search(path.read_text("utf-8"))
    }
    # The typed properties of what every finding and subject may have.
    assert found == {"findings/model.py"}


def test_details_are_made_by_their_types() -> None:
    named = re.compile(r"from (ragval_pipeline\.rules\.[a-z_.]+) import [^\n]*\b(Details|Held)\b")
    made = {
        (module, name)
        for path in (PACKAGE / "validation").rglob("*.py")
        for module, name in named.findall(path.read_text("utf-8"))
    }
    typed = {
        (rule.details.__module__, rule.details.__name__) for rule in CATALOGUE.values() if rule.details and not rule.sql
    }
    # Its detector is that of failed queries, which have the same fields.
    assert typed - made == {("ragval_pipeline.rules.query.negative_scored_high", "Details")}


def test_what_is_not_measured_is_left_out_of_details_and_none_among_what_always_is_stays() -> None:
    assert written(Index(3, ["a"], None)) == {"chunk_index": 3, "others": ["a"], "embedded_at": None}
    assert written(Index(3, ["a"], None, older=False))["older"] is False


def test_details_that_lack_what_is_always_measured_are_refused_and_unknown_ones_left_out() -> None:
    assert read(Details, {"missing": [1], "missing_count": 1, "later": True}) == Details([1], 1)
    with pytest.raises(TypeError, match="missing_count"):
        read(Details, {"missing": [1]})
