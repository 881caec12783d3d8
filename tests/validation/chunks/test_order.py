from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.validation.chunks.token_counts import LimitRules
from ragval_pipeline.validation.repair.duplicates import surplus_points
from ragval_pipeline.validation.repair.stored import PointLookup
from tests.validation.chunks.world import BATTERY, CAMERA, GRIPPER, VISITORS, paragraphs, record
from tests.validation.rows import detected, evidence_of
from tests.validation.rows import rows as snapshot_rows

Rows = list[dict[str, Any]]


def row(number: int, page: str | None, index: int | None) -> dict[str, Any]:
    return {
        "point_id": f"p{number:03}",
        "page_key": page,
        "source_url": None if page is None else f"https://docs.example.com/{page}",
        "chunk_index": index,
        "embedded_at": None,
        "model": None,
        "text": None,
    }


def rows(**pages: list[int | None]) -> Rows:
    chunks = [(page, index) for page, indices in pages.items() for index in indices]
    return [row(number, page, index) for number, (page, index) in enumerate(chunks)]


def found(chunks: Rows) -> dict[str, Finding]:
    return {finding.code: finding for finding in in_order(chunks)}


def in_order(chunks: Rows, model: str | None = None) -> list[Finding]:
    evidence = evidence_of(chunks, limits=LimitRules(model=model))
    return [finding for code in ("chunk.index_gap", "chunk.duplicate_index") for finding in detected(code, evidence)]


def gaps(chunks: Rows) -> dict[str, Any]:
    finding = found(chunks).get("chunk.index_gap")
    return {subject.name[-1]: subject.details["missing"] for subject in finding.subjects} if finding else {}


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(rows(a=[0, 1, 2], b=[0], c=[2, 0, 1]), id="every index from 0 up once"),
        pytest.param([*rows(a=[0, None, 1]), row(90, None, 5), row(91, None, 5)], id="points without index or page"),
        pytest.param(rows(a=[-1, 0, 1], b=[-1, -1]), id="negative indices, which are wrong elsewhere"),
    ],
)
def test_what_is_in_order_is_not_named(chunks: Rows) -> None:
    assert found(chunks) == {}


@pytest.mark.parametrize(
    ("chunks", "missing"),
    [
        (rows(a=[0, 2, 5], b=[1, 2], c=[0]), {"a": [1, 3, 4], "b": [0]}),
        (rows(a=[1, 2], b=[1, 3]), {"b": [2]}),  # every page starts at 1
        (rows(a=[1, 2], b=[2, 3], c=[1]), {"b": [1]}),  # although one lost its first chunk
        (rows(a=[1, 2], b=[1], c=[0, 1]), {"a": [0], "b": [0]}),
        (rows(a=[1, 2]), {"a": [0]}),  # one page alone is no convention
    ],
)
def test_a_missing_index_is_a_gap_counted_from_where_most_pages_start(
    chunks: Rows, missing: dict[str, list[int]]
) -> None:
    assert gaps(chunks) == missing


def test_a_page_that_is_stored_by_its_fragments_is_named_without_one() -> None:
    stored = rows(a=[0, 1, 3])
    for number, entry in enumerate(stored):
        entry["source_url"] += f"#place-{number}"
    assert [subject.name for subject in found(stored)["chunk.index_gap"].subjects] == ["https://docs.example.com/a"]


def test_pages_without_their_first_numbers_are_not_said_to_lack_chunks_in_the_middle() -> None:
    late = found(rows(a=[1, 2, 3], b=[1, 2], c=[0, 1], d=[0]))["chunk.index_gap"]
    assert late.message == "2 pages have no chunk 0; later numbers are complete."
    assert "not numbered from" in late.cause
    assert "complete" in late.remedy
    both = found(rows(a=[1, 2, 3], b=[0, 2], c=[0, 1]))["chunk.index_gap"]
    assert both.message == "2 pages lack some of their chunks."


