from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ragval_pipeline.sources.snapshot.embedded import embedded_text, template_of
from ragval_pipeline.sources.snapshot.records import RecordMapper, tracked_fields
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.suite.payload import PayloadSettings

TEXT = "Valves open clockwise."


def node(**more: Any) -> dict[str, Any]:
    """A node as LlamaIndex writes it, as far as it says what is embedded."""
    metadata = {"url": "https://docs.example.com/valves", "title": "Valves", "pages": 3}
    return {"text": TEXT, "metadata": metadata, "excluded_embed_metadata_keys": [], **more}


def row_of(payload: dict[str, Any], flavour: str) -> dict[str, Any]:
    settings = PayloadSettings(flavour=flavour)
    mapper = RecordMapper(
        fields=settings.fields,
        tracked=tracked_fields(settings.fields, settings.required),
        page_key=str,
        pages={},
        flavour=settings.flavour,
    )
    [row] = mapper.batch([Point("1", payload)]).to_pylist()
    assert isinstance(row, dict)
    return row


@pytest.mark.parametrize(
    ("settings", "embedded"),
    [
        ({}, f"url: https://docs.example.com/valves\ntitle: Valves\npages: 3\n\n{TEXT}"),
        ({"excluded_embed_metadata_keys": ["url", "pages"]}, f"title: Valves\n\n{TEXT}"),
        ({"excluded_embed_metadata_keys": ["url", "title", "pages"]}, TEXT),
        ({"metadata": {}}, TEXT),
        (
            {"metadata_template": "[{key}={value}]", "metadata_separator": " ",
                "text_template": "{content} {metadata_str}"},
            f"{TEXT} [url=https://docs.example.com/valves] [title=Valves] [pages=3]",
        ),
        (
            {"metadata_seperator": " | "},
            f"url: https://docs.example.com/valves | title: Valves | pages: 3\n\n{TEXT}",
        ),
        ({"metadata": {"title": "{content}"}}, f"title: {{content}}\n\n{TEXT}"),
        ({"text_template": "{content:>9}{content.real}{content}"}, "{content:>9}{content.real}" + TEXT),
    ],
    ids=["defaults", "left out", "all left out", "no metadata", "templates", "misspelt", "braces", "format tricks"],
)  # fmt: skip
def test_a_llamaindex_node_is_embedded_behind_its_metadata_as_it_says_itself(
    settings: dict[str, Any], embedded: str
) -> None:
    row = row_of(
        {"_node_content": json.dumps(node(**settings)), "url": "https://docs.example.com/valves"}, "llamaindex"
    )
    assert row["text"] == TEXT
    assert embedded_text(row) == embedded
    assert (row["embedded_text"] is None) == (embedded == TEXT)


@pytest.mark.parametrize("content", [None, "not JSON", "[]", json.dumps({"text": None, "metadata": {}}), 7])
def test_a_point_without_a_readable_node_has_no_text(content: Any) -> None:
    row = row_of({"_node_content": content, "url": "https://docs.example.com/valves"}, "llamaindex")
    assert (row["text"], row["embedded_text"], embedded_text(row)) == (None, None, "")


@pytest.mark.parametrize("text", ["", " \u200b"])
def test_a_node_of_a_blank_text_has_no_embedded_text_behind_its_metadata(text: str) -> None:
    content = json.dumps({**node(), "text": text})
    row = row_of({"_node_content": content, "url": "https://docs.example.com/valves"}, "llamaindex")
    assert row["embedded_text"] is None


def test_langchain_and_haystack_embed_the_text_as_it_is_stored() -> None:
    langchain = {"page_content": TEXT, "metadata": {"source": "https://docs.example.com/valves", "title": "Valves"}}
    haystack = {"id": "a1", "content": TEXT, "meta": {"url": "https://docs.example.com/valves", "split_id": 4}}
    one, two = row_of(langchain, "langchain"), row_of(haystack, "haystack")
    assert {embedded_text(one), embedded_text(two)} == {TEXT}
    assert one["source_url"] == two["source_url"] == "https://docs.example.com/valves"
    assert (one["title"], two["chunk_index"], two["chunk_id"]) == ("Valves", 4, "a1")


@pytest.mark.parametrize(
    ("template", "payload", "embedded"),
    [
        ("{title}\n{text}", {"title": "Valves"}, f"Valves\n{TEXT}"),
        ("{title}\n{text}", {}, None),  # without a title it is the text itself
        (
            "{title}: {headings}\n{text}",
            {"title": "Valves", "path": ["Use", "Open"]},
            f"Valves: Use > Open\n{TEXT}",
        ),
        ("{title}: {headings}\n{text}", {"path": ["Use", "Open"]}, f"Use > Open\n{TEXT}"),
        ("{heading} - {text}", {"path": ["Use", "Open"]}, f"Open - {TEXT}"),
        ("passage: {text}", {}, f"passage: {TEXT}"),
        ("{module}{title} {text}", {"title": "{text} {x}"}, f"{{text}} {{x}} {TEXT}"),
        (
            "{payload.about it}\n{payload.more.context}\n{text}",
            {"more": {"context": "Of valves"}},
            f"Of valves\n{TEXT}",
        ),
        ("{payload.question}", {"question": "How do valves open?"}, "How do valves open?"),
    ],
)
def test_a_template_of_the_suite_says_what_was_embedded(
    template: str, payload: dict[str, Any], embedded: str | None
) -> None:
    settings = PayloadSettings(embedded_text=template, fields={"text": "body", "title": "title", "headings": "path"})
    mapper = RecordMapper(
        fields=settings.fields,
        tracked=tracked_fields(settings.fields, settings.required),
        page_key=str,
        pages={},
        template=template_of(settings),
    )
    [row, empty] = mapper.batch([Point("1", {"body": TEXT, **payload}), Point("2", payload)]).to_pylist()
    assert row["embedded_text"] == embedded
    assert embedded_text(row) == (embedded or TEXT)
    assert embedded_text(empty) == ""


def test_a_blank_text_has_no_embedded_text_whatever_a_template_puts_before_it() -> None:
    payload = PayloadSettings(embedded_text="{title}\n{text}", fields={"text": "body", "title": "title"})
    template = template_of(payload)
    assert template is not None
    assert [template.of({"title": "Valves", "body": text}) for text in (None, "", " \u200b")] == [None, None, None]


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{titel}\n{text}", "Did you mean title"),
        ("{context}\n{text}", "Any other field of the payload is {payload.context}"),
        ("{title}", "it must contain {text}"),
    ],
)
def test_a_template_that_says_nothing_of_the_text_is_refused(template: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        PayloadSettings(embedded_text=template)


def test_the_fields_that_are_embedded_with_a_text_are_those_that_its_template_names():
    settings = PayloadSettings(embedded_text="{title} - {heading}, {headings}\n{text}")
    assert settings.embedded_fields == ("title", "headings")
    assert PayloadSettings().embedded_fields == ()
    assert PayloadSettings(embedded_text="{payload.context}\n{text}").embedded_fields == ()


def test_llamaindex_embeds_the_metadata_that_every_point_must_have() -> None:
    assert PayloadSettings(flavour="llamaindex").embedded_fields == ("source_url",)
    nested = {"source_url": "_node_content#metadata.url", "title": "title"}
    settings = PayloadSettings(flavour="llamaindex", fields=nested, required=["_node_content#metadata.url", "title"])
    assert settings.embedded_fields == ("source_url", "title")
    assert PayloadSettings(flavour="langchain").embedded_fields == ()
