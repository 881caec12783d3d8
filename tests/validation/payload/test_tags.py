from __future__ import annotations

from collections.abc import Iterable

import pytest

from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.validation.belonging import Tagged, tagged_points
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.index.readiness import Serving
from ragval_pipeline.validation.payload.tags import Partitioned, find_untagged

Named = dict[str, set[str]]


def page(key: str, tag: str, *, chunks: int = 2, salt: str = "") -> list[Tagged]:
    name = f"{key}{salt}"
    return [Tagged(f"{name}#{n}", key, key, f"text of {key} {n}", (tag,) if tag else ()) for n in range(chunks)]


def pages(folder: str, tag: str, count: int = 5) -> list[Tagged]:
    return [point for number in range(count) for point in page(f"{folder}/p{number}", tag)]


def named(points: Iterable[Tagged]) -> Named:
    found = find_all(Partitioned("tenant", list(points)))
    return {finding.code: {subject.name for subject in finding.subjects} for finding in found}


TWO = [*pages("x.example/a", "a"), *pages("x.example/b", "b")]


@pytest.mark.parametrize(
    "address", ["https://docs.example/{}/guide/p{}", "https://{}.docs.example/p{}", "https://docs.example/docs/{}/p{}"]
)
def test_a_page_whose_address_names_another_partition_is_named_as_a_whole_or_in_part(address: str) -> None:
    tenants = {name: [page(address.format(name, n), name) for n in range(6)] for name in ("acme", "beta", "core")}
    points = [point for all_pages in tenants.values() for own in all_pages for point in own]
    assert named(points) == {}
    whole = {point.point_id for point in tenants["acme"][2]}
    # A tenant called like a folder that all addresses have.
    points += page("https://docs.example/docs/p", "docs")
    copy = tenants["beta"][1][0]._replace(point_id="copy", tags=("core",))
    moved = [point._replace(tags=("beta",)) if point.point_id in whole else point for point in points]
    assert named([*moved, copy]) == {"partition.leak": {*whole, "copy"}}


def test_a_partition_that_shares_most_pages_of_another_one_does_so_on_purpose() -> None:
    free, pro = pages("x.example/free", "free"), pages("x.example/pro", "pro")
    shared = [point._replace(point_id=f"{point.point_id}pro", tags=("pro",)) for point in free]
    assert named([*free, *pro, *shared]) == {}


def test_a_partition_that_no_address_names_is_a_selection_from_others() -> None:
    latest = [*pages("x.example/docs/3.1", "3.1"), *pages("x.example/docs", "3.2")]
    assert named([*latest, *page("x.example/docs/3.1/q", "3.2")]) == {}
    whole = page("x.example/docs/3.1/r", "3.1", chunks=4)
    odd = whole[1]._replace(tags=("3.2",))
    assert named([*latest, whole[0], odd, *whole[2:]]) == {"partition.leak": {odd.point_id}}
    by_folder = [*pages("x.example/docs/a", "docs", 9), *pages("x.example/docs/b", "acme", 4)]
    assert named(by_folder) == {}


def test_where_every_page_is_in_its_partition_nothing_is_named() -> None:
    assert named(TWO) == {}
    assert named([*pages("x.example/docs", "a"), *page("x.example/docs/q", "b")]) == {}


def test_a_point_without_a_partition_is_named() -> None:
    assert named([*TWO, *page("x.example/a/q", "")]) == {"partition.untagged": {"x.example/a/q#0", "x.example/a/q#1"}}


def test_a_field_that_no_point_has_may_have_another_path_and_no_point_is_listed_for_it() -> None:
    (nowhere,) = find_untagged(Partitioned("tenant", page("x.example/a/q", ""), ("metadata.tenant", "text")))
    (somewhere,) = find_untagged(Partitioned("tenant", [*TWO, *page("x.example/a/q", "")]))
    assert nowhere.subjects == ()
    assert nowhere.remedy.endswith("Did you mean metadata.tenant?")
    assert len(somewhere.subjects) == 2


def test_files_that_two_partitions_have_on_purpose_are_no_leak() -> None:
    shared = [*pages("x.example/docs", "a"), *[point._replace(point_id=f"{point.point_id}b", tags=("b",))
              for point in pages("x.example/docs", "a")]]  # fmt: skip
    assert named(shared) == {}
    assert named([*TWO, *shared]) == {}


