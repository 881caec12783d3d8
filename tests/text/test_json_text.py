from __future__ import annotations

import pytest

from ragval_pipeline.text.json_text import parse_json


@pytest.mark.parametrize("content", [b"[" * 100_000, "[" * 100_000, b"\xff\xfe{", b"", "{", b"\x00" * 9])
def test_what_cannot_be_read_is_a_value_error_however_deep(content: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(content)


def test_json_is_read() -> None:
    assert parse_json(b'{"a": [1, null]}') == {"a": [1, None]}
