from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragval_pipeline.cli.draft.guess import EmbedderGuess
from ragval_pipeline.cli.draft.site import shared_folder
from ragval_pipeline.cli.draft.suite_text import SuiteDraft, suite_text
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.suite.profiles.table import PROFILES
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.text.printing import suite_name
from tests.cli.collections_ import PAGES, haystack_payloads, langchain_payloads, llamaindex_payloads, store
from tests.cli.conftest import Ended, Home

Ragval = Callable[..., Ended]


def written(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((folder / "ragval.yaml").read_text(encoding="utf-8"))
    return content


def test_the_demo_index_gets_a_suite_that_runs_and_passes(home: Home, ragval: Ragval, tmp_path: Path) -> None:
    site = home.folder / "site" / "sitemap.xml"
    made = ragval("init", "--qdrant-path", home.folder / "qdrant", "--sitemap", site, "--output", "my/ragval.yaml")
    assert made.code == 0
    suite = written(tmp_path / "my")
    assert suite["suite"] == "physical_ai_book"
    assert suite["embedding"] == {"provider": "static"}
    assert "include" not in suite["source"]
    assert suite["payload"]["fields"]["headings"] == "heading_hierarchy"
    assert "chapter_id" in suite["payload"]["required"]
    thresholds = suite["retrieval"]
    assert 0.15 < thresholds["min_similarity"] == thresholds["relevance_similarity"] < 0.5
    ended = ragval("run", "-s", "my/ragval.yaml", "--json")
    assert ended.code == 0, ended.err
    [rate] = [entry for entry in ended.json["criteria"] if entry["name"] == "query_pass_rate"]
    assert (rate["verdict"], rate["required"], rate["reason_code"]) == ("not_measured", True, "not_applicable")
    assert "all 13 queries are drafts" in rate["reason"]
    assert [entry["passed"] for entry in ended.json["query_results"]] == [None] * 13
    assert ended.json["coverage_report"]["coverage_percentage"] == 100
    assert ragval("doctor", "-s", "my/ragval.yaml").code == 0


def test_in_a_dagster_project_it_is_a_component(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", langchain_payloads())
    (tmp_path / "pyproject.toml").touch()
    made = ragval("init", "--qdrant-path", "qdrant", "--defs", "src/shop/defs/docs")
    assert made.code == 0
    file = tmp_path / "src" / "shop" / "defs" / "docs" / "defs.yaml"
    assert yaml.safe_load(file.read_text(encoding="utf-8"))["type"] == "ragval_pipeline.RagValidation"
    suite = load_suite(file)
    assert (suite.qdrant.collection, suite.qdrant.path) == ("docs", tmp_path / "qdrant")
    assert Path(suite.report_uri).resolve() == tmp_path / "ragval_reports"
    assert load_queries(suite)
    assert not (tmp_path / "ragval.yaml").exists()
    assert "--output or --defs" in ragval("init", "--qdrant-path", "qdrant", "--defs", "d", "--output", "my.yaml").err


def test_nested_payloads_and_named_vectors_are_found(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", langchain_payloads(), vector_name="dense")
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    suite = written(tmp_path)
    assert suite["qdrant"] == {"path": "qdrant", "collection": "docs", "vector_name": "dense"}
    assert suite["payload"]["fields"] == {
        "text": "page_content",
        "source_url": "metadata.source",
        "title": "metadata.title",
        "chunk_index": "metadata.chunkIndex",
    }
    assert suite["payload"]["required"] == ["metadata.source", "metadata.title", "metadata.chunkIndex"]
    assert suite["criteria"]["coverage"] is None
    queries = load_queries(load_suite(tmp_path / "ragval.yaml"))
    assert {query.status for query in queries} == {"draft"}
    assert len([query for query in queries if query.negative]) == 5
    assert queries[0].relevant_urls == ("https://robots.example/guide/batteries",)
    assert all(query.query_text.endswith("?") for query in queries)
    assert "https://robots.example/sitemap.xml" in (tmp_path / "ragval.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(("stored", "found"), [("number", "chunk_id"), ("page", None), ("point", None)])
def test_an_id_that_numbers_the_chunks_of_each_page_is_their_index_and_the_time_of_the_crawl_is_found(
    stored: str, found: str | None, tmp_path: Path, ragval: Ragval
) -> None:
    """An id of the page is that of all its chunks, and one of the point is no other's."""
    payloads = [
        {
            "text": f"{name.capitalize()} {part} holds the arm while it turns, and stops it before it is warm.",
            "url": f"https://robots.example/{name}",
            "chunk_id": {"number": number, "page": page, "point": 3 * page + number}[stored],
            "crawled_at": "2026-03-01T10:00:00Z",
        }
        for page, name in enumerate(("belts", "clutches", "drives", "motors"))
        for number, part in enumerate(("one", "two", "three"))
    ]
    store(tmp_path / "qdrant", payloads)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    fields = written(tmp_path)["payload"]["fields"]
    assert fields.get("chunk_index") == found
    assert fields["embedded_at"] == "crawled_at"


@pytest.mark.parametrize(
    ("flavour", "payloads", "text", "page"),
    [
        ("langchain", langchain_payloads(), "page_content", "metadata.source"),
        ("llamaindex", llamaindex_payloads(), "_node_content#text", "url"),
        ("haystack", haystack_payloads(), "content", "meta.url"),
    ],
)
def test_the_framework_is_found_with_what_it_stores_and_embeds(
    flavour: str, payloads: list[dict[str, Any]], text: str, page: str, tmp_path: Path, ragval: Ragval
) -> None:
    store(tmp_path / "qdrant", payloads, flavour=flavour)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    suite = written(tmp_path)
    assert suite["payload"]["flavour"] == flavour
    assert (suite["payload"]["fields"]["text"], suite["payload"]["fields"]["source_url"]) == (text, page)
    assert suite["embedding"] == {"provider": "static"}
    loaded = load_suite(tmp_path / "ragval.yaml").payload
    assert (loaded.flavour, loaded.fields["text"], loaded.required[0]) == (flavour, text, page)


def guide(folder: Path) -> Path:
    """A folder of Markdown whose pages are those of the LangChain points, and nothing that says where it is served."""
    docs = folder / "guide"
    docs.mkdir()
    for name, title in zip(("gears", "motors", "sensors", "batteries"), PAGES, strict=True):
        (docs / f"{name}.md").write_text(f"# {title}\n\nA page about {name}.\n", encoding="utf-8")
    return docs


def test_a_folder_of_markdown_is_a_source_and_the_points_say_where_it_is_served(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", langchain_payloads())
    guide(tmp_path)
    ended = ragval("init", "--qdrant-path", "qdrant", "--source", "guide")
    assert ended.code == 0, ended.err
    assert written(tmp_path)["source"] == {"folder": "guide", "site_url": "https://robots.example/guide/"}
    assert "4 of 4 pages of the folder are in the index" in ended.out
    assert written(tmp_path)["criteria"]["coverage"] == 1.0
    assert ragval("run", "--only", "coverage").code == 0


@pytest.mark.parametrize(
    ("path", "guessed"), [("/home/ann/robots/guide/{}.md", False), ("guide\\{}.md", False), ("blob", True)]
)
def test_a_loader_of_folders_names_files_and_init_finds_them_in_the_folder(
    tmp_path: Path, ragval: Ragval, path: str, guessed: bool
) -> None:
    payloads = langchain_payloads()
    for payload in payloads:
        name = payload["metadata"]["source"].rstrip("/").rpartition("/")[2]
        payload["metadata"] = {"source": path.format(name)} | ({"from": f"guide/{name}.md"} if guessed else {})
    store(tmp_path / "qdrant", payloads)
    guide(tmp_path)
    ended = ragval("init", "--qdrant-path", "qdrant", "--source", "guide")
    assert ended.code == 0, ended.err
    assert "4 of 4 pages of the folder are in the index" in ended.out
    assert written(tmp_path)["source"] == {"folder": "guide", "site_url": "files"}
    assert written(tmp_path)["payload"]["fields"]["source_url"] == f"metadata.{'from' if guessed else 'source'}"
    assert ragval("run", "--only", "coverage").code == 0
    assert "of the first" in ragval("doctor").out


def test_files_beside_a_sitemap_need_their_folder_and_anchors_are_one_page(tmp_path: Path, ragval: Ragval) -> None:
    payloads = langchain_payloads()
    urls = [payload["metadata"]["source"] for payload in payloads]
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in dict.fromkeys(urls))
    (tmp_path / "sitemap.xml").write_text(
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>', encoding="utf-8"
    )
    text = " ".join(f"Part {number} of the arm is turned by gear {number}." for number in range(20))
    for anchor, field in (("#a", "twice"), (".md", "files")):
        stored = [
            {"page_content": text.replace("arm", f"arm {at}"), "metadata": {"source": url}}
            for at, url in enumerate(dict.fromkeys(urls))
        ]
        for payload in list(stored):
            source = payload["metadata"]["source"]
            if field == "files":
                payload["metadata"]["source"] = f"docs/{source.rstrip('/').rpartition('/')[2]}{anchor}"
            else:
                stored.append({**payload, "metadata": {"source": f"{source}{anchor}"}})
        store(tmp_path / field, stored)
        ended = ragval("init", "--qdrant-path", field, "--source", "sitemap.xml", "--output", f"{field}/suite.yaml")
        seen = " ".join(ended.out.split())
        assert "each page's words are stored 2.0 times" in seen if field == "twice" else "the points name files" in seen


def explained(folder: Path) -> None:
    """A folder of Markdown with the texts of the LangChain points."""
    (docs := folder / "guide").mkdir()
    for name, title in zip(("gears", "motors", "sensors", "batteries"), PAGES, strict=True):
        told = "\n\n".join(f"{title}. This page explains it at length, part {part}." for part in range(2))
        (docs / f"{name}.md").write_text(f"# {title}\n\n{told}\n", encoding="utf-8")


def test_points_that_are_made_from_pages_are_left_out_by_the_field_that_tells_them(
    tmp_path: Path, ragval: Ragval
) -> None:
    chunks = [{**payload, "level": 0, "kind": "chunk", "lang": "en"} for payload in langchain_payloads()]
    asked = [
        {**payload, "page_content": f"When would anyone need {number} of those?", "level": 1, "kind": kind}
        for number, payload in enumerate(chunks)
        for kind in ("question", "summary")
    ]
    store(tmp_path / "qdrant", [*chunks, *asked])
    explained(tmp_path)
    ended = ragval("init", "--qdrant-path", "qdrant", "--source", "guide")
    assert ended.code == 0, ended.err
    assert written(tmp_path)["qdrant"]["filter"] == {"kind": "chunk"}
    assert "16 of 24 points (kind: question, summary) have no text from their page" in " ".join(ended.out.split())
    run = ragval("run", "--only", "integrity", "--json")
    assert [finding["code"] for finding in run.json["findings"] if finding["code"] == "integrity.gone"] == []


def test_answers_beside_the_questions_that_are_embedded_are_the_texts_of_the_pages(
    tmp_path: Path, ragval: Ragval
) -> None:
    """As in Dify's question-and-answer mode."""
    asked = [
        {
            "page_content": f"When would anyone need {number} of those?",
            "metadata": {**payload["metadata"], "answer": payload["page_content"]},
        }
        for number, payload in enumerate(langchain_payloads())
    ]
    store(tmp_path / "qdrant", asked)
    explained(tmp_path)
    ended = ragval("init", "--qdrant-path", "qdrant", "--source", "guide")
    assert ended.code == 0, ended.err
    payload = written(tmp_path)["payload"]
    assert (payload["fields"]["text"], payload["embedded_text"]) == ("metadata.answer", "{payload.page_content}")
    run = ragval("run", "--only", "integrity", "--json")
    assert [finding["code"] for finding in run.json["findings"]] == []


def test_kinds_of_chunks_that_all_stand_on_their_page_are_no_filter(tmp_path: Path, ragval: Ragval) -> None:
    payloads = [{**payload, "kind": ("text", "table")[at % 2]} for at, payload in enumerate(langchain_payloads())]
    store(tmp_path / "qdrant", payloads)
    guide(tmp_path)
    assert ragval("init", "--qdrant-path", "qdrant", "--source", "guide").code == 0
    assert "filter" not in written(tmp_path)["qdrant"]


def test_a_tenant_of_a_shared_collection_is_judged_by_the_field_that_all_its_points_have(
    tmp_path: Path, ragval: Ragval
) -> None:
    own = [{**payload, "tenant": "robots", "part": at} for at, payload in enumerate(langchain_payloads())]
    others = [
        {
            "page_content": f"Bread rises {number} hours.",
            "metadata": {"source": f"https://bakery.example/{number}"},
            "tenant": f"bakery-{number}",
            "part": number,
        }
        for number in range(12)
    ]
    store(tmp_path / "qdrant", [*own, *others])
    guide(tmp_path)
    (tmp_path / "guide" / "sitemap.xml").write_text(
        "".join(f"{payload['metadata']['source']}\n" for payload in own[::2]), encoding="utf-8"
    )
    ended = ragval("init", "--qdrant-path", "qdrant", "--source", "guide/sitemap.xml")
    assert ended.code == 0, ended.err
    assert written(tmp_path)["qdrant"]["filter"] == {"tenant": "robots"}
    told = "12 of 20 points (tenant: bakery-0, bakery-1, bakery-10, bakery-11, bakery-2, ...) are from other sites"
    assert told in " ".join(ended.out.split())
    queries = yaml.safe_load((tmp_path / "queries.yaml").read_text(encoding="utf-8"))
    asked = [url for query in queries for url in query.get("relevant_urls", ())]
    assert asked
    assert not [url for url in asked if "bakery" in url]


def test_points_without_a_page_are_not_compared_and_a_built_site_is_still_read(tmp_path: Path, ragval: Ragval) -> None:
    payloads = langchain_payloads()
    urls = [payload["metadata"].pop("source") for payload in payloads]
    store(tmp_path / "qdrant", payloads)
    (site := tmp_path / "site" / "guide").mkdir(parents=True)
    for url in urls:
        (site / f"{url.rpartition('/')[2]}.html").write_text("<h1>Robots</h1>", encoding="utf-8")
    (tmp_path / "site" / "sitemap.xml").write_text("\n".join(dict.fromkeys(urls)), encoding="utf-8")
    ended = ragval("init", "--qdrant-path", "qdrant", "--source", "site")
    assert ended.code == 0, ended.err
    assert "the points have no field with the URL or the file of their page" in " ".join(ended.out.split())
    assert written(tmp_path)["source"]["site_root"] == "site"


def test_a_word_that_all_points_have_is_not_their_page(tmp_path: Path, ragval: Ragval) -> None:
    # What LangChain.js loads from memory, as in n8n, has the source "blob".
    payloads = langchain_payloads()
    for at, payload in enumerate(payloads):
        payload["metadata"]["source"] = "blob"
        payload["page_content"] = " ".join(f"Part {at}x{number} is turned by a gear." for number in range(9))
    store(tmp_path / "qdrant", [payload for payload in payloads for _ in range(3)])
    guide(tmp_path)
    ended = ragval("init", "--qdrant-path", "qdrant", "--source", "guide")
    assert ended.code == 0, ended.err
    seen = " ".join(ended.out.split())
    assert "no field with the URL or the file of their page (metadata.source is “blob” in all of them)" in seen
    assert "the words of the index are stored 3.0 times" in seen
    assert "source_url" not in written(tmp_path)["payload"]["fields"]


def test_an_upload_is_known_by_its_name_and_not_by_its_temporary_copy(tmp_path: Path, ragval: Ragval) -> None:
    payloads = langchain_payloads()
    for payload in payloads:
        name = payload["metadata"]["source"].rpartition("/")[2]
        payload["metadata"] |= {"source": f"/tmp/tmp{name:_<8.8}/{name}.md", "file_name": f"{name}.md"}
    store(tmp_path / "qdrant", payloads)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    assert written(tmp_path)["payload"]["fields"]["source_url"] == "metadata.file_name"


@pytest.mark.parametrize(("names", "searched"), [(("title", "content"), "content"), (("dense", "title"), "dense")])
def test_the_vector_of_the_texts_is_searched(
    tmp_path: Path, ragval: Ragval, names: tuple[str, str], searched: str
) -> None:
    store(tmp_path / "qdrant", langchain_payloads(), vector_name=names)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    assert written(tmp_path)["qdrant"]["vector_name"] == searched


def test_the_error_of_a_collection_without_dense_vectors_says_what_it_has(tmp_path: Path, ragval: Ragval) -> None:
    from qdrant_client import QdrantClient, models

    several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    space = models.VectorParams(size=4, distance=models.Distance.COSINE, multivector_config=several)
    with closing(QdrantClient(path=str(tmp_path / "qdrant"))) as client:
        client.create_collection("docs", vectors_config={"colbert": space})
        client.upsert("docs", [models.PointStruct(id=1, vector={"colbert": [[1.0] * 4]}, payload={"text": "Gears"})])
    ended = ragval("init", "--qdrant-path", "qdrant")
    assert ended.code == 4
    assert "docs has no dense vector, only colbert (multivector)" in ended.message


def test_a_collection_of_sparse_vectors_gets_a_suite_that_embeds_nothing(tmp_path: Path, ragval: Ragval) -> None:
    from qdrant_client import QdrantClient, models

    words = models.SparseVector(indices=[1, 2], values=[0.5, 0.7])
    with closing(QdrantClient(path=str(tmp_path / "qdrant"))) as client:
        client.create_collection(
            "docs", vectors_config={}, sparse_vectors_config={"langchain-sparse": models.SparseVectorParams()}
        )
        point = models.PointStruct(id=1, vector={"langchain-sparse": words}, payload={"text": "Gears turn"})
        client.upsert("docs", [point])
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    suite = written(tmp_path)
    assert suite["retrieval"]["sparse"] == {"vector_name": "langchain-sparse"}
    assert "vector_name" not in suite["qdrant"]


def test_a_collection_without_vectors_is_not_called_empty(tmp_path: Path, ragval: Ragval) -> None:
    from qdrant_client import QdrantClient, models

    with closing(QdrantClient(path=str(tmp_path / "qdrant"))) as client:
        client.create_collection("docs", vectors_config={})
        client.upsert("docs", [models.PointStruct(id=1, vector={}, payload={"text": "Gears"})])
    assert "docs has no dense vector" in ragval("init", "--qdrant-path", "qdrant").message


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("llms.txt", "llms", "# Robots\n\n- [{title}]({url})\n"),
        ("pages.txt", "urls", "{url}\n"),
        ("sitemap.xml", "sitemap", "{url}\n"),
    ],
)
def test_what_lists_the_pages_is_written_under_its_own_kind_of_source(
    name: str, kind: str, text: str, tmp_path: Path, ragval: Ragval
) -> None:
    store(tmp_path / "qdrant", langchain_payloads())
    urls = [payload["metadata"]["source"] for payload in langchain_payloads()]
    (tmp_path / name).write_text("".join(text.format(title="A", url=url) for url in urls), encoding="utf-8")
    ended = ragval("init", "--qdrant-path", "qdrant", "--sitemap", name)
    assert written(tmp_path)["source"][kind] == name
    assert f"4 of 4 pages of {'llms.txt' if kind == 'llms' else f'the {kind}'.replace('urls', 'list')}" in ended.out


def test_a_threshold_that_nobody_measured_is_not_written(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", langchain_payloads(), size=384)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    assert "min_similarity" not in written(tmp_path)["retrieval"]
    assert "# min_similarity: not set, because" in (tmp_path / "ragval.yaml").read_text(encoding="utf-8")


def test_files_that_are_there_are_kept_unless_forced(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", langchain_payloads())
    (tmp_path / "queries.yaml").write_text("mine", encoding="utf-8")
    ended = ragval("init", "--qdrant-path", "qdrant")
    assert ended.code == 2
    assert "queries.yaml is there already" in ended.message
    assert (tmp_path / "queries.yaml").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "ragval.yaml").exists()
    assert ragval("init", "--qdrant-path", "qdrant", "--force").code == 0
    assert (tmp_path / "queries.yaml").read_text(encoding="utf-8") != "mine"


def test_several_collections_are_listed(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", langchain_payloads(), names=("one", "two"))
    ended = ragval("init", "--qdrant-path", "qdrant")
    assert ended.code == 2
    assert "one, two" in ended.message
    assert ragval("init", "--qdrant-path", "qdrant", "--collection", "two").code == 0
    assert written(tmp_path)["qdrant"]["collection"] == "two"


def test_an_empty_collection_ends_with_four_and_writes_nothing(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", [])
    ended = ragval("init", "--qdrant-path", "qdrant")
    assert ended.code == 4
    assert "holds no points" in ended.message
    assert not (tmp_path / "ragval.yaml").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "--qdrant-url or --qdrant-path"),
        (("--qdrant-url", "http://a", "--qdrant-path", "b"), 2, "not both"),
        (("--qdrant-url", "localhost:6333"), 2, "http://localhost:6333"),
        (("--qdrant-url", "http://me:hunter2@a"), 2, "QDRANT_API_KEY"),
        (("--qdrant-path", "nowhere"), 3, "there is no embedded Qdrant"),
        (("--qdrant-path", "nowhere", "--profile", "rag-validaton"), 2, "Did you mean rag-validation?"),
        (("--qdrant-path", "nowhere", "--sitemap", "nope.xml"), 2, "there is no file or folder nope.xml"),
        (("--qdrant-path", "nowhere", "--source", "htp://a.example/s.xml"), 2, "--source: is not an http(s) URL"),
        (("--qdrant-path", "nowhere", "--source", "https:///s.xml"), 2, "--source: is not an http(s) URL"),
        (("--qdrant-path", "nowhere", "--output", "."), 2, "is a folder"),
    ],
)
def test_what_cannot_be_looked_at_is_one_line(
    arguments: tuple[str, ...], code: int, words: str, ragval: Ragval, tmp_path: Path
) -> None:
    ended = ragval("init", *arguments)
    assert ended.code == code
    assert words in ended.message
    assert "hunter2" not in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text_field", "told"), [("wurst", "text, source_url are guesses"), ("text", "source_url is a guess")]
)
def test_unknown_names_are_found_by_what_they_hold(text_field: str, told: str, tmp_path: Path, ragval: Ragval) -> None:
    payloads = [
        {text_field: f"A long text about kind {n} of sausage, with words.", "wo": f"https://a.example/p/{n}", "nr": n}
        for n in range(3)
    ]
    store(tmp_path / "qdrant", payloads, size=700)
    ended = ragval("init", "--qdrant-path", "qdrant")
    assert ended.code == 0
    assert told in ended.out
    suite = written(tmp_path)
    assert suite["payload"]["fields"] == {"text": text_field, "source_url": "wo"}
    assert suite["embedding"]["provider"] == "my_embedder:embed"
    assert "CHECK THIS" in (tmp_path / "ragval.yaml").read_text(encoding="utf-8")
    load_suite(tmp_path / "ragval.yaml")


@pytest.mark.parametrize(("chapters", "field"), [(6, "title"), (2, "chapter")])
def test_a_title_of_chapters_that_differs_on_most_pages_is_that_of_the_pages(
    chapters: int, field: str, tmp_path: Path, ragval: Ragval
) -> None:
    payloads = [
        {
            "text": f"A long text about kind {n} of sausage, with words.",
            "url": f"https://a.example/p/{n}",
            "chapter_title": f"Chapter {n % chapters}: Sausages",
        }
        for n in range(6)
    ]
    store(tmp_path / "qdrant", payloads)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    assert written(tmp_path)["payload"]["fields"] == {"text": "text", "source_url": "url", field: "chapter_title"}


def test_what_every_point_has_is_required_and_what_few_lack_is_told(tmp_path: Path, ragval: Ragval) -> None:
    payloads = [
        {
            "text": f"A long text about kind {n} of sausage, with words.",
            "url": f"https://a.example/p/{n}",
            "title": "" if n == 3 else f"Kind {n}",
            "chunk_index": 0,
            "section": None if n == 5 else "Sausages",
            "content_hash": f"{n:064x}" if n < 3 else None,
        }
        for n in range(6)
    ]
    store(tmp_path / "qdrant", payloads)
    ended = ragval("init", "--qdrant-path", "qdrant")
    told = " ".join(ended.out.split())
    assert "missing or empty: title in 1 point, section in 1 point; add it to payload.required" in told
    assert written(tmp_path)["payload"]["required"] == ["url", "chunk_index"]


def test_a_name_that_is_known_is_not_taken_for_a_field_whose_values_it_cannot_hold(
    tmp_path: Path, ragval: Ragval
) -> None:
    payloads = [
        {
            "document": f"A long text about kind {n} of sausage, with words.",
            "id": f"document {n // 3}",
            "metadata": {
                "url": f"https://a.example/p/{n}",
                "chunk": n,
                "token_count": "12",
                "h1": "Sausages",
                "h2": f"Kind {n}",
            },
        }
        for n in range(6)
    ]
    store(tmp_path / "qdrant", payloads)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    assert written(tmp_path)["payload"]["fields"] == {
        "text": "document",
        "source_url": "metadata.url",
        "headings": "metadata.h*",
    }


def test_addresses_are_taken_before_files_of_the_same_pages(tmp_path: Path, ragval: Ragval) -> None:
    payloads = [
        {
            "text": f"A long text about kind {n} of sausage, with words.",
            "url": f"file://a.example-p-{n}.html",
            "chunkSource": f"link://https://a.example/p/{n}",
            "docSource": "https://a.example",
        }
        for n in range(6)
    ]
    store(tmp_path / "qdrant", payloads)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    assert written(tmp_path)["payload"]["fields"] == {"text": "text", "source_url": "chunkSource"}


def test_a_named_model_wins_over_the_size(tmp_path: Path, ragval: Ragval) -> None:
    payloads = [{**payload, "embedding_model": "cohere.embed-multilingual-v3"} for payload in langchain_payloads()]
    store(tmp_path / "qdrant", payloads, size=1024)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    embedding = written(tmp_path)["embedding"]
    assert embedding == {
        "provider": "cohere", "model": "embed-multilingual-v3.0", "api_key": "${COHERE_API_KEY:-}",
    }  # fmt: skip


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_of_the_models_that_are_as_long_the_profiles_own_is_proposed(
    profile: str, tmp_path: Path, ragval: Ragval
) -> None:
    store(tmp_path / "qdrant", langchain_payloads(), size=1024)
    assert ragval("init", "--qdrant-path", "qdrant", "--profile", profile).code == 0
    assert written(tmp_path)["embedding"]["model"] == PROFILES[profile].settings["embedding"]["model"]
    told = (tmp_path / "ragval.yaml").read_text(encoding="utf-8")
    assert "CHECK THIS: guessed from the profile and 1024 dimensions" in told


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_starter_queries_keep_the_rules_of_every_profile(profile: str, tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", langchain_payloads())
    assert ragval("init", "--qdrant-path", "qdrant", "--profile", profile).code == 0
    suite = load_suite(tmp_path / "ragval.yaml")
    assert suite.profile == profile
    assert suite.payload.fields["text"] == "page_content"
    queries = load_queries(suite)
    assert [query.negative for query in queries] == [False] * len(PAGES) + [True] * 5


@pytest.mark.parametrize(
    ("collection", "name"),
    [("Physical-AI Book", "physical_ai_book"), ("2024 docs", "index_2024_docs"), ("日本", "index"), ("docs", "docs")],
)
def test_the_suite_name_is_one_that_dagster_takes(collection: str, name: str) -> None:
    assert suite_name(collection, otherwise="index") == name


@pytest.mark.parametrize(
    ("paths", "shared"),
    [
        (("/docs/a/x", "/docs/b"), "/docs"),
        (("/docs/a/x", "/docs/a/y"), "/docs/a"),
        (("/docs", "/docs/a", "/docs/b"), "/docs"),
        (("/docs/a", "/blog/b"), None),
        (("/a", "/b"), None),
        (("/docs/", "/docs/intro", "/docs/a/", "/docs/a/x"), "/docs"),
        (("/docs/intro", "/docs/a/", "/docs/a/x", "/docs/a/y"), "/docs"),
        (("/docs/a",), None),
    ],
)
def test_the_folder_that_all_pages_share(paths: tuple[str, ...], shared: str | None) -> None:
    assert shared_folder([f"https://a.example{path}" for path in paths]) == shared


def test_the_comment_on_the_threshold_stays_true_when_calibrate_changes_the_number() -> None:
    guess = EmbedderGuess(provider="static", model=None, why="256 dimensions", sure=True)
    draft = SuiteDraft(
        suite="book", profile=None, url=None, path="qdrant", collection="book", vector_name=None, fields={},
        required=None, points=3, embedder=guess, dimension=256, min_similarity=0.38,
        scores=(0.41, 0.22),
    )  # fmt: skip
    assert """
  # A first guess: right answers scored 0.41 or more, off-topic questions 0.22 or less;
  # `ragval calibrate` measures it.
  min_similarity: 0.38
""" in suite_text(draft)


def test_what_is_stored_does_not_decide_what_should_be(tmp_path: Path, ragval: Ragval) -> None:
    """A crawl that began below /docs/ stored that folder only: nothing but the site says whether this is all."""
    pages = [f"https://a.example/docs/{name}" for name in "ab"]
    store(tmp_path / "qdrant", [{"text": "A text.", "url": url, "title": url} for url in pages])
    listed = [*pages, *(f"https://a.example{path}" for path in ("/blog/a", "/docs/c", "/blog/b", "/tags/x"))]
    (tmp_path / "pages.txt").write_text("\n".join(listed), encoding="utf-8")
    ended = ragval("init", "--qdrant-path", "qdrant", "--source", "pages.txt")
    assert "2 of 5 pages of the list are in the index" in ended.out
    assert "not indexed /blog/** (2 pages), /docs/c: ingest them, or leave them out" in ended.out
    assert "3 pages of the site are not indexed" in ended.out
    assert written(tmp_path)["source"] == {"urls": "pages.txt", "exclude": ["/tags/x"]}


def test_what_is_not_needed_is_left_out_by_removing_comment_signs(tmp_path: Path, ragval: Ragval) -> None:
    pages = [f"https://a.example/docs/{name}" for name in "ab"]
    store(tmp_path / "qdrant", [{"text": "A text.", "url": url, "title": url} for url in pages])
    for made in ([], ["/tags/x"]):
        others = [f"https://a.example{path}" for path in ("/blog/a", "/blog/b", "/about", *made)]
        (tmp_path / "pages.txt").write_text("\n".join([*pages, *others]), encoding="utf-8")
        ragval("init", "--qdrant-path", "qdrant", "--source", "pages.txt", "--force")
        file = tmp_path / "ragval.yaml"
        text = file.read_text(encoding="utf-8")
        file.write_text(
            re.sub(r"^(  (?:  )?)# (?=exclude:|  - |- )", r"\1", text, flags=re.MULTILINE), encoding="utf-8"
        )
        source = load_suite(file).source
        assert source is not None
        assert sorted(source.exclude) == sorted(["/blog/**", "/about", *made])
        file.write_text(re.sub(r"^  # (?=include:)", "  ", text, flags=re.MULTILINE), encoding="utf-8")
        source = load_suite(file).source
        assert source is not None
        assert source.include == ("/docs/**",)


def test_a_field_that_a_few_points_have_lost_is_required_all_the_same(tmp_path: Path, ragval: Ragval) -> None:
    payloads = [{"text": f"Text {n}.", "url": f"https://a.example/{n}", "title": f"Page {n}"} for n in range(40)]
    del payloads[7]["title"]
    store(tmp_path / "qdrant", payloads)
    ended = ragval("init", "--qdrant-path", "qdrant")
    assert "title" in written(tmp_path)["payload"]["required"]
    assert "missing: title in 1 point; required, because all others have it" in ended.out
    payloads[7]["title"] = ""
    store(tmp_path / "other", payloads)
    ended = ragval("init", "--qdrant-path", "other", "--force")
    assert "title" not in written(tmp_path)["payload"]["required"]
    assert "missing or empty: title in 1 point" in ended.out
