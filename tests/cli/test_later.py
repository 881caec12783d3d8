from __future__ import annotations

import re

import pytest

from ragval_pipeline.cli.later import LATER, keys_for_later
from ragval_pipeline.suite.keys import key_paths
from ragval_pipeline.suite.model import Suite
from tests.cli.conftest import REPOSITORY


def test_every_key_for_later_is_a_key_of_the_suite() -> None:
    assert set(LATER) <= set(key_paths(Suite))


@pytest.mark.parametrize("key", LATER)
def test_a_key_for_later_is_not_used_by_a_run(key: str) -> None:
    """Settings are read in ``orchestration`` only; when this fails, the key works now and must leave the table."""
    use = re.compile(rf"\.{key.rpartition('.')[2]}\b")
    files = (REPOSITORY / "ragval_pipeline" / "orchestration").rglob("*.py")
    assert [file.name for file in files if use.search(file.read_text(encoding="utf-8"))] == []


def test_only_keys_that_are_set_are_named() -> None:
    written = {"retrieval": {"top_k": 5}, "history": {"baseline": None, "keep_runs": 5}, "automation": None}
    assert keys_for_later(written) == ["history.keep_runs"]
