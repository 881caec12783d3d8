from __future__ import annotations

import json
from typing import Any

import pytest

from ragval_pipeline.validation.belonging import PARTITION, Partitions, Tagged, tagged_points

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


def stored(*values: Any) -> list[Tagged]:
    names = ("page_key", "page_url", "source_url", "text_sha256")
    rows = [
        dict.fromkeys(names) | {"point_id": str(n), "extra": json.dumps({PARTITION: v})} for n, v in enumerate(values)
    ]
    return tagged_points(rows)


@pytest.mark.parametrize(
    "value", [None, "", " \u200b", {}, {"id": "acme"}, [], [{"id": "acme"}], [["acme"]], [None, ""]]
)
def test_what_no_filter_finds_is_no_partition(value: Any) -> None:
    assert stored(value)[0].tags == ()


def test_a_number_and_a_text_are_two_partitions_as_for_a_filter() -> None:
    points = stored(1, "1", ["1", "acme"], True, "acme ")
    assert [point.tags for point in points] == [("1",), ('"1"',), ('"1"', "acme"), ("true",), ("acme ",)]
    found = Partitions.of("tenant", points, None, {"number": {"tenant": 1}, "text": {"tenant": "1"}})
    assert found.queries == {"number": frozenset({"1"}), "text": frozenset({'"1"'})}
    alone = Partitions.of("tenant", stored("1"), None, {"text": {"tenant": "1"}})
    assert (dict(alone.sizes), alone.queries) == ({"1": 1}, {"text": frozenset({"1"})})
