from __future__ import annotations

import uuid

import pytest

from ragval_pipeline.sources.stores.qdrant.names import canonical_id, canonical_ids


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
