from __future__ import annotations

import pytest

from ragval_pipeline.sources.embedders.failures import wait_hint

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": " 7 "}, 7.0),
        ({"Retry-After-Ms": "250", "Retry-After": "7"}, 0.25),
        ({"Retry-After": "Tue, 14 Nov 2023 22:13:30 GMT"}, 10.0),
        ({"X-RateLimit-Reset": "1700000004"}, 4.0),
        ({"Retry-After": "3", "X-RateLimit-Reset": "1700000004"}, 3.0),
        ({"Retry-After": "soon", "X-RateLimit-Reset": "1700000004"}, 4.0),
        ({"Retry-After": "Tue, 14 Nov 2023 22:13:10 GMT"}, None),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "0"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
        ({"X-RateLimit-Reset": "never"}, None),
        ({"X-RateLimit-Reset": "1699999999"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_the_servers_wish_is_read_in_seconds_and_nonsense_is_no_wish(headers, seconds):
    assert wait_hint(headers, now=NOW) == seconds
