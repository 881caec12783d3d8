from __future__ import annotations

import pytest
import tokenizers

from ragval_pipeline.sources.embedders.tokens import own_tokenizer
from ragval_pipeline.text.printing import percent
from ragval_pipeline.validation.chunks.token_counts import Limit, LimitRules
from ragval_pipeline.validation.chunks.token_limit import find_over_limit, measure_limits
from tests.validation.rows import columns_of_texts, evidence_of, rows, texts_of

SENTENCE = "The arm moves to the next pose and waits for the camera. "
TOKENS = 14  # of the sentence


def judged(payloads, rules: LimitRules):
    return {finding.code: finding for finding in find_over_limit(evidence_of(rows(*payloads), limits=rules))}


def chunk(sentences: int, page: str = "/a", index: int = 0, **payload):
    return {"text": SENTENCE * sentences, "source_url": page, "chunk_index": index, **payload}


def test_with_another_tokenizer_only_what_is_over_at_the_lower_end_is_named_and_no_share_is_claimed():
    found = judged([chunk(100, "/a"), chunk(40, "/b"), chunk(5, "/b", 1)], LimitRules(max_input_tokens=500))
    finding = found["chunk.over_model_limit"]
    [subject] = finding.subjects
    assert subject.name == "0"
    assert subject.details["tokens"] == pytest.approx(100 * TOKENS, rel=0.02)
    assert 500 < subject.details["at_least"] < 100 * TOKENS < subject.details["at_most"]
    assert "Llama" in finding.details["tokenizer"]
    assert finding.message.startswith("1 of 3 chunks has more tokens than the embedding model reads, by the lower end")
    assert "about 2 by its middle, up to 2 by its upper end" in finding.message
    assert "%" not in finding.message
    assert {"embedded_share", "unread_share"}.isdisjoint({*subject.details, *finding.details})


def test_blanks_that_many_tokenizers_do_not_count_put_no_chunk_over_the_limit():
    one_word_a_line = {**chunk(46), "text": (SENTENCE * 46).replace(" ", "\n\n")}
    rules = LimitRules(max_input_tokens=500)
    assert judged([one_word_a_line], rules) == judged([chunk(46)], rules) == {}


