from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragval_pipeline.cli.checkup.check import Check, exit_code_of, failed
from ragval_pipeline.errors import SuiteError, SystemFailure
from tests.cli.collections_ import langchain_payloads, llamaindex_payloads, store
from tests.cli.conftest import Ended, Home
from tests.support.cohere_server import CohereStandIn
from tests.support.http_host import Answer, refused_url, serving

Ragval = Callable[..., Ended]
KEY = "secret-key-1234567890"


def checks(ended: Ended) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in ended.json["checks"]}


def states(ended: Ended) -> dict[str, str]:
    return {name: entry["state"] for name, entry in checks(ended).items()}


def set_payload(home: Home, change: dict[str, Any]) -> None:
    """Overwrite a payload field of every point."""
    from qdrant_client import QdrantClient

    with closing(QdrantClient(path=str(home.folder / "qdrant"))) as client:
        ids = [point.id for point in client.scroll(home.collection, limit=1000)[0]]
        client.set_payload(home.collection, payload=change, points=ids)


def test_the_demo_is_ready_to_run(home: Home, ragval: Ragval) -> None:
    before = home.files()
    ended = ragval("doctor", "-s", home.suite)
    assert ended.code == 0
    assert "Ready to run" in ended.out
    assert ended.err == ""
    assert max(map(len, ended.out.splitlines())) <= 80
    assert set(states(ragval("doctor", "-s", home.suite, "--json")).values()) == {"ok"}
    assert home.files() == before


