"""Redacted payloads: no word of the text is left, and what is measured by its shape still is."""

from __future__ import annotations

import hashlib
import html
import json
import re

import pytest

from ragval_pipeline.sources.stores.redaction import Redactor

TEXT = "Der Käufer zahlt 1200 EUR. <p>Der Käufer zahlt.</p> 支付"


def test_no_word_is_left_and_lengths_and_marks_stay() -> None:
    made = Redactor(_key=b"a fixed key").text(TEXT)  # a drawn letter may be the same one
    assert len(made) == len(TEXT)
    assert [char for char in made if not char.isalnum()] == [char for char in TEXT if not char.isalnum()]
    assert not {"Der", "Käufer", "zahlt", "1200", "EUR"} & set(made.replace(".", " ").split())
    assert "<p>" in made
    assert "</p>" in made


def test_what_is_stored_twice_still_is() -> None:
    redactor = Redactor()
    assert redactor.text("one word") == redactor.text("one word")
    assert redactor.text("Word")[1:] == redactor.text("word")[1:]


def test_two_redactors_replace_differently() -> None:
    text = "a sentence that is long enough for two keys to differ"
    assert Redactor().text(text) != Redactor().text(text)


def test_the_hash_of_a_text_is_that_of_its_nonsense_and_a_wrong_hash_stays_wrong() -> None:
    redactor = Redactor(kept=["url"], text_at="text", hash_at="hash")

    def payload(hashed: str) -> dict[str, str]:
        return redactor.payload({"text": TEXT, "hash": hashlib.sha256(hashed.encode()).hexdigest(), "url": "/a"})

    right, wrong = payload(TEXT), payload("something else")
    assert right["hash"] == hashlib.sha256(right["text"].encode()).hexdigest()
    assert wrong["hash"] != hashlib.sha256(wrong["text"].encode()).hexdigest()
    assert right["url"] == "/a"


def words_left(before: str, after: str) -> set[str]:
    """Words of at least four letters that are still there."""
    return {word for word in re.findall(r"[^\W_]{4,}", before) if word in after}


@pytest.mark.parametrize("text", ["<secret>", "a < budget & mergers", "AT&Tplans;", "List<Payroll>", "&#83;alary"])
def test_what_only_looks_like_markup_is_replaced(text: str) -> None:
    made = Redactor(_key=b"a fixed key").text(text)
    assert len(made) == len(text)
    assert not words_left(text, made)


def test_elements_and_entities_are_still_those_of_html() -> None:
    made = Redactor(_key=b"a fixed key").text("<td>Gr&uuml;n &amp; blau&nbsp;&#228;&#xE4;&mdash;</td>")
    assert re.fullmatch(r"<td>.*?&(\w+);.*? &amp; .*?&nbsp;&#(\d+);&#x\w+;&mdash;</td>", made)
    assert len(html.unescape(made)) == len("<td>Grün & blau ää—</td>")
    assert "&uuml;" not in made
    assert "228" not in made


def test_names_of_fields_that_are_not_in_common_use_are_replaced_and_stay_different() -> None:
    redactor = Redactor(kept=["url"], is_common=lambda name: name == "url")
    payload = {"url": "/a", "acme_margin": {"merger_with_globex": 1}, **dict.fromkeys("abcdefghijkl", 0)}
    made = redactor.payload(payload)
    assert len(made) == len(payload)
    assert made["url"] == "/a"
    assert not words_left("acme margin merger with globex", json.dumps(made))
    assert redactor.payload(payload) == made


def test_metadata_of_the_collection_keeps_the_name_of_its_model_alone() -> None:
    redactor = Redactor(is_common=lambda name: name == "model", is_model=lambda name: name == "model")
    made = redactor.metadata({"model": "embed-v3", "owner": "Payroll team", "nested": {"model": "Corolla"}})
    assert made["model"] == "embed-v3"
    assert not words_left("owner Payroll team Corolla", json.dumps(made))