@pytest.fixture
def model_with_tokenizer(tmp_path, monkeypatch) -> str:
    """A model whose tokenizer lies in the cache of the Hugging Face hub: a token a word, two around each text."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[U]": 0, "[S]": 1, "[E]": 2}, unk_token="[U]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing("[S] $A [E]", None, [("[S]", 1), ("[E]", 2)])
    tokenizer.enable_truncation(8)
    folder = tmp_path / "models--somebody--Words-Small" / "snapshots" / "1a2b"
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    own_tokenizer.cache_clear()
    yield "somebody/words-small"
    own_tokenizer.cache_clear()


def test_the_models_own_tokenizer_counts_exactly_where_it_is_on_this_machine(model_with_tokenizer):
    rules = LimitRules(max_input_tokens=100, model=model_with_tokenizer)
    words = len(SENTENCE.split())
    fitting, over = (98 // words), (98 // words) + 1
    # Claims that tell another story are not asked.
    payloads = [chunk(fitting, "/a", token_count=5000), chunk(over, "/b", token_count=10)]
    finding = judged(payloads, rules)["chunk.over_model_limit"]
    [subject] = finding.subjects
    tokens = over * words + 2
    assert subject.name == "1"
    exact = {"tokens": tokens, "limit": 100, "embedded_share": round(100 / tokens, 4)}
    assert {**subject.details, **exact} == subject.details
    assert "at_least" not in subject.details
    unread = (tokens - 100) / (fitting * words + 2 + tokens)
    assert finding.details["unread_share"] == round(unread, 4)
    assert finding.message.endswith(f"{percent(unread)} of all tokens are not searchable.")


def test_what_the_framework_embeds_with_the_text_counts_too(model_with_tokenizer):
    points = rows(chunk(8), chunk(8, "/b"))
    points[0]["embedded_text"] = f"title: {'Arms ' * 80}\n\n{SENTENCE * 8}"
    for rules in (LimitRules(max_input_tokens=110, model=model_with_tokenizer), LimitRules(max_input_tokens=110)):
        measured = measure_limits(columns_of_texts(texts_of(points, rules)), {}, rules.of)
        assert measured.over.tolist() == [True, False]


def test_a_chunker_that_cuts_at_exactly_the_limit_of_its_own_tokens_is_not_over_it():
    payloads = [chunk(sentences, f"/p{sentences}", token_count=13 * sentences) for sentences in range(20, 42)]
    assert judged(payloads, LimitRules(max_input_tokens=13 * 41)) == {}
    finding = judged(payloads, LimitRules(max_input_tokens=13 * 40))["chunk.over_model_limit"]
    assert len(finding.subjects) == 1
    # Whose count the share rests on is said.
    assert finding.message.endswith("% of all tokens are not searchable, by the stored token counts.")


@pytest.mark.parametrize("lost", [None, 0, 99_999])
def test_a_chunk_whose_claim_is_lost_is_not_over_the_limit_that_the_others_are_cut_at(lost):
    payloads = [chunk(size, f"/p{size}", token_count=13 * size + size % 3) for size in range(20, 42)]
    payloads[-1]["token_count"] = lost
    assert judged(payloads, LimitRules(max_input_tokens=13 * 41 - 5)) == {}
    named = judged(payloads, LimitRules(max_input_tokens=13 * 34))["chunk.over_model_limit"].subjects
    assert "21" in {subject.name for subject in named}


def test_pages_that_are_one_long_chunk_are_a_chunker_that_does_not_split():
    pages = [chunk(100 + 50 * number, f"/p{number}", token_count=1000 + 500 * number) for number in range(4)]
    found = judged([*pages, chunk(5, "/short", token_count=50)], LimitRules(max_input_tokens=500))["chunk.one_per_page"]
    assert found.count == 4
    assert found.subjects[0].name == "https://docs.example.com/p0"
    assert [subject.extent for subject in found.subjects] == pytest.approx([1 / 2, 2 / 3, 3 / 4, 4 / 5])
    assert found.message.endswith("as one chunk each: the model does not read 71 % of their tokens.")


def test_a_page_that_was_ingested_twice_is_still_one_chunk():
    pages = [chunk(100, f"/p{number % 3}") for number in range(6)]
    assert judged(pages, LimitRules(max_input_tokens=500))["chunk.one_per_page"].count == 3


@pytest.mark.parametrize("split", [3, 10])
def test_where_most_long_pages_are_split_one_whole_page_is_not_the_chunkers_fault(split):
    pages = [chunk(30 + part, f"/p{number}", part) for number in range(split) for part in range(3)]
    found = judged([*pages, chunk(100, "/x"), chunk(90, "/y")], LimitRules(max_input_tokens=500))
    assert "chunk.one_per_page" not in found
    assert found["chunk.over_model_limit"].count == 2


def test_each_point_is_held_to_the_limit_of_its_own_model():
    payloads = [chunk(100, model="embed-english-v3.0"), chunk(100, "/b", model="embed-v4.0"), chunk(100, "/c")]
    found = judged(payloads, LimitRules(model="wordllama/l2_supercat/256"))
    assert [subject.name for subject in found["chunk.over_model_limit"].subjects] == ["0"]


@pytest.mark.parametrize(
    ("rules", "stored", "limit"),
    [
        (LimitRules(max_input_tokens=99, profile=512, model="embed-v4.0"), "embed-english-v3.0", 99),
        (LimitRules(collection={"embedding_model": "embed-v4.0"}, profile=512), "embed-english-v3.0", 512),
        (LimitRules(collection={"embedding_model": "embed-v4.0"}, profile=512), None, 128_000),
        (LimitRules(profile=512, model="embed-v4.0"), None, 512),
        (LimitRules(profile=512, model="embed-v4.0"), "nobody-knows-it", 512),
        (LimitRules(model="BAAI/bge-small-en-v1.5"), None, 512),
        (LimitRules(profile=512), "wordllama/l2_supercat/256", None),
    ],
)
def test_who_says_the_limit(rules, stored, limit):
    found = rules.of(stored)
    assert isinstance(found, Limit)
    assert found.tokens == limit


def test_a_limit_that_nobody_knows_is_none():
    assert LimitRules(model="my-own").of(None) is None


TURKISH = "Biber fideleri altı yapraklı olunca seraya alınır ve yastıklar bir gün önce iyice sulanır. "


def with_claims(payloads, factor: float = 1.0):
    """The payloads with the offline tokenizer's own counts, times ``factor`` for the last."""
    counts = [counted.tokens for counted in texts_of(rows(*payloads))]
    claims = [*counts[:-1], round(counts[-1] * factor)]
    return [{**payload, "token_count": claim} for payload, claim in zip(payloads, claims, strict=True)], counts[-1]


def test_a_rare_script_is_counted_as_the_others_when_its_few_claims_agree():
    usual = [chunk(sentences, f"/p{sentences}") for sentences in range(5, 25)]
    payloads, tokens = with_claims([*usual, {**chunk(0, "/turkish"), "text": TURKISH * 12}])
    limits = LimitRules(max_input_tokens=int(tokens / 1.2))
    assert [subject.name for subject in judged(payloads, limits)["chunk.over_model_limit"].subjects] == ["20"]
    disagreeing, _ = with_claims([*usual, {**chunk(0, "/turkish"), "text": TURKISH * 12}], factor=0.7)
    assert judged(disagreeing, limits) == {}


@pytest.mark.parametrize(("model", "tokens"), [
    ("BAAI/bge-large-en-v1.5", 512), ("openai/text-embedding-3-small", 8191), ("somebody/own-model", None),
])  # fmt: skip
def test_a_model_of_another_maker_has_the_limit_of_its_family(model: str, tokens: int | None) -> None:
    limit = LimitRules().of(model)
    assert (limit and limit.tokens) == tokens
