from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from ragval_pipeline.sources.embedders.tokens import count_tokens, script_of
from ragval_pipeline.validation.chunks.token_counts import estimate, learn_relations
from ragval_pipeline.validation.facts.bucket import BucketFacts
from ragval_pipeline.validation.facts.texts import TextFacts
from tests.support.held import HeldFacts
from tests.validation.rows import columns_of_texts, detected, evidence_of, named, rows, texts_of

SENTENCES = (
    "A topic carries messages in one direction. Publishers do not know who listens; subscribers do not know who speaks."
    " That is why a node can be replaced while the rest of the robot keeps running, and nobody notices a lost message."
)
PROSE = SENTENCES.split()
LINKS = "see https://example.org/very/long/path/to/a/page?with=parameters&and=more#fragment-identifier-0123456789 "
JAPANESE = "設定ファイルを変更した後は、サービスを再起動してください。"
CODE = "    self.publisher = self.create_publisher(String, '/status', qos_profile=10)\n    return self.publisher\n"


def collection(claim: Callable[[TextFacts], int | None], *, size: int = 60) -> list[TextFacts]:
    rng = random.Random(4)
    payloads = [
        {"text": CODE * rng.randint(3, 8)}
        if number % 4 == 0
        else {"text": " ".join(rng.choices(PROSE, k=rng.randint(60, 300)))}
        for number in range(size)
    ]
    return [replace(chunk, claimed=claim(chunk)) for chunk in texts_of(rows(*payloads))]


def off(counted: list[TextFacts]):
    evidence = replace(evidence_of([]), facts=HeldFacts(BucketFacts((), tuple(counted), ())))
    return detected("chunk.token_count_off", evidence)


CONVENTIONS: dict[str, Callable[[TextFacts], int]] = {
    "own tokenizer": lambda chunk: chunk.tokens,
    "characters / 4": lambda chunk: chunk.characters // 4,
    "words": lambda chunk: chunk.marks,
    "another tokenizer": lambda chunk: int(chunk.tokens * random.Random(chunk.characters).uniform(0.8, 1.0)),
}


@pytest.mark.parametrize("name", CONVENTIONS)
def test_counts_of_any_usual_kind_are_not_off(name):
    counted = collection(CONVENTIONS[name])
    assert off(counted) == []


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize("spoilt", [1, 6, 30])
def test_exactly_the_counts_that_were_multiplied_by_five_are_off(name, spoilt):
    chosen = {str(number) for number in random.Random(spoilt).sample(range(60), spoilt)}
    counted = [
        replace(chunk, claimed=5 * (chunk.claimed or 0)) if chunk.ref.point_id in chosen else chunk
        for chunk in collection(CONVENTIONS[name])
    ]
    finding = off(counted)
    assert named(finding) == sorted(chosen)
    assert all(1 < (subject.surplus or 0.0) < 6 for subject in finding[0].subjects)


RULES: dict[str, Callable[[str], int]] = {
    "words": lambda text: len(text.split()),
    "words * 1.3": lambda text: int(1.3 * len(text.split())),
    "characters / 4": lambda text: round(len(text) / 4),
}


def estimated(rule: Callable[[str], int], off: frozenset[str]) -> list[TextFacts]:
    rng = random.Random(9)
    kinds = [lambda: " ".join(rng.choices(PROSE, k=rng.randint(20, 300))), lambda: CODE * 4, lambda: LINKS * 9]
    stored = [kinds[number % 3]() for number in range(40)] + [JAPANESE * 9, JAPANESE * 5]
    counts = [rule(text) * (5 if str(number) in off else 1) for number, text in enumerate(stored)]
    return texts_of(rows(*({"text": text, "token_count": count} for text, count in zip(stored, counts, strict=True))))


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("spoilt", [0, 1, 20])
def test_estimates_by_one_rule_are_off_only_where_they_break_it(name, spoilt):
    """Words times 1.3 are far from the tokens of links and of Japanese, and not one of them was claimed wrongly."""
    wrong = frozenset(str(number) for number in range(1, 2 * spoilt, 2))
    counted = estimated(RULES[name], wrong)
    assert named(off(counted)) == sorted(wrong)


