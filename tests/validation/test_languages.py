"""The language of pages is a likely cause of what a model for another language does not find."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.sources.embedders.models import trained_for
from ragval_pipeline.validation import languages
from ragval_pipeline.validation.languages import Languages, with_languages
from tests.text.test_languages import ENGLISH, GERMAN

ROWS = [
    {"point_id": "1", "page_key": "de/a", "text": GERMAN},
    {"point_id": "2", "page_key": "de/b", "text": "- -"},
    {"point_id": "3", "page_key": "de/b", "text": f"{GERMAN}\n{ENGLISH}"},
    {"point_id": "4", "page_key": "en/a", "text": ENGLISH},
    {"point_id": "5", "page_key": None, "text": ENGLISH},
]
MODEL = "embed-english-v3.0"


def points(*rows: Mapping[str, str | None]) -> list[pa.RecordBatch]:
    """A batch for each row."""
    return [pa.RecordBatch.from_pylist([dict(row)]) for row in rows]


def test_each_page_has_the_language_of_its_chunks_with_prose() -> None:
    found = Languages.read(points(*ROWS), MODEL, trained_for(MODEL))
    assert found.by_page["de/a"] == "de"
    assert found.by_page["en/a"] == "en"
    assert found.section()["mixed_points"] == ["3"]
    assert found.section()["trained_for"] == ["en"]


def test_a_chunk_in_another_language_than_most_of_its_page_is_counted() -> None:
    texts = {"1": GERMAN, "2": ENGLISH, "3": GERMAN, "4": "- -"}
    rows = [{"point_id": point, "page_key": "de/a", "text": text} for point, text in texts.items()]
    found = Languages.read(points(*rows), MODEL, None)
    assert found.by_page == {"de/a": "de"}
    assert found.section()["other_points"] == ["2"]
    # Of one chunk each nobody knows.
    assert Languages.read(points(*rows[:2]), MODEL, None).elsewhere == ()


def test_a_chunk_of_kanji_alone_is_in_the_language_of_its_page() -> None:
    terms = "東京都庁舎展望室入場料金改定及営業時間変更通知。設備点検実施予定日程一覧。会員登録手続説明書類提出期限。"
    prose = "ポンプは週に一度点検します。故障は事務所に連絡してください。日付は一覧に記入し、保管してください。"
    rows = [{"point_id": str(number), "page_key": "ja/a", "text": text} for number, text in enumerate((terms, prose))]
    assert Languages.read(points(rows[0]), MODEL, None).by_page == {"ja/a": "zh"}
    found = Languages.read(points(*rows), MODEL, None)
    assert found.by_page == {"ja/a": "ja"}
    assert found.elsewhere == ()


def test_a_question_about_pages_that_the_model_was_not_trained_for_says_so() -> None:
    found = Languages.read(points(*ROWS), MODEL, trained_for(MODEL))
    german = make_finding("query.failed", [Subject("q", pages=("de/a",))])
    english = make_finding("query.failed", [Subject("q", pages=("en/a",))])
    vectors = make_finding("vector.text_mismatch", [Subject("1", page="de/a")])
    told = with_languages([german, english, vectors], found)
    assert "1 of 1 page is in German, which embed-english-v3.0 was not trained for" in told[0].cause
    assert told[1:] == [english, vectors]


def test_a_model_for_many_languages_is_no_cause() -> None:
    found = Languages.read(points(*ROWS), "embed-multilingual-v3.0", trained_for("embed-multilingual-v3.0"))
    failed = make_finding("query.failed", [Subject("q", pages=("de/a",))])
    assert with_languages([failed], found) == [failed]


def test_only_the_first_pages_are_looked_at_each_until_a_chunk_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_PAGES", 2)
    late = {"point_id": "6", "page_key": "de/b", "text": GERMAN}
    found = Languages.read(points(*ROWS[:2], ROWS[3], late), MODEL, trained_for(MODEL))
    assert found.by_page == {"de/a": "de", "de/b": "de"}
