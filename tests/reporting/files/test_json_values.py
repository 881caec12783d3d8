from __future__ import annotations

import datetime
import json

import numpy as np
import pytest

from ragval_pipeline.reporting.json_values import json_bytes, json_pieces, json_value
from ragval_pipeline.validation.report import ValidationReport
from tests.reporting import factory


def strict(content):
    def refuse(name):
        raise AssertionError(name)

    return json.loads(content.decode("utf-8"), parse_constant=refuse)


@pytest.mark.parametrize("name", ["faulty", "unreachable", "hostile"])
def test_every_report_is_strict_json_that_the_contract_reads_back(name):
    bundle = getattr(factory, name)()
    content = b"".join(json_pieces(bundle.report))
    strict(content)
    read = ValidationReport.model_validate_json(content)
    assert read.verdict == bundle.report.verdict
    assert [entry.query_id for entry in read.query_results] == [
        entry["query_id"] for entry in strict(content)["query_results"]
    ]


def test_floats_are_not_rounded_and_ids_above_two_to_53_keep_every_digit():
    report = factory.report(duration_seconds=0.1 + 0.2, index={"largest": 2**64 - 1})
    read = strict(b"".join(json_pieces(report)))
    assert read["duration_seconds"] == 0.1 + 0.2
    assert read["index"]["largest"] == 18446744073709551615


def test_nan_and_infinity_become_null_wherever_they_stand():
    report = factory.report(index={"a": float("nan"), "b": [float("inf")], "c": np.float32("nan")})
    assert strict(b"".join(json_pieces(report)))["index"] == {"a": None, "b": [None], "c": None}


def test_a_hit_whose_score_is_no_number_is_read_back_as_the_contract_writes_it():
    import jsonschema

    queries = [factory.query("q1", "How?", None, hits=[factory.hit(1, float("nan"))])]
    content = b"".join(json_pieces(factory.report(query_results=queries)))
    [hit] = strict(content)["query_results"][0]["top_results"]
    assert hit["similarity_score"] is None
    jsonschema.validate(strict(content), ValidationReport.model_json_schema(mode="serialization"))
    [again] = ValidationReport.model_validate_json(content).query_results[0].top_results
    assert np.isnan(again.similarity_score)


def test_half_a_surrogate_pair_does_not_break_the_file():
    assert strict(json_bytes({"half \ud800": "\udfff"})) == {"half \ufffd": "\ufffd"}


def test_text_is_written_as_utf_8_and_not_escaped():
    assert "Größe 日本".encode() in json_bytes(["Größe 日本"])


def test_values_of_other_libraries_become_plain_ones():
    assert json_value([np.int64(3), np.float64(0.5), np.bool_(True), np.array([1, 2])]) == [3, 0.5, True, [1, 2]]
    assert json_value({"b", "a"}) == ["a", "b"]
    assert json_value(datetime.date(2026, 11, 20)) == "2026-11-20"


def test_a_field_without_a_value_is_null_and_not_absent():
    read = strict(b"".join(json_pieces(factory.unreachable().report)))
    assert read["pass_rate"] is None
    assert read["coverage_report"]["coverage_percentage"] is None
    assert read["quality_metrics"]["token_distribution"] == {"min": None, "max": None, "avg": None, "median": None}


@pytest.mark.parametrize("name", ["faulty", "unreachable", "hostile"])
def test_a_report_written_in_pieces_is_the_one_written_at_once(name):
    report = getattr(factory, name)().report
    assert b"".join(json_pieces(report)) == json_bytes(report)
