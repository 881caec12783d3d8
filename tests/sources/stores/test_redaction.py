"""Redacted payloads: no word of the text is left, and what is measured by its shape still is."""

from __future__ import annotations

import hashlib

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