def test_files_of_one_name_that_two_partitions_have_with_their_own_texts_are_no_leak() -> None:
    own = [Tagged(f"{n}b", f"files/p{n}", None, f"own text {n}", ("b",)) for n in range(5)]
    assert named([*pages("files", "a"), *own]) == {}


def test_a_point_in_both_partitions_is_shared_and_no_leak() -> None:
    both = [point._replace(tags=("a", "b")) for point in page("x.example/b/q", "b")]
    assert named([*TWO, *both]) == {}


def test_where_most_pages_have_points_of_several_partitions_that_is_no_accident() -> None:
    mixed = [point for n in range(5) for point in page(f"x.example/docs/p{n}", "staff", chunks=4)]
    assert named([point._replace(tags=("all",)) if point.point_id.endswith("#0") else point for point in mixed]) == {}


def test_single_points_of_the_other_tenant_on_most_pages_are_named_if_both_have_pages_of_their_own() -> None:
    tenants = [page(f"x.example/docs/p{n}", "ab"[n % 2], chunks=6) for n in range(8)]
    moved = [point._replace(tags=("ba"[n % 2],)) for n, own in enumerate(tenants) for point in own[2:3]]
    names = {point.point_id for point in moved}
    rest = [point for own in tenants for point in own if point.point_id not in names]
    assert named([*rest, *moved]) == {"partition.leak": names}
    half = [point._replace(tags=("ba"[n % 2],)) for n, own in enumerate(tenants) for point in own[:3]]
    assert named([*half, *[point for own in tenants for point in own[3:]]]) == {}


def test_the_one_chunk_of_a_page_that_is_in_another_partition_is_named_unless_it_repeats_a_text() -> None:
    whole = page("x.example/docs/q", "a", chunks=4)
    odd = whole[2]._replace(tags=("b",))
    assert named([*whole[:2], odd, *whole[3:]]) == {"partition.leak": {odd.point_id}}
    assert named([*whole, odd._replace(point_id="copy")]) == {}


def test_two_chunks_of_a_page_do_not_tell_which_is_in_the_wrong_partition() -> None:
    first, second = page("x.example/docs/q", "a")
    assert named([first, second._replace(tags=("b",))]) == {}


@pytest.mark.parametrize(
    ("extra", "tags"),
    [
        ('{"qdrant.partition_by": "acme"}', ("acme",)),
        ('{"qdrant.partition_by": ["acme", "beta", "acme"]}', ("acme", "beta")),
        ('{"qdrant.partition_by": 3}', ("3",)),
        ('{"qdrant.partition_by": 0}', ("0",)),
        ('{"qdrant.partition_by": "  "}', ()),
        ('{"qdrant.partition_by": []}', ()),
        ('{"qdrant.partition_by": null}', ()),
        ('{"other": "acme"}', ()),
        (None, ()),
    ],
)
def test_the_values_of_the_field_are_partitions(extra: str | None, tags: tuple[str, ...]) -> None:
    row = {"point_id": "1", "page_key": None, "page_url": None, "source_url": None, "text_sha256": None, "extra": extra}
    assert [point.tags for point in tagged_points([row])] == [tags]


@pytest.mark.parametrize(
    ("indexes", "tenants", "is_named"),
    [
        ({}, (), True),
        ({"tenant": "keyword"}, (), True),
        ({"tenant": "keyword"}, ("tenant",), False),
        ({"tenant": "keyword"}, None, False),
        ({}, None, True),
    ],
)
def test_the_field_of_the_partitions_needs_an_index_for_tenants_where_the_server_knows_them(
    indexes: dict[str, str], tenants: tuple[str, ...] | None, is_named: bool
) -> None:
    facts = CollectionFacts(
        name="docs", local=False, status="green", points_count=1, payload_indexes=indexes, tenant_indexes=tenants
    )
    for serving in (Serving(facts, partition_by="tenant"), Serving(facts, asked_by=["tenant"])):
        found = find_all(serving)
        assert [finding.code for finding in found] == (["index.no_tenant_index"] if is_named else [])
    assert find_all(Serving(facts)) == []
