from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.validation.payload.ids import find_duplicate_ids
from tests.validation.factory import absolute
from tests.validation.rows import detected, evidence, named

RULE = "{source_url}_{chunk_index}"


def shared(*payloads):
    return list(find_duplicate_ids(evidence(*payloads)))


def test_all_points_that_share_an_id_are_named_and_know_each_other():
    [finding] = shared(*({"chunk_id": name, "source_url": "/a"} for name in ("x", "y", "x", "z", "x")))
    assert named([finding]) == ["0", "2", "4"]
    assert finding.subjects[0].details["others"] == ["2", "4"]


def test_numbers_that_each_page_counts_for_itself_are_places_and_not_ids():
    for start in (0, 1):
        points = [
            {"chunk_id": index + start, "chunk_index": index, "source_url": f"/p{page}"}
            for page in range(4) for index in range(3)
        ]  # fmt: skip
        assert shared(*points) == []
    without_index = [{"chunk_id": index, "source_url": f"/p{page}"} for page in range(4) for index in range(3)]
    assert shared(*without_index) == []
    with_a_long_page = [*without_index, *({"chunk_id": index, "source_url": "/long"} for index in range(10))]
    assert shared(*with_a_long_page) == []


def test_numbers_that_count_over_the_whole_collection_are_ids():
    points = [{"chunk_id": number, "chunk_index": number % 3, "source_url": f"/p{number // 3}"} for number in range(12)]
    points[7]["chunk_id"] = 2
    assert named(shared(*points)) == ["2", "7"]


def test_an_id_made_of_the_text_is_that_of_each_tenants_copy():
    points = [
        {"chunk_id": f"sha-{number}", "text": f"part {number}", "source_url": f"/p{number // 2}"} for number in range(4)
    ]
    assert named(of_tenants(points, points)) == []
    assert named(of_tenants(points, [{**point, "text": f"{point['text']}."} for point in points])) == list("01234567")
    assert named(of_tenants([*points, points[0]], points)) == ["0", "4"]


def of_tenants(*each: list[dict[str, object]]) -> list[Finding]:
    labels = [f'{{"tenant": "{number}"}}' for number, points in enumerate(each) for _ in points]
    made = evidence(*(point for points in each for point in points))

    def batches(columns: Sequence[str]) -> list[pa.RecordBatch]:
        [batch] = made.batches(columns)
        if "labels" in columns:
            batch = batch.set_column(list(columns).index("labels"), "labels", pa.array(labels))
        return [batch]

    return list(find_duplicate_ids(replace(made, batches=batches)))


def test_ids_by_the_rule_are_right_with_and_without_dashes():
    payloads = [{"source_url": "/a", "chunk_index": index} for index in range(4)]
    digests = [hashlib.md5(f"{absolute('/a')}_{index}".encode()).hexdigest() for index in range(4)]
    ids = [digests[0], str(uuid.UUID(digests[1])), digests[2].upper(), digests[0]]
    found = evidence(*payloads, id_rule=RULE)
    place = found.points.schema.names.index("point_id")
    renamed = found.points.set_column(place, "point_id", pa.array(ids))
    [finding] = detected("payload.id_rule", replace(found, points=renamed))
    assert finding.count == 1
    assert finding.subjects[0].details["expected"] == digests[3]


def test_points_without_url_or_index_cannot_be_judged():
    assert detected("payload.id_rule", evidence({"chunk_index": 1}, {"source_url": "/a"}, id_rule=RULE)) == []
