"""The commands on a file of points: what is wrong with it comes before any page is read; what is right works alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from ragval_pipeline.sources.embedders.static import StaticEmbedder
from tests.cli.conftest import Ended, Home
from tests.support.http_host import Answer, serving

Ragval = Callable[..., Ended]
NOTHING = {"id": pa.int64(), "payload": pa.string(), "vector": pa.list_(pa.float32())}
WORDS = [
    "A robot with a body learns how hard the floor is by falling on it, and a chatbot does not.",
    "Sensors of joints report their angles a thousand times a second, and most of it is noise.",
    "A controller that waits for the planner is a controller that falls, so each has its own clock.",
]


def written(path: Path, **columns: Any) -> Path:
    """Three pages as points of the offline embedder; ``columns`` replace what is written."""
    urls = [f"https://site.example/docs/{name}" for name in ("bodies", "sensors", "clocks")]
    payloads = [{"chunk_text": text, "source_url": url} for text, url in zip(WORDS, urls, strict=True)]
    whole = {
        "id": [1, 2, 3],
        "payload": [json.dumps(payload) for payload in payloads],
        "vector": [
            list(map(float, row)) for row in StaticEmbedder().embed(WORDS, input_type="search_document").vectors
        ],
    }
    pq.write_table(pa.table({**whole, **columns}), path)
    return path


def suite_of(path: Path, **more: Any) -> Path:
    settings = {
        "suite": "points", "points": path.name, "embedding": {"provider": "static"},
        "queries": [{"query_text": "joints"}],
        "payload": {"fields": {"text": "chunk_text", "source_url": "source_url"}, "required": ["source_url"]}, **more,
    }  # fmt: skip
    file = path.with_suffix(".yaml")
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"id": [1, 2, 2]}, "row 3, column id: 2 is also the id of row 2"),
        ({"payload": ["{}", "{", "{}"]}, "row 2, column payload: is not JSON"),
        ({"vector": [[1.0, 0.0], [1.0, 0.0], [1.0]]}, "row 3, column vector: has 1 numbers"),
    ],
)
def test_a_wrong_file_ends_with_2_before_any_page_is_read(
    columns: dict[str, Any], told: str, tmp_path: Path, ragval: Ragval
) -> None:
    with serving({"/sitemap.xml": Answer("<urlset/>")}) as site:
        file = written(tmp_path / "wrong.parquet", **columns)
        suite = suite_of(file, source={"sitemap": f"{site.url}/sitemap.xml"})
        ended = ragval("run", "-s", suite)
        assert (ended.code, site.asked) == (2, [])
    assert str(file) in ended.message
    assert told in ended.message
    assert not (tmp_path / "ragval_reports").exists()


def test_doctor_and_search_read_a_file(tmp_path: Path, ragval: Ragval) -> None:
    suite = suite_of(written(tmp_path / "points.parquet"), criteria={"coverage": None})
    ended = ragval("doctor", "-s", suite, "--json")
    assert ended.code == 0, ended.out
    [found] = [entry for entry in ended.json["checks"] if entry["name"] == "collection"]
    assert "3 points" in found["message"]
    best = ragval("search", "-s", suite, "--json", "how are angles of joints reported?").json["results"][0]
    assert best["source_url"].endswith("/sensors")


def test_doctor_names_the_row_of_a_wrong_file(tmp_path: Path, ragval: Ragval) -> None:
    ended = ragval("doctor", "-s", suite_of(written(tmp_path / "points.parquet", id=[1, 2, 2])))
    assert ended.code == 2
    assert "row 3, column id" in ended.out


def test_init_drafts_a_suite_of_a_file(tmp_path: Path, ragval: Ragval) -> None:
    file = written(tmp_path / "points.parquet")
    drafted = tmp_path / "drafted.yaml"
    ended = ragval("init", "--points", file, "--output", drafted)
    assert ended.code == 0, ended.err
    content = yaml.safe_load(drafted.read_text(encoding="utf-8"))
    assert content["points"] == "points.parquet"
    assert not {"url", "path"} & set(content.get("qdrant") or {})


def test_init_takes_a_file_or_a_qdrant(home: Home, tmp_path: Path, ragval: Ragval) -> None:
    file = written(tmp_path / "points.parquet")
    ended = ragval("init", "--points", file, "--qdrant-path", home.folder / "qdrant", "--output", tmp_path / "x.yaml")
    assert ended.code == 2
    assert "--points" in ended.message


def test_a_vector_that_is_not_finite_is_named_and_the_others_are_searched(tmp_path: Path, ragval: Ragval) -> None:
    vectors = StaticEmbedder().embed(WORDS, input_type="search_document").vectors.tolist()
    vectors[1][3] = float("nan")
    query = {"query_text": "how hard the floor is by falling", "min_similarity": 0.3}
    suite = suite_of(written(tmp_path / "points.parquet", vector=vectors), queries=[query])
    ended = ragval("run", "-s", suite, "--json")
    assert {found["code"] for found in ended.json["findings"] if found["severity"] == "error"} == {"vector.zero"}


def test_a_file_without_a_vector_says_so_and_nothing_of_models(tmp_path: Path, ragval: Ragval) -> None:
    suite = suite_of(written(tmp_path / "points.parquet", vector=pa.array([None] * 3, NOTHING["vector"])))
    [found] = ragval("run", "-s", suite, "--only", "queries", "--json").json["findings"]
    assert found["code"] == "vector.dimension"
    assert "columns for them are empty" in found["message"]
    assert "without dense vectors" in found["cause"]
    assert "model" not in found["cause"]


def test_a_file_without_points_is_an_empty_index_and_nothing_else(tmp_path: Path, ragval: Ragval) -> None:
    nothing = {name: pa.array([], kind) for name, kind in NOTHING.items()}
    suite = suite_of(written(tmp_path / "points.parquet", **nothing))
    ended = ragval("run", "-s", suite, "--json")
    assert [found["code"] for found in ended.json["findings"]] == ["index.empty"]
    assert "dense" not in ragval("doctor", "-s", suite).out


def test_a_report_on_a_redacted_file_says_so_and_compares_no_texts(tmp_path: Path, ragval: Ragval) -> None:
    payloads = [json.dumps({"chunk_text": WORDS[0], "source_url": "https://site.example/docs/bodies", "payroll": 1})]
    vectors = StaticEmbedder().embed(WORDS[:1], input_type="search_document").vectors.tolist()
    suite = suite_of(written(tmp_path / "points.parquet", id=[1], payload=payloads, vector=vectors))
    shared = tmp_path / "shared.parquet"
    assert ragval("export", "--redact", "-s", suite, shared).code == 0
    [payload] = map(json.loads, pq.read_table(shared)["payload"].to_pylist())
    assert {"chunk_text", "source_url"} < payload.keys()
    assert "payroll" not in payload
    query = {"query_text": "how hard the floor is by falling", "min_similarity": 0.3}
    ended = ragval("run", "-s", suite_of(shared, queries=[query]))
    assert "texts are nonsense" in ended.err + ended.out
    assert "vector." not in ended.out + ended.err
