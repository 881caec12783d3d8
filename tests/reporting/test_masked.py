from __future__ import annotations

import unicodedata

import dagster as dg
import pytest

from ragval_pipeline.orchestration.metadata import masked_check, table
from ragval_pipeline.reporting.masked import masked_value, masking
from ragval_pipeline.suite.absent import AbsentEntry

HERON = AbsentEntry("phrase", "Blauer Überflieger", "phrase 1")


@pytest.mark.parametrize(
    "written",
    [
        unicodedata.normalize("NFD", HERON.value),
        "BLAUER_ÜBERFLIEGER",
        "Blauer Über\u00adflieger",
        "Ｂｌａｕｅｒ Über\ufb02ieger",
    ],
)
def test_a_phrase_is_masked_however_its_letters_are_stored(written: str) -> None:
    assert masking([HERON])(f"Der {written}.") == "Der [phrase 1]."


def test_text_without_a_phrase_stays_as_it_is_stored() -> None:
    text = unicodedata.normalize("NFD", "Ein Überﬂuss")
    assert masking([HERON])(text) == text


def test_a_phrase_after_an_address_without_a_blank_is_masked() -> None:
    masked = masking([AbsentEntry("phrase", "蓝鹭", "phrase 1")])
    assert masked("https://docs.example.com/guide。蓝鹭计划") == "https://docs.example.com/guide。[phrase 1]计划"


def test_ids_and_times_are_no_text() -> None:
    masked = masking([AbsentEntry("phrase", "2026", "phrase 1"), AbsentEntry("phrase", "cafe", "phrase 2")])
    kept = ["2026-11-29T10:29:21Z", "2026-11-29T10:29:21.123456+00:00", "3f2504e0-cafe-11d3-9a0c-0305e82c3301"]
    assert [masked(each) for each in kept] == kept
    assert masked("the cafe of 2026") == "the [phrase 2] of [phrase 1]"


def test_categories_are_masked_and_names_of_fields_are_not() -> None:
    masked = masking([HERON, AbsentEntry("phrase", "verdict", "phrase 2")])
    report = {"verdict": "fail", "by_category": {"Blauer Überflieger": 1}}
    assert masked_value(report, masked) == {"verdict": "fail", "by_category": {"[phrase 1]": 1}}


def test_the_result_of_a_check_names_phrases_by_their_number() -> None:
    rows = table([{"query": "What is Blauer Überflieger?"}], ["query"])
    check = dg.AssetCheckResult(
        asset_key=dg.AssetKey("a"), passed=False, description="Blauer Überflieger", metadata={"rows": rows, "n": 1}
    )
    shown = masked_check(check, masking([HERON]))
    assert "flieger" not in str(shown)
    assert "phrase 1" in str(shown.metadata["rows"])


def test_a_phrase_is_masked_as_words_and_not_within_others() -> None:
    masked = masking([AbsentEntry("phrase", "ai", "phrase 1"), AbsentEntry("phrase", "蓝鹭", "phrase 2")])
    assert (
        masked("AI of the main domain: fAIl, ai_1, AI.")
        == "[phrase 1] of the main domain: fAIl, [phrase 1]_1, [phrase 1]."
    )
    assert masked("AI模型的蓝鹭计划") == "[phrase 1]模型的[phrase 2]计划"
