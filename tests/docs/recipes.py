"""The code blocks of the tutorial and of the recipes, run."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline import load_suite
from ragval_pipeline.cli import main
from ragval_pipeline.orchestration.build import find_suites
from ragval_pipeline.sources.embedders.opening import open_suite_embedder
from ragval_pipeline.sources.snapshot.embedded import embedded_of
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.payload import usual_fields
from tests.docs.stage import BLOCKS, TEXTS, Stage, commands, of
from tests.support.api_standins import OpenAIStandIn
from tests.support.cohere_server import hashed_vector


@of("docs/tutorial/mkdocs-site.md", 2, 3, 4, 5, 6, 7, 8)
def tutorial(stage: Stage, codes: Sequence[str]) -> None:
    """In the environment of the tests, which has MkDocs; the commands of ragval run in this process."""
    site, script, ingest, first, queries, again, changed = codes
    stage.environment.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    stage.shell(site)
    stage.write("index.py", script)
    assert stage.shell(ingest) == "7 chunks\n"
    assert [main(line) for line in commands(first)] == [0, 0]
    stage.write("queries.yaml", queries)
    assert [main(line) for line in commands(again)] == [0]
    assert (report := latest(stage.folder))["passed_queries"] == report["total_queries"] == 4
    stage.shell(changed.replace("ragval run\n", ""))
    assert [main(line) for line in commands(changed)] == [1]
    [missing] = [entry for entry in latest(stage.folder)["findings"] if entry["code"] == "coverage.missing_page"]
    assert [*missing["subjects"]] == ["https://tea.example.com/errors/"]
    stage.shell(ingest)
    assert [main(line) for line in commands(again)] == [0]


def latest(folder: Path) -> dict[str, Any]:
    """The report of the last run of the only suite."""
    files = folder.glob("*reports/*/2*/validation_report.json")
    return max((json.loads(file.read_text(encoding="utf-8")) for file in files), key=lambda report: report["timestamp"])


#: What frameworks store for a chunk of a page; LangChain writes itself.
STORED: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "llamaindex": lambda text, url: {
        "_node_type": "TextNode", "url": url, "title": text[:24],
        "_node_content": json.dumps({"text": text, "metadata": {"url": url, "title": text[:24]}}),
    },
    "haystack": lambda text, url: {"content": text, "meta": {"url": url, "title": text[:24], "split_id": 0}},
}  # fmt: skip


@of("docs/how-to/langchain.md", 1)
@of("docs/how-to/llamaindex.md", 1)
@of("docs/how-to/haystack.md", 1)
@of("docs/how-to/cohere.md", 1)
def framework(stage: Stage, codes: Sequence[str]) -> None:
    """The collection as the framework of the suite writes it, with the vectors of what it embeds, passes."""
    put = stage.serve_docs()
    stage.write("ragval.yaml", put(codes[0]))
    flavour = load_suite("ragval.yaml").payload.flavour
    if flavour is not None:
        rewrite(stage, flavour)
    stage.environment.setenv("COHERE_API_KEY", "a-key-of-cohere")
    assert main(["run"]) == 0
    report = latest(stage.folder)
    met = {criterion["name"] for criterion in report["criteria"] if criterion["verdict"] == "met"}
    assert met >= {"coverage", "metadata_completeness", "query_pass_rate", "content_integrity", "embedding_match"}


def rewrite(stage: Stage, flavour: str | None, dimension: int = 1024) -> None:
    """Store the chunks of the stage's collection anew, as a framework does or as they are."""
    client = QdrantClient(url=stage.qdrant.url, check_compatibility=False)
    if flavour == "langchain":
        langchain(client)
        client.close()
        return
    points = []
    for point in client.scroll("docs", limit=10)[0]:
        payload, text = dict(point.payload), point.payload["content"]
        if flavour is not None:
            payload = STORED[flavour](text, payload["url"])
            text = embedded_of(payload, usual_fields(flavour)["text"], flavour)
        points.append(models.PointStruct(id=point.id, vector=hashed_vector(text, dimension), payload=payload))
    client.delete_collection("docs")
    client.create_collection("docs", models.VectorParams(size=dimension, distance=models.Distance.COSINE))
    client.upsert("docs", points, wait=True)
    client.close()


