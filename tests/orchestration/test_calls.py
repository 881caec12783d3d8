"""How often a run calls Qdrant and the embedder, and that its results do not depend on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from qdrant_client import QdrantClient, models

from ragval_pipeline.cli.checkup.estimate import Provider, Size, estimate
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.reporting.outline import groups_of_report, is_partial
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.validation.report import ValidationReport
from tests.support.cohere_server import CohereStandIn, hashed_vector
from tests.support.qdrant_server import QdrantStandIn

pytestmark = pytest.mark.usefixtures("without_gx")

SIZE, PAGES, CHUNKS = 64, 20, 4
SUBJECTS = [f"gear{number} wheel{number % 7} axle{number % 3}" for number in range(PAGES)]


def text_of(page: int, chunk: int) -> str:
    return (
        f"{SUBJECTS[page]} part {chunk} of page {page}, which says {'more ' * (chunk + 1)}about word{page * 4 + chunk}"
    )


@pytest.fixture
def cohere() -> Iterator[CohereStandIn]:
    with CohereStandIn(dimension=SIZE) as server:
        yield server


@pytest.fixture
def qdrant() -> Iterator[QdrantStandIn]:
    with QdrantStandIn() as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        client.create_collection("c", models.VectorParams(size=SIZE, distance=models.Distance.COSINE))
        client.upsert(
            "c",
            [
                models.PointStruct(
                    id=page * CHUNKS + chunk,
                    vector=hashed_vector(text_of(page, chunk), SIZE),
                    payload={
                        "chunk_text": text_of(page, chunk),
                        "source_url": f"https://docs.example.com/docs/{page}",
                        "chapter_id": SUBJECTS[page],
                        "heading_hierarchy": [SUBJECTS[page]],
                    },
                )
                for page in range(PAGES)
                for chunk in range(CHUNKS)
            ],
        )
        client.close()
        yield server


def suite_file(folder: Path, server: QdrantStandIn, cohere: CohereStandIn, **changes: Any) -> Path:
    urls = "".join(f"<url><loc>https://docs.example.com/docs/{page}</loc></url>" for page in range(PAGES))
    (folder / "sitemap.xml").write_text(
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>', encoding="utf-8"
    )
    queries = [
        {
            "id": f"q{page}",
            "query": f"{SUBJECTS[page]} {'wheel' if page % 2 else 'axle'}",
            "relevant_urls": [f"https://docs.example.com/docs/{(page * 3) % PAGES}"],
        }
        for page in range(PAGES)
    ]
    suite = {
        "suite": "calls",
        "report_uri": str(folder / "reports"),
        "qdrant": {"url": server.url, "collection": "c", **changes.pop("qdrant", {})},
        "source": {"sitemap": str(folder / "sitemap.xml"), "fetch_pages": False},
        "embedding": {"provider": "cohere", "model": "unknown-model", "base_url": cohere.url, "api_key": "k"},
        "queries": queries,
        "latency": "off",
        **changes,
    }
    file = folder / "ragval.yaml"
    file.write_text(yaml.safe_dump(suite), encoding="utf-8")
    return file


def timeless(report: ValidationReport) -> dict[str, Any]:
    """The report without what differs between any two runs."""

    def stripped(value: Any) -> Any:
        if isinstance(value, Mapping):
            left_out = {"run_id", "timestamp", "duration_seconds", "cost", "environment"}
            return {
                name: stripped(entry)
                for name, entry in value.items()
                if name not in left_out and not name.endswith(("_ms", "_seconds"))
            }
        return [stripped(entry) for entry in value] if isinstance(value, list) else value

    found: dict[str, Any] = stripped(json.loads(report.model_dump_json()))
    return found


def test_a_report_is_the_same_however_many_searches_go_at_once(
    tmp_path: Path, qdrant: QdrantStandIn, cohere: CohereStandIn
) -> None:
    reports, calls = [], []
    for name, settings in (("one", {"concurrency": 1, "batch": 1}), ("many", {"concurrency": 8, "batch": 50})):
        (tmp_path / name).mkdir()
        before = len(qdrant.asked)
        file = suite_file(tmp_path / name, qdrant, cohere, qdrant=settings)
        reports.append(timeless(run_suite(load_suite(file)).report))
        calls.append(sum("/points/query" in entry for entry in qdrant.asked[before:]))
    for report in reports:
        report.pop("source", None)
    assert reports[0] == reports[1]
    assert {entry["status"] for entry in reports[0]["query_results"]} == {"success"}
    assert calls[1] < calls[0] / 5


def test_a_second_run_embeds_only_the_sample_that_the_embedder_is_judged_by(
    tmp_path: Path, qdrant: QdrantStandIn, cohere: CohereStandIn
) -> None:
    file = suite_file(tmp_path, qdrant, cohere)
    first = run_suite(load_suite(file))
    before = len(cohere.requests)
    second = run_suite(load_suite(file))
    sent = len(cohere.requests)
    assert first.report.cost.embedding_calls == before > 0
    assert {request.body["input_type"] for request in cohere.requests[before:]} == {"search_document"}
    assert second.report.cost.embedding_inputs == PAGES * CHUNKS
    assert second.report.cost.cache_hits > 0
    assert run_suite(load_suite(file), only=["queries"]).report.cost.embedding_calls == 0
    assert timeless(first.report)["query_results"] == timeless(second.report)["query_results"]
    changed = yaml.safe_load(file.read_text(encoding="utf-8"))
    changed["queries"][0]["query"] = "another question"
    file.write_text(yaml.safe_dump(changed), encoding="utf-8")
    third = run_suite(load_suite(file), only=["queries"])
    assert third.report.cost.embedding_inputs == 1
    assert [request.body["texts"] for request in cohere.requests[sent:]] == [["another question"]]


def test_a_model_that_changes_under_its_name_is_noticed_and_what_was_kept_of_it_is_dropped(
    tmp_path: Path, qdrant: QdrantStandIn, cohere: CohereStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = load_suite(suite_file(tmp_path, qdrant, cohere))

    def matched() -> str:
        criteria = run_suite(suite).report.criteria
        return next(entry.verdict for entry in criteria if entry.name == "embedding_match")

    assert [matched(), matched()] == ["met", "met"]
    usual = cohere.answer
    changed: Any = lambda body: usual({**body, "texts": [text[::-1] for text in body["texts"]]})  # noqa: E731
    monkeypatch.setattr(cohere, "answer", changed)
    before = len(cohere.requests)
    assert matched() == "not_met"
    run_suite(suite, only=["queries"])
    asked = [text for request in cohere.requests[before:] for text in request.body["texts"]]
    assert {query.query_text for query in load_queries(suite)} <= set(asked)


@pytest.mark.parametrize("required", [True, False])
def test_latency_that_is_off_costs_nothing_and_counts_nowhere(
    tmp_path: Path, qdrant: QdrantStandIn, cohere: CohereStandIn, required: bool
) -> None:
    gates = {"latency_p95_ms": {"threshold": 2000, "required": required}}
    report = run_suite(load_suite(suite_file(tmp_path, qdrant, cohere, criteria=gates)), only=["latency"]).report
    [value] = [entry for entry in report.criteria if entry.name == "latency_p95_ms"]
    assert (value.verdict, value.reason_code) == ("not_measured", "not_applicable")
    assert "off" in value.reason
    assert cohere.requests == []
    assert report.verdict == "pass"


def test_a_whole_run_without_latency_is_not_partial(
    tmp_path: Path, qdrant: QdrantStandIn, cohere: CohereStandIn
) -> None:
    report = run_suite(load_suite(suite_file(tmp_path, qdrant, cohere))).report
    assert not is_partial(groups_of_report(report))


def test_what_the_doctor_foretells_is_what_a_run_takes_within_a_factor_of_two(
    tmp_path: Path, qdrant: QdrantStandIn, cohere: CohereStandIn
) -> None:
    suite = load_suite(suite_file(tmp_path, qdrant, cohere, latency="on"))
    size = Size(points=PAGES * CHUNKS, pages=PAGES, queries=PAGES, text_characters=60)
    told = estimate(suite, size, Provider(free=False))
    before = sum("/points" in entry for entry in qdrant.asked)
    run_suite(suite)
    requests = sum("/points" in entry for entry in qdrant.asked) - before
    assert told.calls / 2 <= len(cohere.requests) <= 2 * told.calls
    assert told.requests / 3 <= requests <= 3 * told.requests + 20  # counts and facts, which do not grow
