"""Packed entities are what they were packed from, wherever they have been."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from pydantic import BaseModel, ValidationError

from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.packed import AS_PACKED, Packed
from ragval_pipeline.validation.query_report import HeldTo, QueryReport, TopResult


class Report(BaseModel):
    name: str
    queries: Packed[QueryReport]


def reports(count: int) -> list[QueryReport]:
    return [
        QueryReport(
            query_id=f"q{number}",
            query={"query_text": f"Wie viel ist {number}? 猫 \x00", "nested": {"a": [1, None, 0.1]}},
            status="success",
            passed=[True, False, None][number % 3],
            pass_reason=None,
            fail_reason=None,
            failed_conditions=["score"],
            best_similarity=0.1 * number,
            module_match=None,
            chapter_match=None,
            returned_k=1,
            embedding_ms=None,
            search_time_ms=1e-9,
            top_results=[TopResult(1, f"c{number}", "Text. " * 200, 1 / 3, None, "T", None, "M", ["a", "b"], 7, 0)],
            held_to=HeldTo(top_k=5, conditions=["score"], min_similarity=0.5, module_match=None),
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 64, 65, 200])
def test_entities_come_back_as_they_were_in_order_and_by_place(count: int) -> None:
    given = reports(count)
    packed = Packed(QueryReport, iter(given))
    assert (list(packed), len(packed), bool(packed)) == (given, count, count > 0)
    assert [packed[place] for place in range(-count, count)] == [*given, *given]
    assert list(packed[3:70:9]) == given[3:70:9]
    assert packed == given
    assert packed != reports(count + 1)
    with pytest.raises(IndexError):
        packed[count]


def test_no_number_and_half_of_a_surrogate_pair_come_back_too() -> None:
    [plain] = reports(1)
    hit = replace(plain.top_results[0], similarity_score=math.nan)
    odd = plain.model_copy(update={"query": {"query_text": "\ud83d half"}, "best_similarity": math.inf})
    for entity in (odd, plain.model_copy(update={"top_results": [hit]}), odd.model_copy(update={"top_results": [hit]})):
        assert repr(list(Packed(QueryReport, [entity, plain]))) == repr([entity, plain])


@pytest.mark.parametrize("count", [0, 65])
def test_a_measurement_keeps_them_from_one_asset_to_the_next(count: int) -> None:
    given = Measurement(asset="a", sections={"query_results": Packed(QueryReport, reports(count)), "run": {"q": ["p"]}})
    kept = Measurement.model_validate_json(given.model_dump_json())
    assert list(kept.sections["query_results"]) == reports(count)
    assert kept.sections["run"] == {"q": ["p"]}
    listed = [report.model_dump() for report in reports(count)]
    assert Measurement(asset="a", sections={"query_results": listed}).sections["query_results"] == reports(count)


def test_a_report_shows_them_as_a_list_unless_only_ragval_reads_it() -> None:
    report = Report(name="r", queries=Packed(QueryReport, reports(70)))
    shown = report.model_dump(mode="json")["queries"]
    assert shown == [entry.model_dump(mode="json") for entry in reports(70)]
    told, kept = report.model_dump_json(), report.model_dump_json(context=AS_PACKED)
    assert len(kept) < len(told) / 5
    for text in (told, kept):
        assert Report.model_validate_json(text).queries == reports(70)
    assert Report(name="r", queries=shown).queries == reports(70)
    assert Report(name="r", queries=report.queries).queries is report.queries


def test_an_error_names_its_location() -> None:
    broken = [entry.model_dump(mode="json") for entry in reports(3)]
    del broken[2]["query_id"]
    with pytest.raises(ValidationError) as error:
        Report(name="r", queries=broken)
    assert [entry["loc"] for entry in error.value.errors()] == [("queries", 2, "query_id")]


def test_the_schema_is_that_of_a_list() -> None:
    schema = Report.model_json_schema(mode="serialization")["properties"]["queries"]
    assert (schema["type"], schema["items"]) == ("array", {"$ref": "#/$defs/QueryReport"})
