"""What ``from ragval_pipeline import ...`` offers, and the run that a notebook holds."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import ragval_pipeline
from ragval_pipeline import Run, SuiteError, load_suite, validate
from ragval_pipeline.demo.workspace import DemoHome
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.sources.history import HistoryNotReadError
from ragval_pipeline.testing.defects import plant_in_demo
from tests.reporting.factory import report

pytestmark = pytest.mark.filterwarnings("ignore")


def test_every_public_name_is_there_and_importing_the_package_imports_none_of_them():
    assert [name for name in ragval_pipeline.__all__ if getattr(ragval_pipeline, name, None) is None] == []
    program = "import sys, ragval_pipeline; print('pydantic' in sys.modules, 'dagster' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.fixture(scope="module")
def broken(demo: DemoHome, tmp_path_factory: pytest.TempPathFactory) -> Run:
    own = replace(demo, home=shutil.copytree(demo.home, tmp_path_factory.mktemp("python") / "demo"))
    plant_in_demo(own, "coverage.missing_page")
    return validate(own.suite_file, only=["coverage", "chunks", "integrity"])


def test_findings_and_facts_are_frames_that_agree_with_the_report(broken: Run):
    counts = {finding.code: finding.count for finding in broken.report.findings}
    assert counts["coverage.missing_page"] > 0
    assert broken.findings.groupby("code").size().to_dict() == counts
    assert all(isinstance(details, dict) for details in broken.findings.details)
    missing = broken.findings[broken.findings.code == "coverage.missing_page"].subject
    pages = broken.facts.pages
    assert set(pages[pages.chunks == 0].url) == set(missing)
    assert len(broken.facts.chunks) == broken.report.quality_metrics.total_chunks


def test_a_kept_run_is_read_back_from_its_folder(broken: Run):
    again = Run.read(Path(broken.folder))
    assert again.report == broken.report
    assert again.verdict == broken.verdict


def test_a_run_without_its_findings_file_says_so(broken: Run, tmp_path: Path):
    with pytest.raises(HistoryNotReadError, match=r"findings\.parquet"):
        _ = Run(broken.report, str(tmp_path)).findings


def test_the_card_of_a_run_names_what_fails_and_holds_no_markup_of_the_index(broken: Run):
    card = broken._repr_html_()
    assert "Pages in the index" in card
    assert "of the site ha" in card
    assert "<td>?</td>" not in card
    assert "not measured" in card
    spoilt = Run(report("fail", suite="<script>alert(1)</script>"), "<b>")
    assert "<script>" not in spoilt._repr_html_()
    assert "<code>&lt;b&gt;</code>" in spoilt._repr_html_()


def test_opening_a_report_that_is_not_here_says_so(tmp_path: Path):
    for folder in (str(tmp_path), "s3://bucket/runs/1"):
        with pytest.raises(SuiteError, match=r"report\.html"):
            Run(report("pass"), folder).open()


def test_a_path_does_for_a_suite(tmp_path: Path):
    (tmp_path / "ragval.yaml").write_text("suite: docs\nqdrant: {path: q, collection: docs}\nqueries: [Why?]\n")
    by_path = build_validation_defs(tmp_path / "ragval.yaml")
    loaded = build_validation_defs(load_suite(tmp_path / "ragval.yaml"))
    assert {spec.key for spec in by_path.resolve_all_asset_specs()} == {
        spec.key for spec in loaded.resolve_all_asset_specs()
    }
