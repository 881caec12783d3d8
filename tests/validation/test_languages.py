"""The language of pages is a likely cause of what a model for another language does not find."""

from __future__ import annotations

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.sources.embedders.models import trained_for
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


def test_each_page_has_the_language_of_its_first_chunk_with_prose() -> None:
    found = Languages.read(ROWS, MODEL, trained_for(MODEL))
    assert found.by_page["de/a"] == "de"
    assert found.by_page["en/a"] == "en"
    assert found.section()["mixed_points"] == ["3"]
    assert found.section()["trained_for"] == ["en"]


def test_a_question_about_pages_that_the_model_was_not_trained_for_says_so() -> None:
    found = Languages.read(ROWS, MODEL, trained_for(MODEL))
    german = make_finding("query.failed", [Subject("q", pages=("de/a",))])
    english = make_finding("query.failed", [Subject("q", pages=("en/a",))])
    vectors = make_finding("vector.text_mismatch", [Subject("1", page="de/a")])
    told = with_languages([german, english, vectors], found)
    assert "1 of 1 page is in German, which embed-english-v3.0 was not trained for" in told[0].cause
    assert told[1:] == [english, vectors]


def test_a_model_for_many_languages_is_no_cause() -> None:
    found = Languages.read(ROWS, "embed-multilingual-v3.0", trained_for("embed-multilingual-v3.0"))
    failed = make_finding("query.failed", [Subject("q", pages=("de/a",))])
    assert with_languages([failed], found) == [failed]
