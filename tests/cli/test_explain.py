from __future__ import annotations

from collections.abc import Callable

import pytest

from ragval_pipeline.cli.explain import _sections
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.suite.criteria import all_criteria
from tests.cli.conftest import Ended


def test_every_finding_and_criterion_is_explained() -> None:
    for name in (*CATALOGUE, *(criterion.name for criterion in all_criteria([5]))):
        sections = dict(_sections(name))
        assert len(sections) >= 3, name
        assert all(paragraph.strip() for paragraphs in sections.values() for paragraph in paragraphs), name


def test_a_finding_is_told_with_its_measure_its_line_and_its_remedy(ragval: Callable[..., Ended]) -> None:
    ended = ragval("explain", "integrity.drifted")
    assert ended.code == 0
    for part in (
        "What it says",
        "How it is measured",
        "0.97 (share of a chunk's letters)",
        "What to do",
        "text.mojibake",
    ):
        assert part in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


@pytest.mark.parametrize(("name", "meant"), [("chunk.boilerplate", "text.boilerplate"), ("coverag", "coverage")])
def test_an_unknown_name_is_an_error_with_the_nearest_one(name: str, meant: str, ragval: Callable[..., Ended]) -> None:
    ended = ragval("explain", name)
    assert ended.code == 2
    assert f"Did you mean {meant}?" in ended.err
