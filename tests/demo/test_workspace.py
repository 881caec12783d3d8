from __future__ import annotations

from pathlib import Path

import pytest

from ragval_pipeline.demo import workspace
from ragval_pipeline.demo.workspace import DemoHome, build_demo
from ragval_pipeline.suite.load import load_suite
from tests.demo.conftest import read_points


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_built_demo_holds_site_index_suite_and_queries_and_nothing_else(demo: DemoHome):
    assert _files(demo.home) == ["qdrant", "queries.yaml", "ragval.yaml", "site"]
    assert _files(demo.home.parent) == ["demo"]
    assert (demo.home / "queries.yaml").is_file()
    assert (demo.site / "sitemap.xml").is_file()


def test_the_suite_file_points_into_the_demos_own_folder(demo: DemoHome):
    suite = load_suite(demo.suite_file)
    assert suite.suite == "physical_ai_book"
    assert suite.qdrant.path == demo.qdrant
    assert suite.qdrant.collection == demo.collection
    assert suite.source is not None
    assert Path(suite.source.sitemap) == demo.site / "sitemap.xml"
    assert suite.source.site_root == demo.site
    assert Path(suite.report_uri) == demo.reports
    assert suite.queries == demo.home / "queries.yaml"
    assert suite.automation.after_asset == "demo_ingestion/physical_ai_book_index"


def test_building_again_replaces_what_was_changed_and_keeps_reports(tmp_path: Path):
    first = build_demo(tmp_path / "demo")
    report = first.reports / "physical_ai_book" / "run" / "validation_report.json"
    report.parent.mkdir(parents=True)
    report.write_text("{}")
    (first.home / "queries.yaml").write_text("spoilt")
    (first.site / "stray.html").write_text("stray")
    second = build_demo(tmp_path / "demo")
    assert report.read_text() == "{}"
    assert (second.home / "queries.yaml").read_text().startswith("# Test queries")
    assert not (second.site / "stray.html").exists()
    assert len(read_points(second)) == second.ingestion.chunks == first.ingestion.chunks


def test_a_build_that_breaks_off_leaves_the_older_demo_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    older = build_demo(tmp_path / "demo")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(workspace, "ingest", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build_demo(tmp_path / "demo")
    assert _files(tmp_path) == ["demo"]
    assert len(read_points(older)) == older.ingestion.chunks
