"""The demo's ingestion: a code location that knows nothing of ragval's assets."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from ragval_pipeline.demo.definitions import defs, physical_ai_book_index
from ragval_pipeline.orchestration.build import demo_suite
from tests.orchestration.world import QUIET


def test_it_holds_the_one_asset_that_the_demos_suite_waits_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [key] = defs.resolve_asset_graph().materializable_asset_keys
    assert key.to_user_string() == demo_suite().automation.after_asset
    assert defs.resolve_job_def("demo_ingestion")
    assert defs.executor is dg.in_process_executor


def test_materialising_it_builds_the_index_and_plots_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = dg.materialize([physical_ai_book_index], run_config=QUIET)
    [event] = result.get_asset_materialization_events()
    metadata = event.materialization.metadata
    assert (metadata["dagster/row_count"].value, metadata["pages"].value) == (91, 13)
    assert (tmp_path / ".ragval" / "demo" / "qdrant" / "meta.json").is_file()
    assert demo_suite().qdrant.path == tmp_path / ".ragval" / "demo" / "qdrant"
