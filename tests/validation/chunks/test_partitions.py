"""Copies that a field tells apart, and parts of a page that one ingestion stored twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragval_pipeline.sources.snapshot.writer import labels_among
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.partitions import Copies, Labels, documents_of, partition_of
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, VISITORS, paragraphs, record
from tests.validation.rows import detected, evidence_of, named, rows

PAGES = {"/a": (GRIPPER, CAMERA), "/b": (BATTERY, VISITORS), "/c": (f"Note. {CAMERA}", f"Note. {BATTERY}")}


def world(*stored: tuple[str, str, dict[str, Any]]) -> ChunkEvidence:
    """The evidence of points: page, text and labels."""
    found = rows(*({"source_url": page, "text": text} for page, text, _ in stored), pages=tuple(PAGES))
    for row, (_, _, labels) in zip(found, stored, strict=True):
        row["labels"] = json.dumps(labels)
    return evidence_of(found, [record(paragraphs(*texts), page=page) for page, texts in PAGES.items()])


def of(pages: str, **labels: Any) -> list[tuple[str, str, dict[str, Any]]]:
    return [(f"/{page}", text, labels) for page in pages for text in PAGES[f"/{page}"]]


def test_copies_of_two_tenants_are_no_second_ingestion_and_nothing_of_them_is_surplus():
    evidence = world(*of("abc", tenant="red"), *of("ab", tenant="blue"))
    [finding] = detected("chunk.ingested_twice", evidence)
    assert (finding.severity, finding.scope) == ("info", "tenant")
    assert [subject.name.rpartition("/")[2] for subject in finding.subjects] == ["a", "b"]
    assert not any(subject.older or subject.generations for subject in finding.subjects)
    assert "qdrant.filter: {tenant: blue}" in finding.remedy
    assert named(detected("chunk.duplicate_text", evidence)) == []


def test_what_a_page_repeats_is_no_copy_of_itself_in_the_whole_page_of_each_tenant():
    note = "To be done, and told when it is."
    texts = [f"{GRIPPER} {note}", note, CAMERA, note]
    stored = [("/a", text, {"tenant": tenant}) for tenant in ("red", "blue") for text in texts]
    more = [("/b", text, {"tenant": tenant}) for tenant in ("red", "blue") for text in PAGES["/b"]]
    pages = {"/a": texts, "/b": PAGES["/b"]}
    placed = rows(*({"source_url": page, "text": text} for page, text, _ in (*stored, *more)), pages=tuple(pages))
    for row, (_, _, labels) in zip(placed, (*stored, *more), strict=True):
        row["labels"] = json.dumps(labels)
    evidence = evidence_of(placed, [record(paragraphs(*own), page=page) for page, own in pages.items()])
    assert evidence.partition is not None
    assert named(detected("chunk.duplicate_text", evidence)) == []


def versions(*folders: str, field: str | None = None) -> ChunkEvidence:
    """A site with the same pages in each folder, of which each text has a few words of its own."""
    texts = {
        f"{folder}{page}": [f"{text} As of {number}." for text in texts]
        for number, folder in enumerate(folders)
        for page, texts in PAGES.items()
    }
    found = rows(
        *({"source_url": page, "text": text} for page, own in texts.items() for text in own), pages=tuple(texts)
    )
    for row, folder in zip(found, (folder for folder in folders for own in PAGES.values() for _ in own), strict=True):
        row["labels"] = json.dumps({"area": "docs"} | ({field: folder.rpartition("/")[2] or "3.2"} if field else {}))
    return evidence_of(found, [record(paragraphs(*own), page=page) for page, own in texts.items()])


@pytest.mark.parametrize("field", [None, "release"])
def test_versions_beside_each_other_are_named_as_information_with_the_field_that_has_them(field: str | None):
    evidence = versions("/docs", "/docs/3.1", field=field)
    [finding] = detected("chunk.ingested_twice", evidence)
    assert (finding.severity, finding.scope, finding.count) == ("info", "version", 6)
    assert "/docs (3 pages), /docs/3.1 (3 pages)" in finding.message
    assert finding.details.get("told_by") == field
    assert [subject.details["version"] for subject in finding.subjects] == ["3.1"] * 3 + [None] * 3
    assert named(detected("chunk.duplicate_text", evidence)) == []
    [alike] = detected("chunk.near_duplicate", evidence)
    assert alike.details["pairs"] == 4  # of /a and /b with /c, in either version


def test_folders_of_other_names_are_no_versions():
    assert detected("chunk.ingested_twice", versions("/react", "/vue")) == []


def test_a_tenants_page_that_is_stored_twice_is_found_beside_the_copies_of_tenants():
    evidence = world(*of("abc", tenant="red"), *of("ab", tenant="blue"), *of("a", tenant="red"))
    scopes = {finding.scope: finding for finding in detected("chunk.ingested_twice", evidence)}
    assert scopes[None].count == 1
    assert scopes["tenant"].subjects[0].name.endswith("/b")


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(({}, {}), id="nothing differs"),
        pytest.param(({"job": "2026-01-01T08:00:00Z"}, {"job": "2026-02-01T08:00:00Z"}), id="a time"),
        pytest.param(({"lang": "en"}, {"lang": "en"}), id="one value"),
        pytest.param(({"tenant": "red"}, {}), id="no value"),
    ],
)
def test_what_tells_no_partitions_apart_leaves_a_second_ingestion(labels: tuple[dict[str, Any], dict[str, Any]]):
    [finding] = detected("chunk.ingested_twice", world(*of("abc", **labels[0]), *of("ab", **labels[1])))
    assert (finding.severity, finding.scope, finding.count) == ("error", None, 2)


def test_a_document_has_a_value_of_its_own_and_is_no_partition():
    values = {"0": "x", "1": "x", "2": "y", "3": "y", "4": "z", "5": "z"}
    labels = Labels({"document": values}, dict(zip("012345", "aaaabb", strict=True)))
    copies = [Copies(("0", "2")), Copies(("1", "3"))]
    assert partition_of(copies, labels) is None
    assert (found := documents_of(copies, labels)) is not None
    assert found.path == "document"


def test_labels_are_short_values_that_points_share():
    usual = {"tenant": "red", "text": "x" * 80, "tags": ["a"], "node": '{"of": 1}'}
    payloads = [{**usual, "id": number, "meta": {"lang": "en", "part": number % 2}} for number in range(6)]
    assert labels_among(payloads) == ["meta.lang", "meta.part", "node", "tenant"]


def inner(*texts: str, page: tuple[str, ...] = (GRIPPER, CAMERA, BATTERY)) -> dict[str, str]:
    """The chunks of a page within others, with these."""
    stored = [{"source_url": "/a", "text": text} for text in texts]
    found = evidence_of(rows(*stored), [record(paragraphs(*page))])
    findings = detected("chunk.duplicate_text", found)
    return {subject.name: subject.within for finding in findings for subject in finding.subjects}


def test_a_part_of_a_page_on_its_own_and_with_its_section_is_named():
    assert inner(f"{GRIPPER}\n{CAMERA}", BATTERY, CAMERA) == {"2": "0"}


def test_consecutive_chunks_that_overlap_are_within_none():
    assert inner(f"{GRIPPER}\n{CAMERA}", f"{CAMERA}\n{BATTERY}") == {}


def test_a_last_window_within_the_one_before_it_is_an_overlap():
    assert inner(f"{GRIPPER}\n{CAMERA}", f"{CAMERA}\n{BATTERY}", BATTERY) == {}


def test_a_chunk_with_which_the_next_one_begins_again_is_an_overlap():
    page = (CAMERA, GRIPPER, BATTERY)
    assert inner(CAMERA, f"{CAMERA}\n{GRIPPER}", f"{GRIPPER}\n{BATTERY}", page=page) == {}


def test_chunks_within_the_parent_that_they_name_are_children():
    parent = {"source_url": "/a", "text": f"{GRIPPER}\n{CAMERA}", "chunk_id": "p"}
    children = [
        {"source_url": "/a", "text": text, "chunk_id": text[:3], "parent_id": "p"} for text in (GRIPPER, CAMERA)
    ]
    found = evidence_of(rows(parent, *children), [record(paragraphs(GRIPPER, CAMERA))])
    assert detected("chunk.duplicate_text", found) == []


def test_elements_that_are_read_twice_under_one_numbering_are_of_one_ingestion():
    texts = (f"{GRIPPER}\n{CAMERA}\n{BATTERY}", GRIPPER, CAMERA, BATTERY)
    stored = [{"source_url": "/a", "text": text, "chunk_index": at} for at, text in enumerate(texts)]
    found = evidence_of(rows(*stored), [record(paragraphs(GRIPPER, CAMERA, BATTERY))])
    assert detected("chunk.ingested_twice", found) == []
    assert named(detected("chunk.duplicate_text", found)) == ["1", "2", "3"]