def test_one_count_through_the_whole_collection_is_no_gap() -> None:
    through = {"a": [0, 1], "b": [2, 3, 4], "c": [5], "d": [6, 7]}
    assert "chunk.index_gap" not in found(rows(**through))
    lacking = found(rows(**{**through, "b": [2, 4]}))["chunk.index_gap"]
    assert [subject.name for subject in lacking.subjects] == ["https://docs.example.com/b"]
    assert lacking.subjects[0].details["missing"] == [3]
    beside = found(rows(**{**through, "a": [0]}, e=[9, 11]))["chunk.index_gap"]
    assert [subject.name for subject in beside.subjects] == ["https://docs.example.com/e"]


def test_pages_that_lack_no_passage_are_only_numbered_wrongly() -> None:
    texts = {f"/{name}": (f"{name}: {GRIPPER}", f"{name}: {CAMERA}") for name in "abc"}
    records = [record(paragraphs(*parts), page=at) for at, parts in texts.items()]
    stored = [
        {"source_url": at, "chunk_index": start + number, "text": text}
        for (at, parts), start in zip(texts.items(), (1, 1, 0), strict=True)
        for number, text in enumerate(parts)
    ]
    [late] = detected("chunk.index_gap", evidence_of(snapshot_rows(*stored, pages=tuple(texts)), records))
    assert "not numbered from 0" in late.cause
    assert late.remedy.endswith("Their texts and vectors are right.")
    [lost] = detected("chunk.index_gap", evidence_of(snapshot_rows(*stored[1:], pages=tuple(texts)), records))
    assert "Their texts and vectors are right." not in lost.remedy


def test_one_absurd_index_costs_neither_time_nor_memory() -> None:
    finding = found(rows(a=[0, 1, 2**62], b=[0]))["chunk.index_gap"]
    details = finding.subjects[0].details
    assert details["missing"] == list(range(2, 102))
    assert details["missing_count"] == 2**62 - 2
    assert details["highest"] == 2**62


def test_points_that_share_page_and_index_are_all_named_with_the_others() -> None:
    finding = found(rows(a=[0, 1, 1, 1], b=[0, 0]))["chunk.duplicate_index"]
    assert [subject.name for subject in finding.subjects] == ["p001", "p002", "p003", "p004", "p005"]
    assert finding.subjects[0].details == {
        "page_url": "https://docs.example.com/a",
        "chunk_index": 1,
        "others": ["p002", "p003"],
        "embedded_at": None,
    }
    assert finding.message == "5 points share page and chunk index, in 2 groups."


@pytest.mark.parametrize(
    ("ids", "stored", "older", "told_by"),
    [
        (("b", "a"), ({"embedded_at": "2026-01-02"}, {"embedded_at": "2026-03-01T00:00:00Z"}), "b", "date"),
        (("a", "b"), ({"model": "embed-english-v2.0"}, {"model": "embed-english-v3.0"}), "a", "model"),
        (("9", "10"), ({}, {}), "9", "id"),
        (("019a0000-0000-7000-8000-000000000000", "0199ffff-0000-7000-8000-000000000000"), ({}, {}),
         "0199ffff-0000-7000-8000-000000000000", "id"),
        (("a", "b"), ({"embedded_at": "2026-01-02"}, {}), None, None),
        (("a", "b"), ({"embedded_at": "2026-01-02"}, {"embedded_at": "2026-01-02"}), None, None),
    ],
)  # fmt: skip
def test_of_points_that_share_an_index_the_older_is_named_where_anything_tells(
    ids: tuple[str, str], stored: tuple[dict[str, str], dict[str, str]], older: str | None, told_by: str | None
) -> None:
    chunks = [{**base, "point_id": name, **more} for base, name, more in zip(rows(a=[0, 0]), ids, stored, strict=True)]
    [finding] = in_order(chunks, "embed-english-v3.0")
    named = {subject.name for subject in finding.subjects if subject.details.get("older")}
    assert named == ({older} if older else set())
    assert {subject.details.get("told_by") for subject in finding.subjects} == {told_by}
    assert ("it is not known which is older" in finding.remedy) is (older is None)


