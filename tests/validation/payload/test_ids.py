from __future__ import annotations

import hashlib
import uuid

from ragval_pipeline.validation.payload.ids import (
    collect_ids,
    collect_rule_breaks,
    duplicate_id_findings,
    id_rule_findings,
    merge_ids,
)
from tests.validation.rows import named, rows

RULE = "{source_url}_{chunk_index}"


def test_all_points_that_share_an_id_are_named_and_know_each_other():
    found = rows(*({"chunk_id": name, "source_url": "/a"} for name in ("x", "y", "x", "z", "x")))
    finding = duplicate_id_findings(collect_ids(found))[0]
    assert named([finding]) == ["0", "2", "4"]
    assert finding.subjects[0].details["others"] == ["2", "4"]


def test_points_without_an_id_share_nothing():
    assert duplicate_id_findings(collect_ids(rows({"chunk_id": ""}, {"chunk_id": None}, {}, {"chunk_id": " "}))) == []


def test_numbers_that_each_page_counts_for_itself_are_places_and_not_ids():
    for start in (0, 1):
        points = [
            {"chunk_id": index + start, "chunk_index": index, "source_url": f"/p{page}"}
            for page in range(4) for index in range(3)
        ]  # fmt: skip
        assert duplicate_id_findings(collect_ids(rows(*points))) == []
    without_index = [{"chunk_id": index, "source_url": f"/p{page}"} for page in range(4) for index in range(3)]
    assert duplicate_id_findings(collect_ids(rows(*without_index))) == []


def test_numbers_that_count_over_the_whole_collection_are_ids():
    points = [{"chunk_id": number, "chunk_index": number % 3, "source_url": f"/p{number // 3}"} for number in range(12)]
    points[7]["chunk_id"] = 2
    assert named(duplicate_id_findings(collect_ids(rows(*points)))) == ["2", "7"]


def test_duplicates_across_slices_are_found_by_merging():
    found = rows({"chunk_id": "x"}, {"chunk_id": "y"}, {"chunk_id": "x"})
    merged = merge_ids([collect_ids(found[:1]), collect_ids(found[1:])])
    assert named(duplicate_id_findings(merged)) == ["0", "2"]


def test_ids_by_the_rule_are_right_with_and_without_dashes():
    found = rows(*({"source_url": "/a", "chunk_index": index} for index in range(4)))
    digests = [hashlib.md5(f"{row['source_url']}_{row['chunk_index']}".encode()).hexdigest() for row in found]
    ids = [digests[0], str(uuid.UUID(digests[1])), digests[2].upper(), digests[0]]
    points = [{**row, "point_id": name} for row, name in zip(found, ids, strict=True)]
    finding = id_rule_findings(collect_rule_breaks(points, RULE), RULE)[0]
    assert finding.count == 1
    assert finding.subjects[0].details["expected"] == digests[3]


def test_points_without_url_or_index_cannot_be_judged():
    assert collect_rule_breaks(rows({"chunk_index": 1}, {"source_url": "/a"}), RULE) == []
