from __future__ import annotations

import pytest

from ragval_pipeline.sources.stores.qdrant.names import filter_key, payload_selector


@pytest.mark.parametrize(
    ("fields", "selector"),
    [
        (None, True),
        ([], []),
        (["chunk_text", "source-url"], ["chunk_text", "source-url"]),
        (["page title"], ['"page title"']),
        (["metadata.url"], ['"metadata.url"', "metadata.url"]),
        (["meta data.url"], ['"meta data.url"', '"meta data".url']),
        (["v1.", ".a", "a..b"], ['"v1."', '".a"', '"a..b"']),
        (["_node_content#text"], ['"_node_content#text"', "_node_content"]),
        (["m.node#a.b"], ['"m.node#a.b"', '"m.node"', "m.node"]),
        (["a", "a"], ["a"]),
        (["a", 'b"c'], True),
        ([""], True),
    ],
)
def test_a_selector_asks_for_every_reading_of_a_name(fields: list[str] | None, selector: bool | list[str]) -> None:
    assert payload_selector(fields) == selector


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("site", "site"),
        ("metadata.site", "metadata.site"),
        ("tags[]", "tags[]"),
        ('metadata."site name"', 'metadata."site name"'),
        ("site name", '"site name"'),
        ("a/b", '"a/b"'),
        ("größe", "größe"),
    ],
)
def test_a_filter_key_stays_a_path_and_any_other_name_is_quoted(name: str, key: str) -> None:
    assert filter_key(name) == key
