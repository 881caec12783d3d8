"""What a fault is called: the words must send nobody to the wrong place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.demo.workspace import DemoHome, build_demo
from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.qdrant.connect import open_client
from ragval_pipeline.sources.qdrant.reader import CollectionReader
from ragval_pipeline.sources.retry import RetryPolicy
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.suite.model import QdrantSettings
from ragval_pipeline.testing.faults.qdrant_server import QdrantStandIn
from tests.faults.test_moving_index import run_with
from tests.orchestration.world import NAME
from tests.suite.writing import write


def test_a_hit_without_a_score_is_a_matter_of_vectors_and_not_of_the_address() -> None:
    with QdrantStandIn() as server:
        server.fail("no score", path="/query")
        with open_client(QdrantSettings(url=server.url, collection="docs")) as client:
            reader = CollectionReader(client, collection="docs", place="Qdrant", policy=RetryPolicy(max=0))
            with pytest.raises(SystemFailure, match="hits without a score") as failure:
                reader.search([0.0, 1.0], limit=3, fields=(), exact=False)
    assert "qdrant.url" not in str(failure.value)


def test_a_collection_that_vanished_during_the_run_was_there(tmp_path: Path) -> None:
    def vanish(client: Any) -> None:
        client.delete_collection(NAME)

    demo: DemoHome = build_demo(tmp_path / "demo")
    report = run_with(demo, tmp_path, vanish).report
    assert report.verdict == "error"
    [finding] = [finding for finding in report.findings if finding.code == "index.collection_missing"]
    told = f"{finding.message} {finding.cause} {finding.remedy}"
    assert "was there when the run began, and is gone" in told
    assert "Run the ingestion first" not in told


def test_a_suite_name_that_dagster_refuses_is_an_error_of_the_suite(tmp_path: Path) -> None:
    smallest = {"qdrant": {"path": "q", "collection": "docs"}}
    assert load_suite(write(tmp_path, {"suite": "a" * 63, **smallest})).suite == "a" * 63
    with pytest.raises(SuiteError, match="63"):
        load_suite(write(tmp_path, {"suite": "a" * 64, **smallest}))
