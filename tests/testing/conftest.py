from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.demo.workspace import DemoHome
from ragval_pipeline.testing.defects import Corpus


@pytest.fixture(scope="session")
def base(demo: DemoHome) -> Corpus:
    """The demo as a corpus; copy it before changing it."""
    return Corpus.load(demo.home)


@pytest.fixture
def corpus(base: Corpus, tmp_path: Path) -> Corpus:
    """A copy of the demo that a test may spoil."""
    return base.copy_to(tmp_path / "world")


@pytest.fixture
def validate() -> Callable[[Corpus], Any]:
    """Write a corpus and run the whole validation on it: the report and the folder of the run."""

    def run(corpus: Corpus) -> Any:
        from ragval_pipeline.orchestration.run import run_suite
        from ragval_pipeline.suite.load import load_suite
        from ragval_pipeline.testing.defects import resources_of

        return run_suite(load_suite(corpus.write()), resources=resources_of(corpus.services))

    return run
