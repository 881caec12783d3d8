from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from ragval_pipeline.cli.draft.headings import is_telling, question_of, saying_something
from ragval_pipeline.cli.draft.pages import DraftPage, pages_of
from ragval_pipeline.cli.draft.passages import passages_of
from ragval_pipeline.cli.draft.questions import draft_questions
from ragval_pipeline.sources.site.html.page_text import Block
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.validation.first_look.points import Look
from ragval_pipeline.validation.first_look.tenants import find_partition
from tests.cli.collections_ import store
from tests.cli.conftest import Ended

Ragval = Callable[..., Ended]
TABLE = "| Option | Default | Meaning |\n|---|---|---|\n| `max_wait` | 30 s | how long |\n| `retries` | | how often |"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("A lookup is a query expression with a left-hand side.", "What is a lookup?"),
        ("Message tags are a string that holds the level and more.", "What are message tags?"),
        ("`WSGIAuthUserScript` is the same as the alias that defines it.", "What is WSGIAuthUserScript?"),
        ("Uvicorn is an ASGI server with an emphasis on speed.", "What is Uvicorn?"),
        ("Uvicorn\nUvicorn is an ASGI server with an emphasis on speed.", "What is Uvicorn?"),
        ("# Servers\n\nA lookup is a query expression with a left-hand side.", "What is a lookup?"),
        (TABLE, "What is the default of max_wait?"),
    ],
)
def test_what_a_passage_says_is_asked(text: str, question: str) -> None:
    assert [passage.text for passage in passages_of([text])] == [question]


@pytest.mark.parametrize(
    "text",
    [
        "This is a thing that somebody said before in the text.",
        "The connection is the one that was opened a moment ago.",
        "`obj` is the parent object that is being edited now.",
        "Database path\n\ndatabase is the path of the file that holds the tables.",
        "Whilst packaging is an important part of most work, it is not all of it.",
        "Python package that package (a folder) is the folder that holds the resources.",
        "A clear set of instructions is an easy way to get on the same page.",
        "`SECRET_KEY` is the only one that is needed for the tutorial's project.",
        "Using the admin is a good way to begin with a site.",
        "```\nA lookup is a query expression with a left-hand side.\n```",
    ],
)
def test_what_refers_to_something_before_or_is_code_is_not_asked(text: str) -> None:
    assert list(passages_of([text])) == []


def test_a_definition_that_two_chunks_share_is_asked_of_the_page() -> None:
    [passage] = passages_of(
        ["First a text. A watering robot is a machine that", "runs on rails between the benches. More."]
    )
    assert (passage.text, passage.words) == ("What is a watering robot?", "")


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Finding work", "How do I find work?"),
        ("Loosen the requirements", "How do I loosen the requirements?"),
        ("Behind the scenes", "What should I know about Behind the scenes?"),
        ("Configuring a keyring", "How do I configure a keyring?"),
        ("Logging Best Practices", "What should I know about logging Best Practices?"),
        ("How errors are displayed", "Can you tell me how errors are displayed?"),
        ("What to configure", "What should I configure?"),
        ("``DeleteModel``", "What does DeleteModel do?"),
        ("The server does not start", "The server does not start. What can I do?"),
        ("Use `PassengerMiddleware` to serve files", "How do I use PassengerMiddleware to serve files?"),
    ],
)
def test_a_question_of_a_heading_reads_like_one(heading: str, question: str) -> None:
    assert question_of(heading, "Commands") == question


def test_a_page_of_several_versions_is_asked_for_its_own() -> None:
    text = "A lookup is a query expression with a left-hand side. It is in the index, and so is the rest of this."
    url, twin = "https://a.example/docs/2.0/lookup", "https://a.example/docs/1.0/lookup"
    page = DraftPage(url, "Lookup", Point(id="1", payload={}), text, None, (), 1, (twin,), (text,))
    [question] = [each for each in draft_questions([page], {}, count=3, seed="a") if each.passage]
    assert question.text == "What is a lookup in version 2.0?"
    assert question.hard == (twin,)


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Message tags", "What are message tags?"),
        ("Regular installs", "What should I know about regular installs?"),
        ("Python versions", "What should I know about Python versions?"),
        ("Self-hosted Runners", "What should I know about Self-hosted Runners?"),
    ],
)
def test_only_what_a_page_defines_is_asked_for_as_such(heading: str, question: str) -> None:
    text = "Message tags are a string. Regular installs are made in Python."
    assert question_of(heading, "Commands", text) == question


def test_only_headings_whose_sections_say_something_are_asked_for() -> None:
    sentence = "It holds what the others have left over, and more."
    blocks = [
        Block("heading", "Guides", 1), Block("item", "First steps"), Block("heading", "Download", 2),
        Block("code", sentence), Block("heading", "Caching", 2), Block("paragraph", sentence),
    ]  # fmt: skip
    assert saying_something(blocks) == ["Caching"]


@pytest.mark.parametrize("heading", ["Other notable comments", "What Next?", "Read More", "Indices and tables"])
def test_headings_that_only_lead_on_are_not_asked_for(heading: str) -> None:
    assert not is_telling(heading)


NAMES = ("lookup", "index", "query", "table", "cursor", "schema")