def test_a_constant_index_over_thousands_of_points_lists_some_of_the_others() -> None:
    finding = found(rows(a=[0] * 5000))["chunk.duplicate_index"]
    assert finding.count == 5000
    assert len(finding.subjects[0].details["others"]) == 100


def test_points_with_the_same_text_for_an_address_share_no_page():
    stored = snapshot_rows(*({"source_url": page, "chunk_index": 0} for page in ("/a", "unknown", "unknown")))
    assert in_order(stored) == []


def test_document_ids_are_pages_where_no_page_is_an_address():
    stored = snapshot_rows(*({"source_url": "doc-1", "chunk_index": 0} for _ in range(2)))
    assert [finding.code for finding in in_order(stored)] == ["chunk.duplicate_index"]


def test_of_points_that_share_an_index_the_one_that_its_page_has_stays_whatever_the_dates_say() -> None:
    dates = ("2026-01-02", "2026-02-02", "2026-03-02")
    texts = (GRIPPER, CAMERA, VISITORS)
    stored = [
        {"source_url": "/a", "chunk_index": 0, "text": text, "embedded_at": date}
        for text, date in zip(texts, dates, strict=True)
    ]

    evidence = evidence_of(snapshot_rows(*stored), [record(paragraphs(GRIPPER))])
    [finding] = detected("chunk.duplicate_index", evidence)
    left = {(entry.name, entry.details["told_by"]) for entry in finding.subjects if not entry.details["older"]}
    assert left == {("0", "page")}
    assert surplus_points(finding, PointLookup(), set()).delete == ["1", "2"]


def test_of_points_with_one_number_the_page_tells_none_when_it_has_none_of_them() -> None:
    stored = [{"source_url": "/a", "chunk_index": 0, "text": text} for text in (CAMERA, VISITORS)]
    evidence = evidence_of(snapshot_rows(*stored), [record(paragraphs(GRIPPER))])
    [finding] = detected("chunk.duplicate_index", evidence)
    assert {entry.details["told_by"] for entry in finding.subjects} == {"id"}


def numbered(
    *stored: tuple[str, int],
    pages: dict[str, tuple[str, ...]],
    at: str = "/a",
    code: str = "chunk.duplicate_index",
) -> Finding:
    """The finding of chunks of a page, each with a text and a number, and a later time than the one before."""
    chunks = [
        {"source_url": at, "chunk_index": index, "text": text, "embedded_at": f"2026-01-{day:02}"}
        for day, (text, index) in enumerate(stored, 1)
    ]
    records = [record(paragraphs(*content), page=page) for page, content in pages.items()]
    [finding] = detected(code, evidence_of(snapshot_rows(*chunks, pages=tuple(pages)), records))
    return finding


def surplus(finding: Finding) -> tuple[list[str], list[str]]:
    found = surplus_points(finding, PointLookup(), set())
    return sorted(found.delete), found.review


def test_chunks_are_numbered_within_the_larger_chunk_that_they_name() -> None:
    texts = {"first": (GRIPPER, CAMERA), "second": (BATTERY, VISITORS)}
    parts = [
        {"source_url": "/a", "text": text, "chunk_index": number, "parent_id": parent}
        for parent, own in texts.items()
        for number, text in enumerate(own)
    ]
    copy = record(paragraphs(GRIPPER, CAMERA, BATTERY, VISITORS))
    assert detected("chunk.duplicate_index", evidence_of(snapshot_rows(*parts), [copy])) == []
    [finding] = detected("chunk.duplicate_index", evidence_of(snapshot_rows(*parts, parts[0]), [copy]))
    assert [subject.name for subject in finding.subjects] == ["0", "4"]


