from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.absent import AbsentEntry, AbsentKind
from ragval_pipeline.validation.absent import COLUMNS, Held, Returned, look_up, questions_of
from ragval_pipeline.validation.detectors import find_all

UUID = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"


def entry(kind: AbsentKind, value: str) -> AbsentEntry:
    return AbsentEntry(kind, value, "phrase 1" if kind == "phrase" else value)


def row(**values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), "point_id": "1", **values}


def held(listed: AbsentEntry, *rows: Mapping[str, Any]) -> Held:
    return look_up([listed], rows, lambda url: url.rstrip("/").removeprefix("https://docs.example.com"))


@pytest.mark.parametrize(
    ("listed", "point", "is_held"),
    [
        (entry("url", "https://docs.example.com/old/"), {"page_key": "/old"}, True),
        (entry("url", "https://docs.example.com/old/"), {"page_key": "/older"}, False),
        (entry("id", UUID.upper()), {"point_id": UUID}, True),
        (entry("id", "intro"), {"chunk_id": "intro"}, True),
        (entry("id", "intro"), {"text": "intro"}, False),
        (entry("phrase", "Blue Heron"), {"text": "The plan (blue-heron)\nfor May."}, True),
        (entry("phrase", "Blue Heron"), {"text": "Blue herons are birds."}, False),
        (entry("phrase", "Blue Heron"), {"text": "Heron, blue"}, False),
        (entry("phrase", "Blue Heron"), {"text": "Plans", "headings": ["Plans", "Blue\u00a0Heron"]}, True),
        (entry("phrase", "蓝色苍鹭"), {"text": "计划蓝色苍鹭将于五月开始"}, True),
        (entry("phrase", "old-intro"), {"chunk_id": "old-intro"}, True),
    ],
)
def test_a_point_holds_an_address_an_id_or_words_that_follow_each_other(
    listed: AbsentEntry, point: Mapping[str, Any], is_held: bool
) -> None:
    assert bool(held(listed, row(**point)).points) == is_held


def test_the_finding_names_points_and_entries_but_no_phrase() -> None:
    [finding] = find_all(
        held(entry("phrase", "Blue Heron"), row(text="Blue Heron", page_key="/plans"), row(point_id="2"))
    )
    assert (finding.code, finding.severity, finding.count) == ("absent.present", "error", 1)
    assert [(subject.name, subject.page) for subject in finding.subjects] == [("1", "/plans")]
    assert finding.subjects[0].details == {"entries": ["phrase 1"]}
    assert "Heron" not in finding.model_dump_json()


def test_an_entry_is_asked_for_by_its_words_and_by_the_names_of_its_points() -> None:
    points = held(entry("phrase", "Blue Heron"), row(text="Blue Heron", title="Plans", headings=["Plans", "May"]))
    asked = questions_of(points, everything=False, top_k=5)
    assert [question.text for question in asked] == ["Blue Heron", "Plans", "Plans May"]
    page = held(entry("url", "https://docs.example.com/old"), row(page_key="/old", text="Some words."))
    assert [question.text for question in questions_of(page, everything=False, top_k=5)] == ["Some words."]


def test_what_no_point_holds_is_asked_for_only_where_another_index_may_answer() -> None:
    nothing = held(entry("phrase", "Blue Heron"), row(text="Plans"))
    assert questions_of(nothing, everything=False, top_k=5) == []
    assert [question.text for question in questions_of(nothing, everything=True, top_k=5)] == ["Blue Heron"]


def test_an_entry_is_found_if_a_hit_holds_it() -> None:
    points = held(entry("phrase", "Blue Heron"), row(text="Blue Heron", page_key="/plans"))
    others = Hit(id="2", score=0.9, rank=1, payload={}), Hit(id="1", score=0.8, rank=2, payload={})
    for hits, ranks in ((others, [2]), (others[:1], [])):
        found = find_all(Returned(points, {"0.0": Answer("0.0", hits=hits)}, lambda point, payload: ()))
        assert [subject.details["rank"] for finding in found for subject in finding.subjects] == ranks
    [finding] = find_all(Returned(points, {"0.0": Answer("0.0", hits=others[:1])}, lambda point, payload: (0,)))
    assert (finding.code, [subject.name for subject in finding.subjects]) == ("absent.found", ["phrase 1"])


def test_what_the_site_still_lists_is_removed_there_first() -> None:
    rows = [row(text="Blue Heron", page_key="/plans"), row(point_id="2", text="Blue Heron", page_key="/gone")]
    phrases = [entry("phrase", "Blue Heron")]
    [some] = find_all(look_up(phrases, rows, str, {"/plans"}))
    assert "1 of the points is of 1 page that the site still lists" in some.cause
    assert "delete_point_ids" in some.remedy
    [every] = find_all(look_up(phrases, rows[:1], str, {"/plans"}))
    assert "did not delete" not in every.cause
    assert every.remedy.startswith("Remove what must be absent from the page")
    assert "delete_point_ids" not in every.remedy