def test_the_page_in_another_language_is_a_hard_negative() -> None:
    points = [
        Point(
            id=f"{language}{name}",
            payload={"url": f"https://a.example{language}/docs/{name}", "title": title, "text": text},
        )
        for name in NAMES
        for language, title, text in (
            ("", name.title(), definition_of(name)),
            (
                "/de",
                f"{name.title()} auf Deutsch",
                f"{name.title()} steht links. Das ist alles, was dazu zu sagen ist.",
            ),
        )
    ]
    look: Any = SimpleNamespace(points=points)
    pages = pages_of(look, {"source_url": "url", "title": "title", "text": "text"})
    asked = [each for each in draft_questions(pages, {}, count=12, seed="a") if each.passage]
    assert asked
    for question in asked:
        assert question.page.url is not None
        name = question.page.url.rpartition("/")[2]
        assert question.hard == (f"https://a.example/de/docs/{name}",)


def definition_of(name: str, of: str = "everyone") -> str:
    return f"A {name} is a thing with a left-hand side. It is in the book of {of}, and so is the rest of it."


def of_tenants(address: str) -> list[dict[str, Any]]:
    """Six pages that two tenants have, each in its own words, and a page that only one has."""
    stored = [(tenant, name) for tenant in ("acme", "borealis") for name in NAMES] + [("acme", "ledger")]
    return [
        {
            "page_content": definition_of(name, tenant),
            "metadata": {
                "source": address.format(tenant=tenant, name=name), "title": name.title(), "tenant": tenant,
            },
        }
        for tenant, name in stored
    ]  # fmt: skip


def drafted(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    suite, queries = (yaml.safe_load((folder / name).read_text("utf-8")) for name in ("ragval.yaml", "queries.yaml"))
    return suite, [query for query in queries if not query.get("negative")]


@pytest.mark.parametrize("address", ["https://a.example/{tenant}/docs/{name}", "https://{tenant}.example/docs/{name}"])
def test_the_page_of_another_tenant_is_a_hard_negative(address: str, tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", of_tenants(address))
    made = ragval("init", "--qdrant-path", "qdrant", "--queries", "24")
    assert made.code == 0, made.err
    suite, queries = drafted(tmp_path)
    assert suite["qdrant"]["partition_by"] == "metadata.tenant"
    of_passages = [query for query in queries if "expected_results" in query]
    assert {query["filter"]["metadata.tenant"] for query in of_passages} == {"acme", "borealis"}
    for query in queries:
        [url], tenant = query["relevant_urls"], query["filter"]["metadata.tenant"]
        assert tenant in url
        assert "acceptable_urls" not in query
        if query in of_passages and not url.endswith("ledger"):
            other = {"acme": "borealis", "borealis": "acme"}[tenant]
            assert query["metadata"]["hard_negatives"] == [url.replace(tenant, other)]


def test_tenants_with_the_same_addresses_are_told_apart_by_the_field_that_the_user_names(
    tmp_path: Path, ragval: Ragval
) -> None:
    payloads = of_tenants("https://a.example/docs/{name}")
    store(tmp_path / "qdrant", payloads)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    suite, queries = drafted(tmp_path)
    assert "partition_by" not in suite["qdrant"]
    assert not any("filter" in query for query in queries)
    wrong = ragval("init", "--qdrant-path", "qdrant", "--force", "--partition-by", "metadata.tennant")
    assert wrong.code == 2
    assert "--partition-by: no point has metadata.tennant. Did you mean metadata.tenant?" in wrong.message
    made = ragval("init", "--qdrant-path", "qdrant", "--queries", "24", "--force", "--partition-by", "metadata.tenant")
    assert made.code == 0
    suite, queries = drafted(tmp_path)
    assert suite["qdrant"]["partition_by"] == "metadata.tenant"
    negatives = [query["metadata"]["hard_negatives"] for query in queries if "metadata" in query]
    assert negatives
    for query in queries:
        for number in query.get("metadata", {}).get("hard_negatives", ()):
            twin = payloads[int(number)]["metadata"]
            assert [twin["source"]] == query["relevant_urls"]
            assert twin["tenant"] != query["filter"]["metadata.tenant"]
    ended = ragval("run", "-s", "ragval.yaml", "--only", "queries", "--json")
    assert ended.code == 0, ended.err
    found = {each["query_id"]: each["top_results"][0]["chunk_text"] for each in ended.json["query_results"]}
    for query in queries:
        assert f"the book of {query['filter']['metadata.tenant']}," in found[query["id"]]


@pytest.mark.parametrize(("field", "values"), [("version", ("1.0", "2.0")), ("lang", ("en", "de"))])
def test_a_version_or_a_language_is_no_tenant(
    field: str, values: tuple[str, str], tmp_path: Path, ragval: Ragval
) -> None:
    payloads = of_tenants("https://a.example/{tenant}/docs/{name}")
    text = json.dumps(payloads).replace("acme", values[0]).replace("borealis", values[1]).replace("tenant", field)
    store(tmp_path / "qdrant", json.loads(text))
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    suite, queries = drafted(tmp_path)
    assert "partition_by" not in suite["qdrant"]
    assert not any("filter" in query for query in queries)


def test_a_field_whose_index_is_one_for_tenants_is_the_tenant() -> None:
    points = [Point(id=str(number), payload=payload) for number, payload in enumerate(of_tenants("{name}.md"))]
    facts = SimpleNamespace(tenant_indexes=('metadata."tenant"',))
    look: Any = Look(facts, points)  # type: ignore[arg-type]
    parted = find_partition(look, {}, None)
    assert parted is not None
    assert parted.path == "metadata.tenant"
    one: Any = Look(facts, points[:3])  # type: ignore[arg-type]
    assert find_partition(one, {}, None) is None
