from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ragval_pipeline.demo.workspace import DemoHome
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.testing.defects import Corpus, plant_in_demo, verify


@pytest.fixture
def own_demo(demo: DemoHome, tmp_path: Path) -> DemoHome:
    return replace(demo, home=shutil.copytree(demo.home, tmp_path / "demo"))


def test_a_defect_of_a_service_leaves_the_folder_alone_and_gives_resources(own_demo: DemoHome, without_gx: None):
    before = Corpus.load(own_demo.home)
    spoilt = plant_in_demo(own_demo, "index.changed_during_read")
    after = Corpus.load(own_demo.home)
    assert (after.site, after.queries, after.settings) == (before.site, before.queries, before.settings)
    run = run_suite(load_suite(own_demo.suite_file), resources=spoilt.resources)
    assert verify(spoilt.planted[0], run.report, folder=run.folder) == []
    assert run.report.index["simulated"] is True


def test_an_unknown_defect_is_an_error_before_anything_is_touched(demo: DemoHome):
    before = demo.suite_file.stat().st_mtime_ns
    with pytest.raises(SuiteError, match=r"query\.failed"):
        plant_in_demo(demo, "query.faild")
    assert demo.suite_file.stat().st_mtime_ns == before