def test_numbers_that_begin_again_in_each_larger_chunk_leave_out_what_was_divided_further() -> None:
    parents = {"first": (GRIPPER, CAMERA), "second": (BATTERY, VISITORS)}
    parts = [
        {"source_url": "/a", "text": text, "chunk_index": 2 * number, "parent_id": parent}
        for parent, own in parents.items()
        for number, text in enumerate(own)
    ]
    assert detected("chunk.index_gap", evidence_of(snapshot_rows(*parts), [])) == []
    for part in parts:
        part["parent_id"] = "page"
    assert detected("chunk.index_gap", evidence_of(snapshot_rows(*parts), [])) != []


def test_points_with_one_number_that_hold_different_stretches_of_their_page_are_no_copies() -> None:
    sections = (GRIPPER, CAMERA, BATTERY, VISITORS)
    finding = numbered((GRIPPER, 0), (CAMERA, 1), (BATTERY, 0), (VISITORS, 1), pages={"/a": sections})
    assert [subject.name for subject in finding.subjects] == ["0", "1", "2", "3"]
    assert [subject.details["same"] for subject in finding.subjects] == [[], [], [], []]
    assert surplus(finding) == ([], [])
    assert finding.message == "4 points share page and chunk index, in 2 groups. None of them is stored twice."
    assert finding.severity == "warning"
    assert "numbering repeats" in finding.cause
    assert "Number the chunks" in finding.remedy
    assert "None of these points is a copy" in finding.remedy


def test_a_number_is_given_twice_because_of_a_text_of_another_page_where_it_would_be_given_once_without() -> None:
    pages = {"/a": (GRIPPER, CAMERA), "/b": (BATTERY, VISITORS)}
    for stored, strangers in (
        (((GRIPPER, 0), (BATTERY, 0)), ("1",)),
        (((GRIPPER, 0), (CAMERA, 0)), ()),
        (((GRIPPER, 0), (CAMERA, 0), (BATTERY, 0)), ()),
    ):
        for subject in numbered(*stored, pages=pages).subjects:
            assert subject.points == strangers
            assert (Aspect.PLACE in subject.without) is not bool(strangers)


def test_a_number_is_given_twice_because_of_a_text_of_a_page_that_is_much_like_this_one() -> None:
    alike = f"{GRIPPER} {CAMERA}"
    pages = {"/a": (GRIPPER, CAMERA), "/b": (GRIPPER, CAMERA, BATTERY)}
    finding = numbered((alike, 0), (f"{alike} {BATTERY}", 0), pages=pages)
    assert [subject.points for subject in finding.subjects] == [("1",), ("1",)]
    assert surplus(finding)[0] == []
    # Without the other page it is an older version.
    assert surplus(numbered((alike, 0), (f"{alike} {BATTERY}", 0), pages={"/a": pages["/a"]})) == (["1"], [])


def test_of_two_points_with_one_number_the_one_that_differs_from_the_page_is_the_older() -> None:
    reworded = GRIPPER.replace("two amperes", "three old amperes")
    finding = numbered((GRIPPER, 0), (reworded, 0), (CAMERA, 1), pages={"/a": (GRIPPER, CAMERA)})
    assert {entry.name: (entry.details["older"], entry.details["told_by"]) for entry in finding.subjects} == {
        "0": (False, "page"),
        "1": (True, "page"),
    }
    assert surplus(finding) == (["1"], [])
    assert [entry.name for entry in finding.subjects if Aspect.LATEST not in entry.without] == ["1"]


def test_of_copies_that_all_differ_from_their_page_none_is_said_to_be_of_an_older_one() -> None:
    reworded = GRIPPER.replace("two amperes", "three old amperes")
    finding = numbered((reworded, 0), (reworded, 0), (CAMERA, 1), pages={"/a": (GRIPPER, CAMERA)})
    assert all(Aspect.LATEST in entry.without for entry in finding.subjects if not entry.details.get("older"))
    assert {entry.details.get("told_by") for entry in finding.subjects} != {"page"}


