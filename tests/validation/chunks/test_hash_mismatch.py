from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from tests.validation.rows import detected, evidence_of, named, rows

TEXTS = [f" Text number {number}\n of the Collection " for number in range(20)]


def mismatches(found):
    return detected("text.hash_mismatch", evidence_of(found))


def judged(make: Callable[[str], str], *, spoilt: int = 0, same_page: bool = False):
    found = rows(
        *(
            {
                "text": text,
                "text_hash": make("something else" + text if number < spoilt else text),
                "source_url": "/a" if same_page else f"/p{number // 2}",
            }
            for number, text in enumerate(TEXTS)
        )
    )
    return mismatches(found)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


CONVENTIONS = {
    "sha256": sha256,
    "md5 of the stripped text": lambda text: hashlib.md5(text.strip().encode()).hexdigest(),
    "sha1 of the folded text": lambda text: hashlib.sha1(" ".join(text.split()).encode()).hexdigest(),
    "blake2b of 16 bytes": lambda text: hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
    "first 16 digits": lambda text: sha256(text)[:16],
    "prefix": lambda text: f"sha256:{sha256(text)}",
    "upper case": lambda text: sha256(text).upper(),
    "as uuid": lambda text: str(__import__("uuid").UUID(hashlib.md5(text.encode()).hexdigest())),
    "lower case stripped": lambda text: sha256(text.strip().lower()),
}


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize("spoilt", [1, 2, 10])
def test_exactly_the_spoilt_hashes_are_named_whatever_the_convention(name, spoilt):
    assert named(judged(CONVENTIONS[name], spoilt=spoilt)) == sorted(str(number) for number in range(spoilt))


@pytest.mark.parametrize("stored", ["abc", "pending", "n/a", "7"])
def test_a_value_that_is_not_a_hash_mismatches_if_the_others_are_hashes(stored):
    texts = [{"text": text, "text_hash": sha256(text)} for text in TEXTS]
    found = rows(*texts[1:], {"text": TEXTS[0], "text_hash": stored})
    assert named(mismatches(found)) == ["19"]
    assert mismatches(rows(*[{**row, "text_hash": stored} for row in texts])) == []


def test_an_empty_hash_is_no_wrong_one():
    texts = [{"text": text, "text_hash": sha256(text)} for text in TEXTS]
    assert mismatches(rows(*texts, {"text": "new", "text_hash": " \u200b"})) == []


def test_a_hash_of_something_unknown_is_no_mismatch():
    assert judged(lambda text: sha256("salt" + text)) == []


def test_a_hash_of_the_page_is_no_mismatch_although_one_chunk_pages_match():
    whole = [[f"page {number}, whole"] for number in range(5)]
    pages = [*whole, ["first half", "second half"], ["one", "two", "three"]]
    found = rows(
        *(
            {"text": text, "source_url": f"/p{number}", "text_hash": sha256("".join(page))}
            for number, page in enumerate(pages)
            for text in page
        )
    )
    assert mismatches(found) == []
