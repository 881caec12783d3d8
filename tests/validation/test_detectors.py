"""The registry of detectors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragval_pipeline import validation
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.partition.leak import RULE as PARTITION_LEAK
from ragval_pipeline.validation.detectors import detector, find_all, registered


@dataclass(frozen=True)
class Pages:
    """Evidence that no room has."""

    names: tuple[str, ...]


@detector(CATALOGUE["coverage.stale_page"], needs=Pages)
def _stale(pages: Pages) -> Iterator[Subject]:
    yield from (Subject(name=name) for name in pages.names)


@detector(CATALOGUE["coverage.missing_page"], needs=Pages)
def _missing(pages: Pages) -> Iterator[Finding]:
    if pages.names:
        yield make_finding("coverage.missing_page", pages.names[:1])


def test_subjects_become_one_finding_and_findings_stay_as_they_are_in_the_order_of_the_catalogue() -> None:
    found = find_all(Pages(("/b", "/a")))

    assert [finding.code for finding in found] == ["coverage.missing_page", "coverage.stale_page"]
    assert [subject.name for subject in found[1].subjects] == ["/a", "/b"]


def test_a_detector_that_sees_nothing_makes_no_finding() -> None:
    assert find_all(Pages(())) == []


def test_a_detector_of_no_code_is_refused() -> None:
    with pytest.raises(ValueError, match="detects no code"):
        detector(needs=Pages)(lambda pages: [])


def test_two_detectors_of_one_code_over_the_same_evidence_are_refused() -> None:
    with pytest.raises(ValueError, match="both detect"):
        detector(CATALOGUE["coverage.stale_page"], needs=Pages)(lambda pages: [])


#: What is made of a system that failed or a check that crashed, where the exception is caught: there is no evidence
#: for a detector to look at.
FAILURES = {
    "check.crashed",
    "embedder.unreachable",
    "index.collection_missing",
    "index.unreachable",
    "source.malformed",
    "source.unreachable",
}


def test_every_code_has_one_query_or_one_detector_but_those_of_failures() -> None:
    every = Counter(code for code, rule in CATALOGUE.items() if rule.sql)
    own = {name: each for name, each in registered().items() if not name.startswith(__name__)}
    every += Counter(code for each in own.values() for code in each.codes)
    # Leaks are seen in the points, and in what a search of the user's answers.
    assert every == {code: 1 for code in CATALOGUE if code not in FAILURES} | {PARTITION_LEAK.code: 2}


def test_every_finding_that_a_room_makes_has_its_detector_there() -> None:
    root = Path(validation.__file__).parent
    made = {
        (file.relative_to(root).parts[0].removesuffix(".py"), code)
        for file in root.rglob("*.py")
        for code in re.findall(r'make_finding\(\s*"([a-z_.]+)"', file.read_text("utf-8"))
    }
    own = {(name.split(".")[2], code) for name, each in registered().items() for code in each.codes}
    assert {(room, code) for room, code in made if code not in FAILURES} <= own


def test_rooms_register_by_being_there() -> None:
    assert all(name.startswith(("ragval_pipeline.validation.", __name__)) for name in registered())