def test_of_points_with_one_number_only_those_with_the_same_stretch_are_copies() -> None:
    longer = f"{GRIPPER} {CAMERA}"
    finding = numbered((GRIPPER, 0), (longer, 0), (BATTERY, 0), pages={"/a": (GRIPPER, CAMERA, BATTERY)})
    assert {entry.name: entry.details["same"] for entry in finding.subjects} == {"0": ["1"], "1": ["0"], "2": []}
    assert surplus(finding) == (["0"], [])
    assert finding.message.endswith("1 of them is not stored twice.")
    assert finding.severity == "error"
    assert "No other points are copies" in finding.remedy


@pytest.mark.parametrize(("day", "begins_again"), [("2026-01-01", True), ("2026-02-01", False)])
def test_a_numbering_begins_again_within_one_ingestion_and_not_in_the_next_one(day: str, begins_again: bool) -> None:
    stored = [(GRIPPER, "2026-01-01"), (f"{GRIPPER} {CAMERA}", day), (BATTERY, day)]
    chunks = [{"source_url": "/a", "chunk_index": 0, "text": text, "embedded_at": date} for text, date in stored]
    copy = record(paragraphs(GRIPPER, CAMERA, BATTERY))
    [finding] = detected("chunk.duplicate_index", evidence_of(snapshot_rows(*chunks), [copy]))
    assert ("numbering repeats" in finding.cause) == begins_again


def test_a_point_with_the_number_of_another_that_another_page_holds_is_no_older_version() -> None:
    finding = numbered((GRIPPER, 0), (CAMERA, 0), pages={"/a": (GRIPPER, BATTERY), "/b": (CAMERA, VISITORS)})
    assert [subject.details["same"] for subject in finding.subjects] == [[], []]
    assert surplus(finding) == ([], [])


def test_what_an_older_ingestion_numbered_otherwise_is_stored_twice() -> None:
    older = [(CAMERA, 0), (BATTERY, 1)]
    newer = [(GRIPPER, 0), (CAMERA, 1), (BATTERY, 2)]
    finding = numbered(*older, *newer, pages={"/a": (GRIPPER, CAMERA, BATTERY)})
    assert surplus(finding) == (["0", "1"], [])
    assert "numbering" not in finding.cause


def test_a_passage_that_its_page_repeats_is_no_copy_of_itself() -> None:
    page = (GRIPPER, CAMERA, BATTERY, CAMERA)
    finding = numbered((GRIPPER, 0), (CAMERA, 1), (BATTERY, 0), (CAMERA, 1), pages={"/a": page})
    assert [subject.details["same"] for subject in finding.subjects] == [[], [], [], []]
    again = numbered((GRIPPER, 0), (CAMERA, 0), (BATTERY, 1), (CAMERA, 2), (CAMERA, 2), pages={"/a": page})
    assert {entry.name: entry.details["same"] for entry in again.subjects}["3"] == ["4"]


def test_a_gap_before_the_text_of_another_page_follows_from_that_text_if_the_page_has_all_numbers_without_it() -> None:
    pages = {"/a": (GRIPPER, CAMERA), "/b": (BATTERY, VISITORS)}
    for stored, follows in (
        (((GRIPPER, 0), (CAMERA, 1), (BATTERY, 4)), True),
        (((GRIPPER, 0), (CAMERA, 2), (BATTERY, 4)), False),
        (((GRIPPER, 0), (CAMERA, 2)), False),
        (((GRIPPER, 0), (BATTERY, 1), (CAMERA, 3)), False),
    ):
        (subject,) = numbered(*stored, pages=pages, code="chunk.index_gap").subjects
        assert (Aspect.OWN not in subject.without) is follows


def test_an_index_without_numbers_does_without_pandas() -> None:
    code = (
        "import sys; from datetime import UTC, datetime; from ragval_pipeline.validation.chunks.order import Orders\n"
        "assert Orders.of(lambda columns: [], now=datetime.now(UTC)).keys == []\n"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
