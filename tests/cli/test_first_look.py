"""What ``ragval init`` tells at first sight, and the questions that it drafts."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragval_pipeline.cli.draft.first_look import Asked
from ragval_pipeline.cli.draft.guess import EmbedderGuess
from ragval_pipeline.cli.draft.headings import clean, is_telling, question_of
from ragval_pipeline.cli.draft.pages import DraftPage
from ragval_pipeline.cli.draft.questions import draft_questions, is_english, off_topic
from ragval_pipeline.cli.draft.site import is_made
from ragval_pipeline.cli.draft.suite_text import ScopeDraft, SuiteDraft, suite_text
from ragval_pipeline.errors import install_line
from ragval_pipeline.sources.site.folders import Folder, folders_of
from ragval_pipeline.sources.site.inventory import Scope, SitePage
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from tests.cli.collections_ import langchain_payloads, store
from tests.cli.conftest import Ended, Home
from tests.support.http_host import refused_url

Ragval = Callable[..., Ended]
BASE = "https://a.example"


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Install the package", "How do I install the package?"),
        ("How to rotate a key", "How do I rotate a key?"),
        ("When to use a sensor", "When should I use a sensor?"),
        ("Why not Docopt?", "Why not Docopt?"),
        ("Managing resources", "How do I manage resources?"),
        ("An Easier Solution", "What should I know about an Easier Solution?"),
        ("Using Flask Extensions", "What should I know about using Flask Extensions?"),
        ("Parameter types", "What are Parameter types?"),
        ("Global access", "What is Global access?"),
        ("Options", "What are Options in Commands?"),
        ("typer.Option", "What does typer.Option do?"),
        ("Set Operations", "What are Set Operations?"),
        ("Set the origin", "How do I set the origin?"),
        ("String Objects", "What are String Objects?"),
        ("Testing objects", "How do I test objects?"),
        ("Upgrade guides", "What are Upgrade guides?"),
        ("Upgrade your site", "How do I upgrade your site?"),
        ("Standalone application with Briefcase", "What should I know about Standalone application with Briefcase?"),
    ],
)
def test_a_heading_becomes_the_question_that_its_section_answers(heading: str, question: str) -> None:
    assert question_of(heading, "Commands") == question


@pytest.mark.parametrize("heading", ["3.1 The value.", "The value:", "The value"])
def test_a_heading_loses_its_number_and_its_last_point(heading: str) -> None:
    assert clean(heading) == "The value"


@pytest.mark.parametrize(
    "heading", ["Introduction", "Next steps", "0.12.3 (2024-01-02)", "For teachers", "API", "tuple[t.Any, ...]", ""]
)
def test_headings_that_many_pages_have_make_no_question(heading: str) -> None:
    assert not is_telling(heading)


def test_a_heading_that_is_a_question_may_be_longer_than_another() -> None:
    question = "Why is it that the installer asks for the same language a second time"
    assert is_telling(f"{question}?")
    assert not is_telling(question)
    assert not is_telling(f"{question}, and then again for all those that nobody needs?")


def pages(count: int, text: str = "The robot is moved by the motor and the arm.") -> list[DraftPage]:
    return [
        DraftPage(
            f"{BASE}/p{number}", f"Page {number}", Point(id=str(number), payload={}, vector=None), text, None,
            tuple(f"Use motor {number}{letter} for torque" for letter in "abc"),
        )
        for number in range(count)
    ]  # fmt: skip


def test_questions_are_spread_over_the_site_and_the_same_every_time() -> None:
    found = draft_questions(pages(20), {}, count=5, seed="docs")
    assert found == draft_questions(pages(20), {}, count=5, seed="docs")
    assert len({question.page.url for question in found}) == 5
    assert draft_questions(pages(20), {}, count=5, seed="other") != found
    more = draft_questions(pages(2), {}, count=50, seed="docs")
    assert len(more) == 6  # two pages have six sections
    assert len({question.text for question in more}) == 6


def test_headings_of_the_site_win_and_other_languages_stay_as_they_are() -> None:
    assert is_english(page.text for page in pages(1))
    german = pages(1, "Der Motor bewegt den Arm und die Hand des Roboters.")
    (question,) = draft_questions(german, {f"{BASE}/p0": ["Motoren einstellen"]}, count=3, seed="docs")
    assert question.text == question.heading == "Motoren einstellen"


def test_headings_of_translated_pages_of_an_english_site_stay_as_they_are() -> None:
    english, [spanish] = (
        pages(9),
        pages(1, "El motor mueve el brazo del robot, que para en el acto cuando la mano toca una pieza."),
    )
    translated = replace(spanish, url=f"{BASE}/es/p0", headings=("Motores y brazos",))
    found = draft_questions([*english, translated], {}, count=20, seed="docs")
    assert "Motores y brazos" in {question.text for question in found}
    assert all(question.text.endswith("?") for question in found if question.page is not translated)


def test_a_translated_heading_above_an_english_text_stays_as_it_is() -> None:
    partly = replace(pages(1)[0], url=f"{BASE}/ja/p0", headings=("A.3. \u6587\u66f8\u306e\u5f62\u5f0f",))
    found = draft_questions([*pages(9), partly], {}, count=20, seed="docs")
    assert [question.text for question in found if question.page is partly] == ["\u6587\u66f8\u306e\u5f62\u5f0f"]


def test_the_name_of_the_site_is_in_no_question(tmp_path: Path, ragval: Ragval) -> None:
    names = ("Bar Series", "Call Stack", "Cursor Motion")
    payloads = [
        {"text": f"The {name} of the text is here and that is all of it.", "url": f"{BASE}/{number}",
         "title": f"{name} (GNU Octave (version 7.3.0))"}
        for number, name in enumerate(names)
    ]  # fmt: skip
    store(tmp_path / "qdrant", payloads)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    queries = yaml.safe_load((tmp_path / "queries.yaml").read_text(encoding="utf-8"))
    asked = [query["query_text"] for query in queries if "negative" not in query]
    assert asked == [f"What should I know about {name}?" for name in names]


def test_off_topic_questions_are_those_that_the_site_says_least_about() -> None:
    bakery = pages(3, "Sourdough bread has to rise before baking; chocolate melts at a low temperature.")
    chosen = off_topic(bakery)
    assert len(set(chosen)) == 5
    assert not any("sourdough" in text or "chocolate" in text for text in chosen)


def test_a_folder_without_any_indexed_page_is_named_at_its_top() -> None:
    paths = {
        "/docs/a": True, "/docs/b/c": True, "/docs/b/d": False, "/docs/tags/x": False, "/docs/tags/y": False,
        "/search": False, "/blog/1": False, "/blog/2/3": False, "/alone": False, "/": True,
    }  # fmt: skip
    pages = {path: SitePage(url=f"{BASE}{path}", key=path) for path in paths}
    indexed, lacking = [[pages[path] for path, has in paths.items() if has is wanted] for wanted in (True, False)]
    folders = folders_of(lacking, indexed)
    assert {(folder.glob, folder.pages) for folder in folders if is_made(folder.glob)} == {
        ("/docs/tags/**", 2), ("/search", 1),
    }  # fmt: skip
    assert {(folder.glob, folder.beside) for folder in folders if not is_made(folder.glob)} == {
        ("/blog/**", False), ("/alone", False), ("/docs/b/d", True),
    }  # fmt: skip
    scope = Scope(exclude=[folder.glob for folder in folders])
    assert all(scope.contains(page.url) for page in indexed)
    assert not any(scope.contains(page.url) for page in lacking)


def look(ended: Ended) -> dict[str, str]:
    """The lines of the first look by what they are about, without their signs."""
    head = ended.out.partition("\n\n")[0]
    lines = [line for line in head.splitlines()[1:] if line[:4].strip()]
    return {line[4:16].strip(): line[16:].strip() for line in lines}


def test_the_first_look_counts_pages_repetition_and_questions(home: Home, ragval: Ragval) -> None:
    sitemap = home.folder / "site" / "sitemap.xml"
    ended = ragval("init", "--qdrant-path", home.folder / "qdrant", "--sitemap", sitemap, "--output", "my/ragval.yaml")
    seen = look(ended)
    assert seen["pages"] == "13 of 13 pages of the sitemap are in the index"
    assert seen["stored"] == "once"
    assert seen["questions"] == "8 of 8 starter questions find their page in the first 5 hits"
    assert "ragval run -s my/ragval.yaml" in ended.out
    assert "ragval doctor" not in ended.out  # nothing is guessed, nothing needs a key


@pytest.mark.parametrize(
    ("size", "lacking"),
    [
        (384, install_line("sentence-transformers")),
        (1536, "export OPENAI_API_KEY=..."),
        (999, "check embedding in ragval.yaml the model is not known"),
        (999, "write my_embedder.py your own embedder, as the comment under embedding says"),
    ],
)
def test_what_the_embedder_lacks_is_reported_with_what_can_be_validated_without_it(
    tmp_path: Path, ragval: Ragval, monkeypatch: pytest.MonkeyPatch, size: int, lacking: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    find_spec = importlib.util.find_spec
    hidden = {"sentence_transformers"}
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name in hidden else find_spec(name))
    store(tmp_path / "qdrant", langchain_payloads(), size=size)
    ended = ragval("init", "--qdrant-path", tmp_path / "qdrant", "--output", tmp_path / "ragval.yaml")
    rest = "--only coverage,metadata,chunks,integrity"
    told = " ".join(ended.out.split())
    assert lacking in told
    assert rest in told
    refused = ragval("run", "-s", tmp_path / "ragval.yaml")
    assert refused.code == 2
    assert rest in refused.err


@pytest.mark.parametrize(("model", "severity"), [(None, "warning"), ("all-MiniLM-L6-v2", "error")])
def test_the_limit_of_a_guessed_model_fails_no_run(
    model: str | None, severity: str, tmp_path: Path, ragval: Ragval
) -> None:
    texts = [" ".join(f"word{page}{n}" for n in range(500)) for page in range(4)]
    named = {} if model is None else {"model": model}
    payloads = [{"text": text, "url": f"{BASE}/{at}", "title": f"Page {at}", **named} for at, text in enumerate(texts)]
    store(tmp_path / "qdrant", payloads, size=384)
    assert look(ragval("init", "--qdrant-path", "qdrant"))["length"].startswith("at least 100 % of chunks")
    ended = ragval("run", "--only", "chunks", "--json")
    [found] = [entry for entry in ended.json["findings"] if entry["code"] == "chunk.over_model_limit"]
    assert (found["severity"], ended.code) == (severity, 1 if severity == "error" else 0)


def test_an_index_that_was_ingested_twice_is_reported_in_the_first_look(tmp_path: Path, ragval: Ragval) -> None:
    words = [f"word{number} goes here with more of its kind" for number in range(40)]
    payloads = [
        {"page_content": " ".join(words[at : at + size]), "metadata": {"source": f"{BASE}/{page}", "page": page}}
        for page in ("a", "b")
        for size in (10, 20)
        for at in range(0, 40, size)
    ]
    store(tmp_path / "qdrant", payloads)
    assert "stored 2.0 times" in look(ragval("init", "--qdrant-path", "qdrant"))["stored"]


def test_a_page_that_was_ingested_twice_is_not_called_stored_once(tmp_path: Path, ragval: Ragval) -> None:
    texts = {f"{BASE}/{page}": [f"word{page}{n}" for n in range(60)] for page in range(5)}
    pages = [*texts, f"{BASE}/0"]
    store(tmp_path / "qdrant", [{"text": " ".join(texts[url]), "url": url, "title": url} for url in pages])
    stored = look(ragval("init", "--qdrant-path", "qdrant"))["stored"]
    assert stored.startswith("a typical page once; 1 of 5 pages more often")


def test_what_cannot_be_reached_is_not_claimed_to_have_been_looked_at(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", langchain_payloads(), size=1536)
    ended = ragval("init", "--qdrant-path", "qdrant", "--sitemap", f"{refused_url()}/sitemap.xml")
    assert ended.code == 0
    seen = look(ended)
    assert seen["pages"].startswith("not compared: sitemap")
    assert seen["questions"].startswith("not asked: the embedder is a guess")
    assert "not indexed" not in seen
    assert "check source in ragval.yaml   it could not be read" in " ".join(ended.out.split("\n"))
    written = yaml.safe_load((tmp_path / "ragval.yaml").read_text(encoding="utf-8"))
    assert written["embedding"]["model"] == "text-embedding-3-small"
    for name in ("text-embedding-ada-002", "embed-v4.0", "check embedding in ragval.yaml"):
        assert name in ended.out


def test_what_a_fifth_of_the_points_lack_is_not_required(tmp_path: Path, ragval: Ragval) -> None:
    payloads = langchain_payloads()
    for payload in payloads[:2]:
        del payload["metadata"]["chunkIndex"]
    store(tmp_path / "qdrant", payloads)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    text = (tmp_path / "ragval.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["payload"]["required"] == ["metadata.source", "metadata.title"]
    assert "chunk_index: metadata.chunkIndex   # in 6 of 8 points" in text


def test_a_payload_with_the_fields_of_a_profile_is_recognised(home: Home, ragval: Ragval) -> None:
    ended = ragval("init", "--qdrant-path", home.folder / "qdrant", "--output", "my/ragval.yaml")
    assert "has the shape of retrieval-pipeline-testing" in ended.out
    assert "profile: null   # retrieval-pipeline-testing?" in Path("my/ragval.yaml").read_text(encoding="utf-8")


def test_pages_that_a_generator_makes_are_shut_out_and_others_left_to_the_reader() -> None:
    guess = EmbedderGuess(provider="static", model=None, why="tried", sure=True)
    draft = SuiteDraft(
        suite="docs", profile=None, url=None, path="qdrant", collection="docs", vector_name=None, fields={},
        required=None, points=3, embedder=guess, dimension=256,
        source={"sitemap": "sitemap.xml"},
        scope=ScopeDraft("the sitemap", 9, ["/docs/tags/**"], [Folder("/blog/**", 2)], "/docs"),
    )  # fmt: skip
    text = suite_text(draft)
    assert yaml.safe_load(text)["source"]["exclude"] == ["/docs/tags/**"]
    assert "# 2 of 9 pages of the sitemap are not indexed" in text
    assert "# - /blog/**   # 2 pages, not indexed" in text


def test_what_was_embedded_before_the_texts_is_written_into_the_suite(tmp_path: Path, ragval: Ragval) -> None:
    payloads = langchain_payloads()
    texts = [f"{payload['metadata']['title']}\n{payload['page_content']}" for payload in payloads]
    store(tmp_path / "qdrant", payloads, texts=texts)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    text = (tmp_path / "ragval.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["payload"]["embedded_text"] == "{title}\n{text}"
    assert yaml.safe_load(text)["embedding"] == {"provider": "static"}
    assert "stored texts again, with the page title in front of each text, reproduced the stored vectors" in text
    assert "cosine 1.000" in ragval("doctor", "-s", "ragval.yaml").out


def test_a_model_is_known_by_the_vectors_that_it_made_if_most_others_are_wrong(tmp_path: Path, ragval: Ragval) -> None:
    payloads = langchain_payloads()
    texts = [payload["page_content"] for payload in payloads]
    store(tmp_path / "qdrant", payloads, texts=[*texts[:3], *texts[4:], texts[3]])
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    text = (tmp_path / "ragval.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["embedding"] == {"provider": "static"}
    assert "reproduced the stored vectors of 3 of 8 texts" in text


def test_a_prefix_of_most_texts_is_found_even_if_the_shortest_have_none(tmp_path: Path, ragval: Ragval) -> None:
    def payload(heading: str, text: str, part: int) -> dict[str, str]:
        return {"text": f"{text} {part}", "url": f"https://docs.example.com/{part}", "heading": heading}

    payloads = [
        *(payload("", "Home page", part) for part in range(26)),
        *(payload("Driving the arm", "The arm turns to where the light comes from", part) for part in range(26)),
    ]
    store(tmp_path / "qdrant", payloads, texts=[f"{held['heading']}\n{held['text']}" for held in payloads])
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    written = yaml.safe_load((tmp_path / "ragval.yaml").read_text(encoding="utf-8"))
    assert written["payload"]["embedded_text"] == "{headings}\n{text}"
    assert written["embedding"] == {"provider": "static"}


def test_texts_that_were_embedded_as_they_are_need_no_template(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", langchain_payloads())
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    assert "embedded_text" not in (tmp_path / "ragval.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("payload", "embedded", "expected"),
    [
        ({"answer": "At the sink, with warm water, twice a day.", "question": "Where are the grippers washed?"},
         "{question}", {"embedded_text": "{payload.question}", "text": "answer"}),
        ({"text": "At the sink, twice a day.", "meta": {"about": "How the grippers are cared for"}},
         "{about}\n{text}", {"embedded_text": "{payload.meta.about}\n{text}", "text": "text"}),
        ({"window": "They get dirty. At the sink, twice a day. That is all.", "sentence": "At the sink, twice a day."},
         "{sentence}", {"embedded_text": None, "text": "sentence"}),
    ],
    ids=["a question for its answer", "a context in front of the text", "a sentence in its window"],
)  # fmt: skip
def test_other_texts_of_the_payload_that_were_embedded_are_found(
    tmp_path: Path, ragval: Ragval, payload: dict[str, Any], embedded: str, expected: dict[str, Any]
) -> None:
    things = ("arm", "hand", "camera", "motor", "battery", "wheel")
    payloads = [json.loads(json.dumps(payload).replace("grippers", thing).replace("sink", thing)) for thing in things]
    texts = [embedded.format(**held, **held.get("meta", {})) for held in payloads]
    store(tmp_path / "qdrant", payloads, texts=texts)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    text = (tmp_path / "ragval.yaml").read_text(encoding="utf-8")
    written = yaml.safe_load(text)["payload"]
    assert {"embedded_text": written.get("embedded_text"), "text": written["fields"]["text"]} == expected
    assert "text: sentence   # CHECK" not in text
    assert "cosine 1.000" in ragval("doctor", "-s", "ragval.yaml").out
    run = ragval("run", "--only", "vectors", "--json").json
    assert [entry["value"] for entry in run["criteria"] if entry["name"] == "embedding_match"] == [1.0]


@pytest.mark.parametrize(
    ("right", "off_topic", "threshold"),
    [
        ([0.5, 0.6], [0.2, 0.3], 0.4),
        ([0.18, 0.4, 0.5], [0.15, 0.16, 0.2], 0.3),
        ([0.5], [], 0.5),
        ([], [0.3], None),
    ],
)
def test_a_drafted_threshold_classifies_most_questions_correctly(
    right: list[float], off_topic: list[float], threshold: float | None
) -> None:
    assert Asked(len(right), len(right), right, off_topic).threshold == threshold


def test_no_question_is_drafted_about_a_page_that_chance_finds(tmp_path: Path, ragval: Ragval) -> None:
    payloads = [
        {"text": f"{word} is explained here, at some length and with care.", "url": f"{BASE}/{page}#{number}"}
        for page, count in {"everything": 20, **{f"turning-wheel-{at}": 1 for at in range(12)}}.items()
        for number, word in enumerate(["Torque"] * count)
    ]
    store(tmp_path / "qdrant", payloads)
    assert ragval("init", "--qdrant-path", "qdrant", "--queries", "13").code == 0
    queries = yaml.safe_load((tmp_path / "queries.yaml").read_text(encoding="utf-8"))
    asked = [url for query in queries for url in query.get("relevant_urls", ())]
    assert f"{BASE}/turning-wheel-1" in asked
    assert f"{BASE}/everything" not in asked


@pytest.mark.parametrize("folders", [("1.0/", "2.0/"), ("", "1.0/"), ("de-old/guide/", "de/guide/")])
def test_a_page_in_several_versions_is_asked_for_once_and_each_version_answers(
    tmp_path: Path, ragval: Ragval, folders: tuple[str, str]
) -> None:
    payloads = [
        {"text": f"{topic} of a robot is set here, as version {folder} has it.", "url": f"{BASE}/docs/{folder}{topic}",
         "title": f"{topic} settings"}
        for folder in folders
        for topic in ("torque", "gripper", "camera", "battery", "wheel", "speaker")
    ]  # fmt: skip
    store(tmp_path / "qdrant", payloads)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    queries = yaml.safe_load((tmp_path / "queries.yaml").read_text(encoding="utf-8"))
    asked = [(*query["relevant_urls"], *query["acceptable_urls"]) for query in queries if "negative" not in query]
    assert sorted(map(sorted, asked)) == sorted(
        sorted(f"{BASE}/docs/{folder}{topic}" for folder in folders)
        for topic in ("torque", "gripper", "camera", "battery", "wheel", "speaker")
    )


def test_pages_without_a_name_of_their_own_make_no_questions_and_that_is_said(tmp_path: Path, ragval: Ragval) -> None:
    payloads = [{"text": "The same words again.", "url": f"{BASE}/{at}", "title": "Page"} for at in range(3)]
    store(tmp_path / "qdrant", payloads)
    assert look(ragval("init", "--qdrant-path", "qdrant"))["questions"].startswith("none drafted: no page has a unique")


def test_pages_that_share_their_title_are_asked_for_by_headings_of_their_own(tmp_path: Path, ragval: Ragval) -> None:
    payloads = [
        {"text": f"# {part} settings\n\nThe {part} of the robot is set here, and that is what this page is about.",
         "url": f"{BASE}/{part}", "title": "Robots 3.2 documentation"}
        for part in ("torque", "gripper", "camera", "battery")
    ]  # fmt: skip
    store(tmp_path / "qdrant", payloads)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    queries = yaml.safe_load((tmp_path / "queries.yaml").read_text(encoding="utf-8"))
    assert {url for query in queries for url in query.get("relevant_urls", ())} == {
        payload["url"] for payload in payloads
    }


def test_points_without_pages_are_asked_for_by_first_lines_that_are_titles(tmp_path: Path, ragval: Ragval) -> None:
    texts = [
        "Torque settings\nThe motor turns.",
        "and that is what it is\nfor.",
        "The hand closes, and then\nit opens.",
    ]
    store(tmp_path / "qdrant", [{"text": text} for text in texts], texts=texts)
    assert ragval("init", "--qdrant-path", "qdrant").code == 0
    queries = yaml.safe_load((tmp_path / "queries.yaml").read_text(encoding="utf-8"))
    asked = [query["query_text"] for query in queries if "negative" not in query]
    assert asked == ["What should I know about torque settings?"]


def test_points_without_any_payload_are_required_to_hold_nothing(tmp_path: Path, ragval: Ragval) -> None:
    store(tmp_path / "qdrant", [{}, {}, {}], size=384)
    ended = ragval("init", "--qdrant-path", "qdrant")
    assert look(ended)["questions"].startswith("none drafted")
    assert yaml.safe_load((tmp_path / "ragval.yaml").read_text(encoding="utf-8"))["payload"] == {
        "fields": {}, "required": [],
    }  # fmt: skip
