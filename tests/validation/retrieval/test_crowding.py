from __future__ import annotations

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.retrieval.hits import HitReader
from ragval_pipeline.validation.retrieval.repeats import crowded_answers

READ = HitReader(fields={"text": "text", "source_url": "url"}, required=(), page_key=str)
WORDS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
]


def hit(rank: int, url: str, text: str) -> Hit:
    return Hit(rank, f"p{rank}", 1.0 - rank / 100, {"url": url, "text": text})


def text(number: int) -> str:
    return " ".join(f"{word}{number}" for word in WORDS)


def query(**fields: object) -> TestQuery:
    return TestQuery.model_validate({"id": "q", "query_text": "x", **fields})


def crowded(asked: TestQuery, answer: Answer) -> bool:
    return bool(crowded_answers([asked], {"q": answer}, READ))


def test_copies_in_half_of_the_hits_crowd_the_answer():
    hits = tuple(hit(rank, f"u{rank}", text(rank if rank > 3 else 1)) for rank in range(1, 5))
    assert crowded(query(), Answer("q", hits))


def test_two_copies_in_a_top_three_crowd_it_as_near_duplicates_do():
    changed = " ".join([*text(1).split()[:-1], "other"])
    hits = (hit(1, "u1", text(1)), hit(2, "u2", text(1)), hit(3, "u3", changed))
    assert crowded(query(), Answer("q", hits))


def test_hits_of_a_page_that_mostly_repeat_better_ones_of_it_are_a_crowd():
    """Windows that advance by a quarter of their length: between two of them nothing is new."""
    words = [f"{word}{number}" for number in range(6) for word in WORDS]
    windows = {at: " ".join(words[at : at + 28]) for at in range(0, 56, 7)}
    near = tuple(hit(rank, "a", windows[at]) for rank, at in enumerate((0, 14, 7, 21), 1))
    assert crowded(query(), Answer("q", near))
    apart = tuple(hit(rank, "a", " ".join(words[at : at + 17])) for rank, at in enumerate(range(0, 70, 14), 1))
    assert not crowded(query(), Answer("q", apart)), "an overlap of a few words"
    pages = tuple(hit(rank, f"u{rank}", found.payload["text"]) for rank, found in enumerate(near, 1))
    assert not crowded(query(), Answer("q", pages)), "what pages share is not the chunker's"


def test_hits_without_a_text_repeat_nothing():
    hits = tuple(hit(rank, f"u{rank}", "") for rank in range(1, 6))
    assert not crowded(query(), Answer("q", hits))
    unmapped = HitReader(fields={"text": "chunk_text", "source_url": "url"}, required=(), page_key=str)
    same = tuple(hit(rank, f"u{rank}", text(1)) for rank in range(1, 6))
    assert crowded_answers([query()], {"q": Answer("q", same)}, unmapped) == []


def test_different_chunks_of_one_page_are_no_crowd_for_a_question_about_that_page():
    hits = tuple(hit(rank, "a", text(rank)) for rank in range(1, 6))
    assert not crowded(query(relevant_urls=["a"]), Answer("q", hits))


def test_a_right_page_that_fills_the_hits_while_another_right_page_waits_is_a_crowd():
    hits = tuple(hit(rank, "a", text(rank)) for rank in range(1, 6))
    waiting = Answer("q", hits, deeper=(hit(6, "b", text(6)),))
    assert crowded(query(relevant_urls=["a", "b"]), waiting)
    assert not crowded(query(relevant_urls=["a", "c"]), waiting)


def test_few_hits_and_negative_queries_are_never_crowded():
    hits = tuple(hit(rank, "a", text(1)) for rank in range(1, 3))
    assert not crowded(query(), Answer("q", hits))
    many = tuple(hit(rank, "a", text(1)) for rank in range(1, 6))
    assert not crowded(query(negative=True), Answer("q", many))


def test_chunks_do_not_repeat_the_parents_that_they_were_cut_from():
    """LlamaIndex's auto-merging retriever and LangChain's parent documents store both."""
    read = HitReader({**READ.fields, "parent_id": "parent"}, required=(), page_key=str)
    section = Hit(1, "whole", 0.9, {"url": "a", "text": " ".join(map(text, range(1, 4)))})
    cut = [Hit(number, f"part {number}", 0.8, {"url": "a", "text": text(number)}) for number in range(1, 4)]
    below = [Hit(hit.rank, hit.id, hit.score, {**hit.payload, "parent": "whole"}) for hit in cut]
    assert crowded_answers([query()], {"q": Answer("q", (section, *below))}, read) == []
    assert crowded_answers([query()], {"q": Answer("q", (*below, section))}, read) == []
    assert crowded_answers([query()], {"q": Answer("q", (section, *cut))}, read)


def test_hits_of_different_tenants_do_not_repeat_each_other():
    """No reader finds both of two tenants' equal files; a copy within a tenant is one all the same."""
    read = HitReader({**READ.fields}, required=(), page_key=str, partition="tenant")

    def stored(*tenants: object) -> Answer:
        held = [{"url": "a", "text": text(number // 2), "tenant": tenant} for number, tenant in enumerate(tenants)]
        return Answer("q", tuple(Hit(rank, f"p{rank}", 0.9, payload) for rank, payload in enumerate(held, 1)))

    assert crowded_answers([query()], {"q": stored("north", "south", "north", "south")}, read) == []
    assert crowded_answers([query()], {"q": stored("north", "north", "south", "south")}, read)
    assert crowded_answers([query()], {"q": stored(["north", "south"], "south", ["south"], "south")}, read)
    assert crowded_answers([query()], {"q": stored(None, "south", "north", "")}, read), "a point of no tenant"