def test_a_rule_that_gives_three_times_the_tokens_is_no_estimate_of_them():
    japanese = texts_of(rows(*[{"text": JAPANESE * (size + 5)} for size in range(6)]))
    counted = [
        replace(chunk, claimed=3 * (chunk.characters // 4)) for chunk in [*collection(lambda chunk: 1), *japanese]
    ]
    relations = learn_relations(columns_of_texts(counted))
    assert relations == {}
    assert off(counted)[0].count == 60
    assert estimate(columns_of_texts(counted), relations).tokens[-1] == counted[-1].tokens


def test_estimates_from_characters_are_not_believed_to_be_tokens_however_near_they_are():
    counted = collection(CONVENTIONS["characters / 4"])
    relations = learn_relations(columns_of_texts(counted))
    assert 0.75 < relations["latin"].tokens < 1.35
    assert not estimate(columns_of_texts(counted), relations).measured.any()


def test_counts_of_characters_are_off_and_the_cause_says_so():
    counted = collection(lambda chunk: chunk.characters)
    finding = off(counted)[0]
    assert finding.count == 60
    assert finding.cause == "The counts are character counts, not token counts."


def test_counts_of_characters_are_off_for_all_points_though_some_texts_have_as_many_tokens():
    japanese = [{"text": JAPANESE * size, "token_count": len(JAPANESE) * size} for size in range(1, 9)]
    english = [{"text": SENTENCES * size, "token_count": len(SENTENCES) * size} for size in range(1, 5)]
    counted = texts_of(rows(*japanese, *english))
    (finding,) = off(counted)
    assert finding.count == 12
    assert finding.cause == "The counts are character counts, not token counts."
    assert learn_relations(columns_of_texts(counted)) == {}


def test_a_count_that_happens_to_be_the_number_of_characters_is_not_off():
    texts = [JAPANESE * size for size in range(1, 9)]
    tokens = count_tokens(texts)
    counted = texts_of(rows(*({"text": text, "token_count": n} for text, n in zip(texts, tokens, strict=True))))
    one = [replace(counted[0], claimed=counted[0].characters), *counted[1:]]
    assert off(one) == []


def test_names_that_are_few_words_and_many_tokens_are_not_off_by_their_words():
    """The tokenizer of such a collection needs about a token a word in prose, and eight a name, as the recount does."""
    rng = random.Random(5)
    prose = [" ".join(rng.choices(PROSE, k=rng.randint(60, 300))) for _ in range(60)]
    lists = ["\n".join(f"_R_CHECK_THINGS_{number}_IN_TEMP_DIR_=true" for number in range(30))]
    counted = texts_of(rows(*({"text": text, "token_count": 1} for text in prose + lists)))
    claimed = [
        *(replace(chunk, claimed=int(chunk.marks * rng.uniform(0.95, 1.05))) for chunk in counted[:-1]),
        replace(counted[-1], claimed=int(0.7 * counted[-1].tokens)),
    ]
    assert claimed[-1].claimed > 3 * claimed[-1].marks
    assert off(claimed) == []
    for times in (2.5, 3, 1 / 3, 0.2):
        spoilt = [replace(chunk, claimed=int(times * chunk.claimed)) for chunk in claimed[:10]]
        assert named(off([*spoilt, *claimed[10:]])) == sorted(str(number) for number in range(10))


def test_points_without_a_count_are_left_alone():
    counted = collection(lambda chunk: None)
    assert off(counted) == []
    assert texts_of(rows({"text": "a", "token_count": 0}, {"text": "b", "token_count": -3}))[0].claimed is None


def test_a_claim_that_follows_the_rest_is_believed_and_another_is_recounted():
    counted = collection(lambda chunk: int(0.9 * chunk.tokens))
    relations = learn_relations(columns_of_texts(counted))
    stray = replace(counted[1], claimed=7)
    [believed, recounted] = estimate(columns_of_texts([counted[1], stray]), relations).tokens
    assert believed == counted[1].claimed
    assert recounted == pytest.approx(0.9 * stray.tokens, rel=0.02)


def test_counts_of_words_are_not_believed_to_be_tokens():
    counted = collection(lambda chunk: int(0.6 * chunk.tokens))
    texts = columns_of_texts(counted)
    found = estimate(texts, learn_relations(texts))
    assert found.tokens[1] == counted[1].tokens
    assert (found.at_least[1], found.at_most[1]) == pytest.approx((counted[1].tokens * 0.7, counted[1].tokens * 1.6))


def test_half_of_the_claims_may_be_wrong():
    counted = [
        replace(chunk, claimed=5 * chunk.tokens if number % 2 else chunk.tokens)
        for number, chunk in enumerate(collection(lambda chunk: 1))
    ]
    assert learn_relations(columns_of_texts(counted))["latin"].tokens == pytest.approx(1.0)


def test_a_text_longer_than_a_piece_is_counted_whole():
    text = " ".join(PROSE * 800)
    assert count_tokens([text, "one"])[0] == pytest.approx(800 * count_tokens([" ".join(PROSE)])[0], rel=0.01)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("plain English", "latin"),
        ("Die Düsen in der Halle werden täglich geprüft", "latin"), ("Việt Nam: đất nước", "accented"),
        ("機械学習のモデル", "other"), ("Модель робота", "other"), ("नमस्ते दुनिया", "other"), ("", "latin"),
    ],
)  # fmt: skip
def test_scripts_are_distinguished(text, script):
    assert script_of(text) == script
