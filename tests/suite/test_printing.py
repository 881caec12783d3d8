from __future__ import annotations

from ragval_pipeline.suite.printing import plural


def test_nouns_are_put_in_the_plural() -> None:
    assert [plural(1, "page"), plural(0, "page"), plural(2, "query"), plural(3, "search")] == [
        "1 page", "0 pages", "2 queries", "3 searches",
    ]  # fmt: skip
    assert plural(3, "required criterion") == "3 required criteria"