def langchain(client: QdrantClient) -> None:
    """Let LangChain itself write the chunks."""
    from langchain_core.embeddings import Embeddings
    from langchain_qdrant import QdrantVectorStore

    class Hashed(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [hashed_vector(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return hashed_vector(text)

    stored = [point.payload for point in client.scroll("docs", limit=10)[0]]
    client.delete_collection("docs")
    client.create_collection("docs", models.VectorParams(size=1024, distance=models.Distance.COSINE))
    texts = [payload["content"] for payload in stored]
    metadatas = [{"source": payload["url"], "title": payload["title"]} for payload in stored]
    QdrantVectorStore(client, "docs", Hashed()).add_texts(texts, metadatas)


@of("docs/how-to/openai.md", 1, 2)
def openai(stage: Stage, codes: Sequence[str]) -> None:
    """Through OpenAI's package, to a server in its place; and to one of the reader's own, which gets no key."""
    suite, compatible = codes
    stage.write("ragval.yaml", stage.serve_docs()(suite))
    rewrite(stage, None, dimension=1536)
    stage.environment.setenv("OPENAI_API_KEY", "a-key-of-openai")
    with OpenAIStandIn(dimension=1536) as server:
        stage.environment.setenv("OPENAI_BASE_URL", server.url)
        assert main(["run"]) == 0
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer a-key-of-openai"}
    stage.environment.delenv("OPENAI_BASE_URL")
    with OpenAIStandIn(dimension=768) as own:
        stage.write_suite(more=compatible.replace("http://localhost:11434/v1", own.url))
        embedder = open_suite_embedder(resolve_suite(load_suite("ragval.yaml")))
        assert embedder.embed(["a kettle"], input_type="search_query").vectors.shape == (1, 768)
        assert "a-key-of-openai" not in str([request.headers for request in own.requests])
        embedder.close()


@of("docs/how-to/sources.md", 1)
@of("docs/how-to/sources.md", 2)
@of("docs/how-to/sources.md", 3)
@of("docs/how-to/sources.md", 4)
def sources(stage: Stage, codes: Sequence[str]) -> None:
    """Each kind names the two pages of the site, and coverage holds."""
    put = stage.serve_docs()
    site = put("https://docs.example.com")
    addresses = [f"{site}/docs/{name}" for name in TEXTS]
    stage.write("mkdocs.yml", "site_name: docs\n")
    for name, text in TEXTS.items():
        stage.write(f"docs/docs/{name}.md", f"# {text[:24]}\n\n{text}\n")
    stage.write("pages.txt", "# all of them\n" + "\n".join(addresses))
    stage.write("llms.txt", "# Docs\n\n" + "\n".join(f"- [page]({address})" for address in addresses))
    source = put(codes[0]).replace(f"{site}/llms.txt", "llms.txt")
    fields = "payload: {fields: {text: content, source_url: url}}\nqdrant: {url: '${QDRANT_URL}', collection: docs}\n"
    stage.write("ragval.yaml", f"suite: docs\n{fields}embedding: {{provider: static}}\n{source}")
    main(["run", "--only", "coverage"])
    [coverage] = [entry for entry in latest(stage.folder)["criteria"] if entry["name"] == "coverage"]
    assert (coverage["verdict"], coverage["denominator"]) == ("met", 2)


@of("docs/how-to/looking.md", 1)
def looking(stage: Stage, codes: Sequence[str]) -> None:
    stage.write("ragval.yaml", stage.serve_docs()(BLOCKS["docs/how-to/cohere.md#1"]))
    stage.environment.setenv("COHERE_API_KEY", "a-key-of-cohere")
    assert [main(line) for line in commands(codes[0])] == [0] * 5


@of("docs/how-to/several-collections.md", 5, 6, 7)
def tenants(stage: Stage, codes: Sequence[str]) -> None:
    """The lines between are those of the terminal."""
    suite, told, gates = codes
    stage.write("tenants.yaml", f"{suite}{gates}")
    loaded = load_suite("tenants.yaml")
    assert loaded.qdrant.partition_by == "tenant"
    assert told.startswith("1 of 3 partitions below what is required:")
    assert {"coverage@acme", "query_pass_rate@acme"} <= loaded.criteria.keys()


@of("docs/how-to/several-collections.md", 8, 9)
def partitions(stage: Stage, codes: Sequence[str]) -> None:
    stage.write("ragval.yaml", codes[0])
    assert load_suite("ragval.yaml@acme").qdrant.collection == "help_acme"
    stage.environment.setenv("COHERE_API_KEY", "a-key-of-cohere")
    assert [main(line) for line in commands(codes[1])] == [3, 0, 0]  # there is no such collection, and a report says so


@of("docs/how-to/several-collections.md", 1, 2, 3, 4)
def several_collections(stage: Stage, codes: Sequence[str]) -> None:
    """The loop with a stand-in for ragval that ends as a bad index and an unreachable one do."""
    write, loop, served, filtered = codes
    stage.shell(write)
    assert sorted(load_suite(file).suite for file in stage.folder.glob("suites/*/ragval.yaml")) == ["blog", "docs"]
    stand_in = 'ragval() { case "$*" in *blog*) return 3 ;; *) return 1 ;; esac; }\n'
    done = subprocess.run(["bash", "-uc", stand_in + loop], cwd=stage.folder, capture_output=True, check=False)
    assert done.returncode == 3
    told = stage.shell(f'dagster() {{ echo "$RAGVAL_SUITES"; }}\n{served}').strip()
    assert sorted(suite.suite for suite in find_suites({"RAGVAL_SUITES": told})) == ["blog", "docs"]
    stage.write("blog.yaml", filtered)
    assert load_suite("blog.yaml").qdrant.filter == {"site": "blog"}


@of("docs/how-to/airflow.md", 1)
def airflow(stage: Stage, codes: Sequence[str]) -> None:
    """With modules in Airflow's place that remember the tasks; the command is one that ragval has."""
    tasks: dict[str, Any] = {}

    class Task:
        def __init__(self, task_id: str, bash_command: str, append_env: bool = False) -> None:
            tasks[task_id] = (shlex.split(bash_command), append_env)

        def __rshift__(self, other: Task) -> Task:
            return other

    class Dag:
        def __init__(self, name: str, **settings: Any) -> None:
            assert set(settings) == {"schedule", "start_date", "catchup"}

        def __enter__(self) -> None: ...
        def __exit__(self, *error: object) -> None: ...

    parents = ("airflow", "airflow.providers", "airflow.providers.standard", "airflow.providers.standard.operators")
    modules = {name: ModuleType(name) for name in (*parents, f"{parents[-1]}.bash", "airflow.sdk", "pendulum")}
    modules[f"{parents[-1]}.bash"].BashOperator = Task
    modules["airflow.sdk"].DAG = Dag
    modules["pendulum"].datetime = datetime
    for name, module in modules.items():
        stage.environment.setitem(sys.modules, name, module)
    stage.python(codes[0])
    command, with_environment = tasks["validate"]
    assert with_environment
    assert command[:2] == ["ragval", "run"]
    assert main([*command[1:], "--help"]) == 0


@of("docs/how-to/blue-green.md", 1, 2)
def blue_green(stage: Stage, codes: Sequence[str]) -> None:
    """The alias moves for a collection that passes, and stays for one that lost a page; runs in this process."""
    suite, switch = codes
    stage.write("ragval.yaml", stage.serve_docs()(suite))
    name = re.search(r"CANDIDATE=(\w+)", switch)[1]
    client = QdrantClient(url=stage.qdrant.url, check_compatibility=False)
    points = [models.PointStruct(id=row.id, vector=row.vector, payload=row.payload)
              for row in client.scroll("docs", limit=10, with_vectors=True)[0]]  # fmt: skip
    client.delete_collection("docs")  # its name becomes the alias
    client.create_collection(name, models.VectorParams(size=1024, distance=models.Distance.COSINE))
    client.upsert(name, points[:1], wait=True)
    stage.environment.setenv("COHERE_API_KEY", "a-key-of-cohere")
    stage.environment.setenv("QDRANT_ALIAS_KEY", "key")
    stage.environment.setenv("CANDIDATE", name)
    [run] = commands(switch.partition("curl")[0])
    assert main(run) == 1
    with pytest.raises(AssertionError):
        stage.shell(f"ragval() {{ return 1; }}\n{switch}")
    assert stage.qdrant.engine.aliases == {}
    client.upsert(name, points, wait=True)
    client.close()
    assert main(run) == 0
    stage.shell(f"ragval() {{ return 0; }}\n{switch}")
    assert stage.qdrant.engine.aliases == {"docs": name}