def test_the_variables_that_the_profile_reads_are_named(
    home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOP_K_RESULTS", "3")
    monkeypatch.setenv("SIMILARITY_THRESHOLD", "0.4")
    home.edit(profile="retrieval-pipeline-testing", retrieval={"min_similarity": 0.5, "top_k": None})
    told = checks(ragval("doctor", "-s", home.suite, "--json"))["environment"]["message"]
    assert told == "reads TOP_K_RESULTS"


def test_a_suite_that_cannot_be_read_ends_with_two(home: Home, ragval: Ragval) -> None:
    home.edit(retrievel={"top_k": 5})
    ended = ragval("doctor", "-s", home.suite, "--json")
    assert ended.code == ended.json["exit_code"] == 2
    assert states(ended)["suite file"] == "problem"
    assert states(ended)["the rest"] == "not_applicable"
    assert "retrieval" in checks(ended)["suite file"]["remedy"]


def test_a_run_says_what_started_it(home: Home, ragval: Ragval) -> None:
    home.edit(automation={"after_asset": "a/b", "after_job": "ingest", "cron": "30 2 * * *", "enabled": True})
    check = checks(ragval("doctor", "-s", home.suite, "--json"))["automation"]
    assert check["message"] == "after the asset a/b, after the job ingest, at 30 2 * * *; switched on"


def test_a_trigger_that_cannot_be_followed_is_a_problem(home: Home, ragval: Ragval) -> None:
    home.edit(automation={"cron": "99 4 * * *"})
    ended = ragval("doctor", "-s", home.suite, "--json")
    assert ended.code == 2
    assert checks(ended)["automation"]["message"] == "automation.cron: 99 4 * * * is not a cron expression"
    assert checks(ended)["automation"]["remedy"]


def test_problems_of_several_kinds_are_all_shown_and_the_worst_decides(home: Home, ragval: Ragval) -> None:
    home.edit(queries="nope.yaml", source={"include": ["/handbook/**"]}, qdrant={"collection": "physical_ai_bok"})
    ended = ragval("doctor", "-s", home.suite, "--json")
    found = checks(ended)
    assert ended.code == 2
    assert found["queries"]["state"] == "problem"
    assert "physical_ai_book" in found["collection"]["remedy"]
    assert "/docs" in found["sitemap"]["remedy"]
    assert found["embedder"]["state"] == "ok"


def test_a_place_that_takes_no_reports_is_a_problem(home: Home, ragval: Ragval) -> None:
    home.edit(report_uri="queries.yaml/reports")
    ended = ragval("doctor", "-s", home.suite, "--json")
    assert (ended.code, states(ended)["reports"]) == (2, "problem")
    assert checks(ended)["reports"]["message"].endswith("queries.yaml is a file, not a folder")


def test_what_a_run_would_refuse_to_begin_with_is_a_problem(
    home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragval_pipeline.measuring.preflight.find_spec", lambda _: None)
    home.edit(scale={"engine": "ray"})
    ended = ragval("doctor", "-s", home.suite, "--json")
    assert (ended.code, states(ended)["settings"]) == (2, "problem")
    assert checks(ended)["settings"]["message"] == "scale.engine: Ray is not installed"


def test_a_qdrant_that_does_not_listen_ends_with_three(home: Home, ragval: Ragval) -> None:
    url = refused_url()
    home.edit(qdrant={"path": None, "url": url})
    ended = ragval("doctor", "-s", home.suite, "--json")
    assert ended.code == 3
    assert url in checks(ended)["collection"]["message"]
    assert states(ended)["embedder"] == "ok"
    assert states(ended)["sitemap"] == "ok"


def test_nested_fields_get_the_map_that_helps(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", langchain_payloads())
    (tmp_path / "ragval.yaml").write_text(
        "suite: docs\nqdrant: {path: qdrant, collection: docs}\nembedding: {provider: static}\n"
        "payload: {required: [chunk_text, source_url, chunk_index]}\nqueries: [{query_text: How do gears mesh?}]\n",
        encoding="utf-8",
    )
    ended = ragval("doctor", "--json")
    entry = checks(ended)["payload fields"]
    assert ended.code == 2
    assert "chunk_text" in entry["message"]
    for line in ("text: page_content", "source_url: metadata.source", "chunk_index: metadata.chunkIndex"):
        assert line in entry["remedy"]


def test_a_field_that_cannot_be_what_it_is_called_is_not_asked_for(tmp_path: Path, ragval: Ragval) -> None:
    """Ingestions give the chunks of a document one id, that of the document."""
    texts = [f"The gripper has {number} fingers, and each of them is driven alone." for number in range(8)]
    payloads = [{"text": text, "url": f"https://a.example/{at // 4}", "id": at // 4} for at, text in enumerate(texts)]
    store(tmp_path / "qdrant", payloads, texts=texts)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    assert "more fields" not in states(ragval("doctor", "--json"))


def test_named_vectors_are_asked_for_by_name(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", langchain_payloads(), vector_name="dense")
    suite = "suite: docs\nqdrant: {path: qdrant, collection: docs}\nembedding: {provider: static}\nqueries: [a b]\n"
    (tmp_path / "ragval.yaml").write_text(suite, encoding="utf-8")
    ended = ragval("doctor", "--json")
    assert checks(ended)["vectors"]["state"] == "problem"
    assert "have names: dense" in checks(ended)["vectors"]["message"]
    assert checks(ended)["vectors"]["remedy"] == "Set the one that is searched: dense?"


def test_the_framework_that_wrote_the_points_is_named_when_the_suite_does_not(
    home: Home, ragval: Ragval, tmp_path: Path
) -> None:
    store(tmp_path / "qdrant", llamaindex_payloads(), flavour="llamaindex")
    place = {"path": str(tmp_path / "qdrant"), "collection": "docs"}
    home.edit(qdrant=place, source=None, payload=None)
    suite = yaml.safe_load(home.suite.read_text(encoding="utf-8"))
    home.suite.write_text(yaml.safe_dump({**suite, "criteria": {"coverage": None}}), encoding="utf-8")
    told = checks(ragval("doctor", "-s", home.suite, "--json"))
    assert "payload.flavour: llamaindex" in told["flavour"]["remedy"]
    assert "text: _node_content#text" in told["payload fields"]["remedy"]
    home.edit(payload={"flavour": "llamaindex"})
    ended = ragval("doctor", "-s", home.suite, "--json")
    assert ended.code == 0
    assert "flavour" not in checks(ended)
    assert checks(ended)["model"]["message"].startswith("stored texts embedded again: cosine 1.000")
    home.edit(payload={"flavour": "haystack"})
    assert "payload.flavour is haystack" in checks(ragval("doctor", "-s", home.suite, "--json"))["flavour"]["message"]


def test_another_dimension_is_a_problem_before_the_run(
    home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    with CohereStandIn() as cohere:
        home.edit(embedding={"provider": "cohere", "base_url": cohere.url, "api_key": "${COHERE_API_KEY}"})
        ended = ragval("doctor", "-s", home.suite, "--json")
        assert len(cohere.requests) == 1
    assert ended.code == 4
    assert checks(ended)["embedder"]["message"] == "embed-english-v3.0 has 1024 dimensions, the collection 256"
    assert checks(ended)["embedder"]["remedy"].startswith("Set embedding.provider and embedding.model")
    assert KEY not in ended.out + ended.err


def test_a_model_that_cannot_give_the_collections_size_is_a_problem_without_asking_its_maker(
    home: Home, ragval: Ragval
) -> None:
    home.edit(embedding={"provider": "cohere", "model": "embed-english-v3.0", "api_key": KEY})
    found = checks(ragval("doctor", "-s", home.suite, "--json"))["embedder"]
    assert found["message"] == "embed-english-v3.0 has 1024 dimensions, the collection 256"


def test_a_model_that_its_maker_retired_is_a_problem_without_asking_for_it(home: Home, ragval: Ragval) -> None:
    home.edit(embedding={"provider": "cohere", "model": "embed-english-light-v2.0", "api_key": KEY})
    found = checks(ragval("doctor", "-s", home.suite, "--json"))["embedder"]
    assert found["state"] == "problem"
    assert "is not served any more" in found["message"]
    assert "no question can be embedded for this index any more" in found["remedy"]


def test_a_refused_key_ends_with_three_and_stays_secret(
    home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    with CohereStandIn() as cohere:
        cohere.fail("401")
        home.edit(embedding={"provider": "cohere", "base_url": cohere.url, "api_key": "${COHERE_API_KEY}"})
        ended = ragval("doctor", "-s", home.suite, "--json")
    assert ended.code == 3
    assert states(ended)["embedder"] == "problem"
    assert KEY not in ended.out + ended.err


def test_a_query_that_the_model_cannot_read_is_named_before_the_run(
    home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CO_API_KEY", KEY)
    essay = {"id": "essay", "query_text": "How far does the robot's arm reach over the table? " * 200}
    with CohereStandIn() as cohere:
        home.edit(embedding={"provider": "cohere", "base_url": cohere.url}, queries=[essay, "What is a robot?"])
        ended = ragval("doctor", "-s", home.suite, "--json")
        assert len(cohere.requests) == 1
    entry = checks(ended)["query lengths"]
    assert entry["state"] == "note"
    assert entry["message"].startswith("essay: the query has at least ")


def test_a_model_that_makes_other_vectors_is_seen_although_the_size_fits(
    home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    with CohereStandIn() as cohere:
        home.edit(
            embedding={
                "provider": "cohere", "model": "embed-v4.0", "dimension": 256, "base_url": cohere.url,
                "api_key": "${COHERE_API_KEY}",
            }
        )  # fmt: skip
        ended = ragval("doctor", "-s", home.suite, "--json")
    entry = checks(ended)["model"]
    assert ended.code == 2
    assert entry["state"] == "problem"
    assert "wordllama/l2_supercat/256" in entry["message"]


def test_a_wrong_name_in_the_payload_is_only_noted_when_the_vectors_fit(home: Home, ragval: Ragval) -> None:
    set_payload(home, {"model": "embed-english-v3.0"})
    ended = ragval("doctor", "-s", home.suite, "--json")
    assert ended.code == 0
    assert states(ended)["model"] == "note"
    assert "embed-english-v3.0" in checks(ended)["model"]["message"]


def test_points_of_another_host_get_the_alias_that_helps(home: Home, ragval: Ragval) -> None:
    file = home.folder / "site" / "sitemap.xml"
    text = file.read_text(encoding="utf-8").replace("physical-ai-book.example", "new-host.example")
    file.write_text(text, encoding="utf-8")
    ended = ragval("doctor", "-s", home.suite, "--json")
    entry = checks(ended)["origin"]
    assert ended.code == 2
    assert "Add physical-ai-book.example to source.host_aliases" in entry["remedy"]


def test_a_source_that_a_required_criterion_needs_is_missed(home: Home, ragval: Ragval) -> None:
    home.edit(source=None)
    ended = ragval("doctor", "-s", home.suite, "--json")
    assert ended.code == 4
    assert "coverage: null" in checks(ended)["sitemap"]["remedy"]
    assert checks(ended)["sitemap"]["remedy"].startswith("Set source.sitemap, folder, urls or llms, or switch these ")


def test_pages_that_cannot_be_fetched_are_an_unreachable_system(home: Home, ragval: Ragval) -> None:
    url = refused_url()
    file = home.folder / "site" / "sitemap.xml"
    text = file.read_text(encoding="utf-8").replace("https://physical-ai-book.example", url)
    file.write_text(text, encoding="utf-8")
    home.edit(source={"site_root": None, "host_aliases": ["physical-ai-book.example"]})
    ended = ragval("doctor", "-s", home.suite, "--json")
    assert ended.code == 3
    assert url in checks(ended)["pages"]["message"]
    assert "to read the built site instead, set source.site_root." in checks(ended)["pages"]["remedy"]


def test_a_few_pages_are_fetched_as_a_sample(home: Home, ragval: Ragval) -> None:
    page = (home.folder / "site" / "docs" / "intro" / "index.html").read_text(encoding="utf-8")
    with serving({f"/docs/{name}": Answer(page, headers={"Content-Type": "text/html"}) for name in "abcde"}) as site:
        text = "".join(f"<url><loc>{site.url}/docs/{name}</loc></url>" for name in "abcde")
        sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{text}</urlset>'
        (home.folder / "site" / "sitemap.xml").write_text(sitemap, encoding="utf-8")
        home.edit(source={"site_root": None})
        found = checks(ragval("doctor", "-s", home.suite, "--json"))
        assert [path for path in site.paths() if path.startswith("/docs/")] == ["/docs/a", "/docs/c", "/docs/e"]
    assert found["pages"]["state"] == "ok"
    assert found["origin"]["state"] == "problem"


def own_search(home: Home, body: str) -> dict[str, Any]:
    """What doctor says about a search whose function has ``body``."""
    name = f"own_{home.folder.parent.name.replace('-', '_')}"
    (home.folder / f"{name}.py").write_text(f"def search(texts, top_k, filter):\n    {body}\n", encoding="utf-8")
    home.edit(retrieval={"retriever": f"{name}:search"})
    from ragval_pipeline.cli.checkup.embedder import check_search
    from ragval_pipeline.suite.load import load_suite

    [check] = check_search(load_suite(Path(home.suite)), (), None)
    return {"state": check.state, "message": check.message, "exit_code": check.exit_code}


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("raise ValueError('secret')", 3, "raised ValueError"),
        ("return []", 4, "returns nothing"),
        ("return [{'id': 1, 'score': 0.5, 'payload': {}}]", 4, "without source_url"),
        ("return [{'id': 1, 'score': None, 'payload': {}}]", 3, "not a number"),
    ],
)
def test_a_search_of_ones_own_that_gives_nothing_usable_is_a_problem(
    home: Home, body: str, code: int, words: str
) -> None:
    found = own_search(home, body)
    assert (found["state"], found["exit_code"]) == ("problem", code)
    assert words in found["message"]
    assert "secret" not in found["message"]


def test_a_search_that_is_not_there_is_a_problem_of_the_suite(home: Home, ragval: Ragval) -> None:
    home.edit(retrieval={"retriever": "no_such_module_at_all:search"})
    ended = ragval("doctor", "-s", home.suite, "--json")
    assert ended.code == 2
    assert checks(ended)["search"]["state"] == "problem"


def test_the_line_on_stderr_names_the_first_problem_and_counts_the_others(home: Home, ragval: Ragval) -> None:
    home.edit(queries="nope.yaml", source={"include": ["/handbook/**"]})
    ended = ragval("doctor", "-s", home.suite)
    assert ended.code == 2
    assert "queries" in ended.message
    assert "(and 1 more)" in ended.message
    assert "2 problems" in ended.out


def test_every_wrong_key_of_the_suite_is_a_line(home: Home, ragval: Ragval) -> None:
    home.edit(retrieval={"topk": 5, "min_similarity": 70}, history={"keep_runs": 0})
    ended = ragval("doctor", "-s", home.suite)
    assert ended.code == 2
    wrong = [line for line in ended.out.splitlines() if line.startswith("✗ suite file")]
    assert [line.split()[3].rstrip(":") for line in wrong] == [
        "retrieval.topk",
        "retrieval.min_similarity",
        "history.keep_runs",
    ]


def test_a_collection_of_multivectors_is_described(home: Home, ragval: Ragval) -> None:
    from qdrant_client import QdrantClient, models

    several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    space = models.VectorParams(size=4, distance=models.Distance.COSINE, multivector_config=several)
    with closing(QdrantClient(path=str(home.folder / "qdrant"))) as client:
        client.create_collection("late", vectors_config={"colbert": space})
        client.upsert("late", [models.PointStruct(id=1, vector={"colbert": [[1.0] * 4]}, payload={"text": "Gears"})])
    home.edit(qdrant={"collection": "late"})
    told = checks(ragval("doctor", "-s", home.suite, "--json"))["vectors"]["message"]
    assert told == "late has no dense vector, only colbert (multivector)"


def test_the_models_that_a_collection_names_are_listed_in_brief(home: Home, ragval: Ragval) -> None:
    set_payload(home, {"model": "m" * 100_000})
    told = checks(ragval("doctor", "-s", home.suite, "--json"))["model"]["message"]
    assert len(told) < 300


def test_configuration_comes_before_systems_and_systems_before_emptiness() -> None:
    problems = [Check(str(code), "problem", "", exit_code=code) for code in (4, 3, 2)]
    assert exit_code_of(problems) == 2
    assert exit_code_of(problems[:2]) == 3
    assert exit_code_of(problems[:1]) == 4
    assert exit_code_of([Check("a", "note", "")]) == 0


def test_what_failed_is_named_once() -> None:
    failure = SystemFailure("no answer", code="embedder.unreachable", system="embedder", subject="timed out")
    assert failed("embedder", failure).message == "no answer"


def test_an_error_is_split_into_problem_and_remedy() -> None:
    suite = failed("suite file", SuiteError("is wrong", remedy="Correct it.", file="a.yaml", key="b.c"))
    assert (suite.message, suite.remedy, suite.exit_code) == ("b.c: is wrong", "Correct it.", 2)
    system = SystemFailure("refused", code="index.unreachable", system="Qdrant", subject="x", remedy="Start it.")
    check = failed("collection", system)
    assert (check.message, check.remedy, check.exit_code) == ("Qdrant: refused", "Start it.", 3)


def test_what_the_suite_leaves_out_of_the_site_is_named_by_folder(home: Home, ragval: Ragval) -> None:
    home.edit(source={"exclude": ["/docs/module-1-ros2/**"]}, queries=None)
    ended = ragval("doctor", "-s", home.suite, "--json")
    assert "left out by the suite: /docs/module-1-ros2/** (" in checks(ended)["sitemap"]["message"]


def test_a_partition_field_that_no_point_has_is_a_problem_with_the_path_that_is_meant(
    home: Home, ragval: Ragval
) -> None:
    home.edit(qdrant={"partition_by": "metadata.module_name"})
    ended = ragval("doctor", "-s", home.suite)
    assert "Did you mean module_name?" in ended.out
    home.edit(qdrant={"partition_by": "module_name"})
    assert "partitions" in ragval("doctor", "-s", home.suite).out
