"""Fields of a payload by their path."""

from __future__ import annotations

from typing import Any

import pytest

from ragval_pipeline.sources.payload_paths import lookup, payload_paths


@pytest.mark.parametrize(
    ("payload", "path", "found"),
    [
        ({"a": 1}, "a", (True, 1)),
        ({"a": None}, "a", (True, None)),
        ({}, "a", (False, None)),
        ({"a": {"b": {"c": 1}}}, "a.b.c", (True, 1)),
        ({"a": {"b": 1}}, "a.b.c", (False, None)),
        ({"a.b": 1, "a": {"b": 2}}, "a.b", (True, 1)),
        ({"a": {"b.c": 1}}, "a.b.c", (False, None)),
        ({"a": [1]}, "a.0", (False, None)),
        ({"a": "text"}, "a.t", (False, None)),
        ({"a": '{"b": {"c": 1}}'}, "a#b.c", (True, 1)),
        ({"o": {"a": '{"b": null}'}}, "o.a#b", (True, None)),
        ({"a": '{"b": "{\\"c\\": 2}"}'}, "a#b#c", (True, 2)),
        ({"a#b": 1, "a": '{"b": 2}'}, "a#b", (True, 1)),
        ({"a": '{"b": 1}'}, "a#c", (False, None)),
        ({"a": '{"b": 1'}, "a#b", (False, None)),
        ({"a": "[1]"}, "a#0", (False, None)),
        ({"a": {"b": 1}}, "a#b", (False, None)),
        ({"a": {"h10": "c", "h2": "b", "h1": "a", "h": "x", "h1a": "y"}}, "a.h*", (True, ["a", "b", "c"])),
        ({"h*": 1, "h1": 2}, "h*", (True, 1)),
        ({"Header 2": "a"}, "Header *", (True, ["a"])),
        ({"header": "a"}, "h*", (False, None)),
    ],
)
def test_a_path_finds_its_value(payload: dict[str, Any], path: str, found: tuple[bool, Any]) -> None:
    assert lookup(payload, path) == found


def test_names_inside_json_texts_are_listed_as_they_are_found() -> None:
    payload = {"_node_content": '{"text": "x", "metadata": {"url": "u"}}', "url": "u", "note": "{no JSON"}
    names = list(payload_paths(payload))
    assert names == [
        "_node_content", "_node_content#text", "_node_content#metadata", "_node_content#metadata.url", "url", "note",
    ]  # fmt: skip
    assert all(lookup(payload, name)[0] for name in names)
