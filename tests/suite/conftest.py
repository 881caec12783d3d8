from __future__ import annotations

import os

import pytest

from ragval_pipeline.suite.profiles.table import PROFILES


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a developer has set decides a test."""
    for name in {variable.name for profile in PROFILES.values() for variable in profile.variables}:
        monkeypatch.delenv(name, raising=False)
    assert not [name for name in os.environ if name.startswith("RAGVAL_TEST_")]
