"""Every kind of bad input ends with its exit code, one clear line, no traceback, and the files that belong to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.testing.faults.cohere_server import CohereStandIn
from ragval_pipeline.testing.faults.http_host import refused_url, serving
from tests.cli.conftest import Ended, Home

Ragval = Callable[..., Ended]
KEY = "secret-key-1234567890"


def refuses(home: Home, ended: Ended, *words: str) -> None:
    """Exit code 2: one line, and nothing written."""
    assert ended.code == 2
    for word in words:
        assert word in ended.message
    assert "Traceback" not in ended.err
    assert ended.stdout == b""
    assert not (home.folder / "reports").exists()


def reported(home: Home, ended: Ended, code: int, verdict: str) -> dict[str, Any]:
    """Any other code: one line, and a whole report whose verdict fits."""
    assert ended.code == code, ended.err
    assert ended.message
    assert "Traceback" not in ended.err + ended.out
    [file] = home.reports()
    report: dict[str, Any] = json.loads(file.read_bytes())
    assert report["verdict"] == verdict
    names = {path.name for path in file.parent.iterdir()}
    assert {"report.html", "junit.xml", "summary.md", "findings.parquet", "remediation.json"} <= names
    return report


def codes(report: dict[str, Any]) -> set[str]:
    return {finding["code"] for finding in report["findings"]}


def criterion(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in report["criteria"] if entry["name"] == name)


def write_queries(home: Home, text: str) -> None:
    (home.folder / "queries.yaml").write_text(text, encoding="utf-8")


def test_an_unknown_suite_key_names_the_nearest(home: Home, ragval: Ragval) -> None:
    home.edit(retrievel={"top_k": 5})
    refuses(home, ragval("run", "-s", home.suite), "retrievel", "retrieval")


def test_a_suite_file_that_is_not_there(home: Home, ragval: Ragval) -> None:
    refuses(home, ragval("run", "-s", home.folder / "nope.yaml"), "nope.yaml", "no such suite file")


def test_a_query_file_that_is_not_there(home: Home, ragval: Ragval) -> None:
    home.edit(queries="nope.yaml")
    refuses(home, ragval("run", "-s", home.suite), "nope.yaml", "no such query file")


def test_a_query_without_text(home: Home, ragval: Ragval) -> None:
    write_queries(home, "- id: first\n  expected_module: Intro\n")
    refuses(home, ragval("run", "-s", home.suite), "queries.yaml", "[0]", "text")


def test_a_similarity_above_one(home: Home, ragval: Ragval) -> None:
    home.edit(retrieval={"min_similarity": 1.7})
    refuses(home, ragval("run", "-s", home.suite), "retrieval.min_similarity")


def test_a_similarity_above_one_in_a_query(home: Home, ragval: Ragval) -> None:
    write_queries(home, "- query_text: What is a joint?\n  min_similarity: 1.7\n")
    refuses(home, ragval("run", "-s", home.suite), "min_similarity")


def test_a_variable_that_is_not_set(home: Home, ragval: Ragval) -> None:
    home.edit(qdrant={"path": "${NOWHERE_SET}"})
    refuses(home, ragval("run", "-s", home.suite), "NOWHERE_SET", "qdrant.path")


def test_a_key_that_is_missing(home: Home, ragval: Ragval) -> None:
    home.edit(embedding={"provider": "cohere", "api_key": "${COHERE_API_KEY:-}"})
    refuses(home, ragval("run", "-s", home.suite), "embedding.api_key", "COHERE_API_KEY")


def test_a_group_that_does_not_exist(home: Home, ragval: Ragval) -> None:
    refuses(home, ragval("run", "-s", home.suite, "--only", "coverage,metdata"), "metdata", "Did you mean metadata?")


def test_only_without_a_group(home: Home, ragval: Ragval) -> None:
    refuses(home, ragval("run", "-s", home.suite, "--only", ","), "--only")


def test_an_output_that_is_a_file(home: Home, ragval: Ragval) -> None:
    refuses(home, ragval("run", "-s", home.suite, "--output", home.suite / "below"), "--output", "is a file")


def test_a_place_for_reports_that_is_a_file(home: Home, ragval: Ragval) -> None:
    home.edit(report_uri="queries.yaml/reports")
    refuses(home, ragval("run", "-s", home.suite), "report_uri", "is a file")


def test_a_site_folder_that_is_not_there(home: Home, ragval: Ragval) -> None:
    home.edit(source={"site_root": "nowhere"})
    refuses(home, ragval("run", "-s", home.suite), "source.site_root", "nowhere")


def test_a_host_alias_that_is_no_host(home: Home, ragval: Ragval) -> None:
    home.edit(source={"host_aliases": ["no host!"]})
    refuses(home, ragval("run", "-s", home.suite), "source.host_aliases")


def test_an_empty_query_file_leaves_a_report(home: Home, ragval: Ragval) -> None:
    write_queries(home, "")
    report = reported(home, ragval("run", "-s", home.suite), 4, "not_measured")
    assert criterion(report, "query_pass_rate")["verdict"] == "not_measured"
    assert criterion(report, "coverage")["verdict"] == "met"


def test_an_empty_collection_measures_nothing(home: Home, ragval: Ragval) -> None:
    from qdrant_client import QdrantClient, models

    with closing(QdrantClient(path=str(home.folder / "qdrant"))) as client:
        client.delete_collection(home.collection)
        space = models.VectorParams(size=256, distance=models.Distance.COSINE)
        client.create_collection(home.collection, vectors_config=space)
    ended = ragval("run", "-s", home.suite)
    report = reported(home, ended, 4, "not_measured")
    assert "index.empty" in codes(report)
    assert criterion(report, "coverage")["verdict"] == "not_measured"
    assert home.collection in ended.message


def test_an_include_pattern_that_matches_nothing(home: Home, ragval: Ragval) -> None:
    home.edit(source={"include": ["/handbook/**"]})
    report = reported(home, ragval("run", "-s", home.suite), 4, "not_measured")
    assert "source.empty" in codes(report)
    assert criterion(report, "coverage")["verdict"] == "not_measured"


def test_an_embedder_of_another_dimension_leaves_the_rest_measured(
    home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    with CohereStandIn() as cohere:
        home.edit(embedding={"provider": "cohere", "base_url": cohere.url, "api_key": "${COHERE_API_KEY}"})
        ended = ragval("run", "-s", home.suite)
    report = reported(home, ended, 4, "not_measured")
    assert "vector.dimension" in codes(report)
    assert "1024" in ended.message
    assert "256" in ended.message
    assert criterion(report, "coverage")["verdict"] == "met"
    assert criterion(report, "metadata_completeness")["verdict"] == "met"


def test_a_refused_key_leaves_the_rest_measured_and_stays_secret(
    home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    with CohereStandIn() as cohere:
        cohere.fail("401", message=f"invalid api token {KEY}")
        key = {"base_url": cohere.url, "api_key": "${COHERE_API_KEY}"}
        home.edit(embedding={"provider": "cohere", "model": "their-model", **key})
        ended = ragval("run", "-s", home.suite, "--log-level", "DEBUG")
    assert ended.code == 3
    [file] = home.reports()
    report = json.loads(file.read_bytes())
    assert report["verdict"] == "error"
    assert "embedder.unreachable" in codes(report)
    assert criterion(report, "coverage")["verdict"] == "met"
    assert criterion(report, "metadata_completeness")["verdict"] == "met"
    assert KEY not in ended.out + ended.err
    assert not [path for path in file.parent.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_wrong_collection_lists_near_names(home: Home, ragval: Ragval) -> None:
    home.edit(qdrant={"collection": "physical_ai_bok"})
    ended = ragval("run", "-s", home.suite)
    report = reported(home, ended, 3, "error")
    assert "index.collection_missing" in codes(report)
    assert "Did you mean physical_ai_book?" in ended.message


def test_a_sitemap_that_is_html(home: Home, ragval: Ragval) -> None:
    with serving({"/sitemap.xml": "<!doctype html><html><body>Not found</body></html>"}) as site:
        home.edit(source={"sitemap": f"{site.url}/sitemap.xml"})
        ended = ragval("run", "-s", home.suite)
    assert codes(reported(home, ended, 3, "error")) >= {"source.malformed"}
    assert "HTML" in ended.message


def test_a_sitemap_cut_in_half(home: Home, ragval: Ragval) -> None:
    file: Path = home.folder / "site" / "sitemap.xml"
    text = file.read_bytes()
    file.write_bytes(text[: len(text) // 2])
    assert codes(reported(home, ragval("run", "-s", home.suite), 3, "error")) >= {"source.malformed"}


def test_a_sitemap_host_that_does_not_listen(home: Home, ragval: Ragval) -> None:
    url = refused_url()
    home.edit(source={"sitemap": f"{url}/sitemap.xml"}, retry={"max": 0})
    ended = ragval("run", "-s", home.suite)
    assert codes(reported(home, ended, 3, "error")) >= {"source.unreachable"}
    assert url in ended.message


def test_a_qdrant_host_that_does_not_listen(home: Home, ragval: Ragval) -> None:
    url = refused_url()
    home.edit(qdrant={"path": None, "url": url}, retry={"max": 0})
    ended = ragval("run", "-s", home.suite)
    assert codes(reported(home, ended, 3, "error")) >= {"index.unreachable"}
    assert url in ended.message


def test_json_of_a_failed_system_is_a_report_too(home: Home, ragval: Ragval) -> None:
    home.edit(qdrant={"path": "elsewhere"})
    ended = ragval("run", "-s", home.suite, "--json")
    assert ended.code == 3
    assert ended.stdout == home.reports()[0].read_bytes()
    assert ended.json["verdict"] == "error"
