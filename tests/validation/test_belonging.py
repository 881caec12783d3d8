from __future__ import annotations

import pytest

from ragval_pipeline.validation.belonging import Partitions, Tagged

POINTS = [
    Tagged("1", "https://x.example/a/one", None, None, ("a",)),
    Tagged("2", "https://x.example/a/two", None, None, ("a",)),
    Tagged("3", "https://x.example/b/one", None, None, ("b", "c")),
    Tagged("4", None, None, None, ()),
]


@pytest.mark.parametrize(
    ("page", "values"),
    [
        ("https://x.example/a/one", {"a"}),
        ("https://x.example/a/missing", {"a"}),
        ("https://x.example/a/deeper/missing", {"a"}),
        ("https://x.example/b/missing", set()),  # its folder is in two
        ("https://x.example/missing", set()),
        ("https://other.example/missing", set()),
    ],
)
def test_a_page_without_points_is_in_the_only_partition_of_its_folder(page: str, values: set[str]) -> None:
    assert set(Partitions.of("tenant", POINTS).of_page(page)) == values


def test_a_query_is_in_the_partition_of_its_filter_else_in_those_of_its_pages() -> None:
    pages = {"q": ["https://x.example/a/one"], "filtered": ["https://x.example/a/one"], "nowhere": []}
    found = Partitions.of("tenant", POINTS, pages, {"q": {"lang": "a"}, "filtered": {"tenant": 7}, "nowhere": None})
    assert {name: set(found.of_query(name)) for name in pages} == {"q": {"a"}, "filtered": {"7"}, "nowhere": set()}


def test_partitions_are_ordered_by_their_points_and_a_point_may_be_in_several() -> None:
    found = Partitions.of("tenant", POINTS)
    assert dict(found.sizes) == {"a": 2, "b": 1, "c": 1}
    assert found.grouped([point.point_id for point in POINTS], found.of_point) == {
        "a": ["1", "2"], "b": ["3"], "c": ["3"],
    }  # fmt: skip
