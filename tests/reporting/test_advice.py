from __future__ import annotations

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.reporting.advice import lines_to_copy
from ragval_pipeline.validation.repair.repair_plan import RepairPlan
from tests.reporting import factory


def lines(code: str, *names: str, **lists: list[str]) -> str:
    plan = RepairPlan(**{name: {each: [code] for each in listed} for name, listed in lists.items()})
    found = make_finding(code, [Subject(name=name) for name in names])
    return lines_to_copy(found.reported(), factory.bundle(findings=[found], plan=plan))


@pytest.mark.parametrize("code", CATALOGUE)
def test_no_code_offers_to_delete_what_the_remediation_does_not_list(code: str):
    assert "delete(" not in lines(code, factory.PAGES[0])
    assert "delete(" not in lines(code, factory.PAGES[0], review=["1"])
    offered = lines(code, factory.PAGES[0], review=["1"], delete=["2"], delete_pages=["/a"])
    assert "review_point_ids" not in offered
    assert "Filter" not in offered


def test_points_for_a_person_to_decide_on_are_in_no_code_to_copy():
    offered = lines("chunk.ingested_twice", "/a", review=["1"], reingest=["/a"])
    assert offered == "/a"


def test_points_that_an_ingestion_leaves_are_deleted_after_it():
    offered = lines("integrity.drifted", "1", replaced=["1"], reingest=["/a"])
    assert offered.startswith("# First ingest these pages:\n# /a\n# Then delete")
    assert "remedies['delete_after_ingesting']" in offered


def test_pages_to_ingest_again_are_those_of_the_remediation():
    assert lines("integrity.gone", "1", reingest=["/a", "/b"]) == "/a\n/b"
    assert lines("chunk.duplicate_index", "1", "2", reingest=["/a"]) == "/a"
