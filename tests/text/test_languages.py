"""The language of a text is told from its prose, never from its code."""

from __future__ import annotations

import pytest

from benchmarks.defects.world.pages import handbook
from ragval_pipeline.text.languages import is_japanese, is_mixed, language_of

_LINES = "fuer = der.die(das, und)  # nicht aber auch\n" * 20
CODE = f"```python\n{_LINES}```\n"
GERMAN = (
    "Die Pumpe wird einmal in der Woche geprüft, damit sie auch im Winter nicht ausfällt. Wer sie reinigt, trägt das "
    "Datum in die Liste ein und meldet jeden Schaden."
)
ENGLISH = (
    "The pump is checked once a week, so that it does not fail in winter. Whoever cleans it writes the date into the "
    "list and reports all of the damage to the office."
)


@pytest.mark.parametrize("page", [page for page in handbook() if page.lang != "en"], ids=lambda page: page.path)
def test_a_translated_page_is_in_its_language(page) -> None:
    assert language_of(page.markdown) == page.lang


def test_code_is_in_no_language() -> None:
    assert language_of(CODE) is None
    assert language_of(f"{CODE}{ENGLISH}") == "en"
    assert not is_mixed(f"{ENGLISH}\n{CODE}")
    assert language_of("| --host | Host name |\n| --port | Port |") is None


def test_paragraphs_of_two_languages_are_told_apart() -> None:
    assert is_mixed(f"{GERMAN}\n\n{ENGLISH}")
    assert not is_mixed(f"{ENGLISH}\n\n{ENGLISH}")


def test_kana_tell_japanese_from_a_chinese_page_that_quotes_some() -> None:
    assert is_japanese("ポンプは週に一度点検します。故障は事務所に連絡してください。")
    assert not is_japanese(f"{'水泵每周检查一次，以免在冬季发生故障。' * 3}日语写作ポンプ。")
    assert not is_japanese(ENGLISH)
