from __future__ import annotations

import uuid

import pytest

from ragval_pipeline.sources.stores.qdrant.names import canonical_id, canonical_ids, filter_key, payload_selector


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        (7, "7"),
        (2**64 - 1, "18446744073709551615"),
        ("7", "7"),
        ("d41d8cd98f00b204e9800998ecf8427e", "d41d8cd9-8f00-b204-e980-0998ecf8427e"),
        ("D41D8CD9-8F00-B204-E980-0998ECF8427E", "d41d8cd9-8f00-b204-e980-0998ecf8427e"),
        ("urn:uuid:d41d8cd9-8f00-b204-e980-0998ecf8427e", "d41d8cd9-8f00-b204-e980-0998ecf8427e"),
        ("{d41d8cd9-8f00-b204-e980-0998ecf8427e}", "d41d8cd9-8f00-b204-e980-0998ecf8427e"),
        (uuid.UUID(int=255), "00000000-0000-0000-0000-0000000000ff"),
        ("chunk-1", "chunk-1"),
        ("g41d8cd98f00b204e9800998ecf8427e", "g41d8cd98f00b204e9800998ecf8427e"),
        ("١٢٣٤٥٦٧٨١٢٣٤١٢٣٤١٢٣٤١٢٣٤٥٦٧٨٩٠١٢", "١٢٣٤٥٦٧٨١٢٣٤١٢٣٤١٢٣٤١٢٣٤٥٦٧٨٩٠١٢"),
        ("", ""),
    ],
)
def test_an_id_has_one_text(stored: object, text: str) -> None:
    assert canonical_id(stored) == text
    written = "d41d8cd9-8f00-b204-e980-0998ecf8427e"
    assert canonical_ids([written, stored, written]) == [written, text, written]


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
        (["metadata.Header *"], ['"metadata.Header *"', "metadata"]),
        (["a", "h*"], True),
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
