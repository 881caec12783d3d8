from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain
from random import Random

import pytest

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.validation.chunks.evidence import times_stored
from ragval_pipeline.validation.chunks.layout import Layout
from ragval_pipeline.validation.partitions import VERSION
from tests.validation.chunks.world import CAMERA, GRIPPER, VISITORS, paragraphs, record
from tests.validation.rows import detected, evidence_of, named, rows

TEXT = " ".join(f"word{number} of sentence{number % 7} in part{number // 30}." for number in range(120))
HALF = " ".join(TEXT.split(" ")[:150])


def cut(size: int, step: int | None = None, text: str = TEXT, **payload):
    """The text in chunks of ``size`` words, one every ``step`` words."""
    words = text.split(" ")
    starts = range(0, len(words) - (size - (step or size)), step or size)
    return [{"source_url": "/a", "text": " ".join(words[at : at + size]), **payload} for at in starts]


def facts(*payloads, content: str = TEXT):
    return evidence_of(rows(*payloads), [record(paragraphs(content))])


def twice(*payloads, content: str = TEXT):
    found = detected("chunk.ingested_twice", facts(*payloads, content=content))
    return found[0].subjects[0].details if found else None


@pytest.mark.parametrize("step", [100, 80, 60, 50, 40])
def test_the_overlap_of_one_ingestion_is_none(step: int):
    assert twice(*cut(100, step)) is None


@pytest.mark.parametrize("size", [100, 95, 60, 37])
def test_a_page_that_was_ingested_again_with_another_chunk_size_is_named_with_both_generations(size: int):
    first, second = cut(100, 90), cut(size, size - 8)
    found = twice(*first, *second)
    assert found is not None
    assert found["told_by"] == "places on the page"
    assert sorted(chain.from_iterable(found["generations"])) == sorted(
        str(at) for at in range(len(first) + len(second))
    )


def test_a_page_was_ingested_again_although_its_list_of_contents_has_the_text_of_a_chunk():
    contents = "Appendix, preface, and a list of further contents that no chunk of the page has"
    stored = [*cut(60), {"source_url": "/a", "text": "Appendix"}]
    page = f"{contents} {TEXT} Appendix"
    assert twice(*stored, content=page) is None
    assert twice(*stored, *stored, content=page) is not None


def test_a_page_was_ingested_again_whatever_addresses_of_links_stand_between_pieces_of_its_chunks():
    def linked(size: int) -> list[dict[str, str]]:
        words = TEXT.split(" ")
        for at in range(20, len(words), 20):
            words[at] += f" (https://code.example.com/tree/{at})"
        return cut(size, text=" ".join(words))

    assert twice(*linked(100), *linked(60)) is not None
    assert twice(*linked(60)) is None


def test_another_ingestion_without_both_ends_of_the_page_is_recognised_by_chunks_within_others():
    inner = " ".join(TEXT.split(" ")[30:-30])
    assert twice(*cut(100, 90), *cut(40, 36, text=inner)) is not None
    assert twice(*cut(100, 25)) is None


def test_a_page_of_which_half_is_stored_again_is_not_stored_twice_although_titles_scatter_its_chunks():
    title, words = "The title that each of its chunks begins with", TEXT.split(" ")
    parts = [" ".join(words[at : at + 60]) for at in range(0, 480, 60)]
    small = [f"{title}\n{part}" for part in parts]
    large = ["\n".join(small[at : at + 2]) for at in range(0, 8, 2)]
    page = [record(f"<h1>{title}</h1>{paragraphs(*parts)}")]

    def named_with(*found: str) -> list[str]:
        stored = rows(*({"source_url": "/a", "text": text} for text in (*large, *found)))
        return named(detected("chunk.ingested_twice", evidence_of(stored, page)))

    assert (named_with(*small[4:]), len(named_with(*small))) == ([], 1)


def test_a_page_of_one_chunk_was_ingested_again_where_longer_pages_were():
    short = [{"source_url": "/b", "text": GRIPPER}] * 2
    found = evidence_of(
        rows(*cut(100), *cut(60, 50), *short, pages=("/a", "/b")),
        [record(paragraphs(TEXT)), record(paragraphs(GRIPPER), page="/b")],
    )
    assert len(named(detected("chunk.ingested_twice", found))) == 2


def test_dates_and_models_tell_generations_the_oldest_first():
    old, new = cut(100, embedded_at="2026-01-01"), cut(100, embedded_at="2026-03-01")
    found = twice(*new, *old)
    assert (found["told_by"], [sorted(map(int, ids)) for ids in found["generations"]]) == (
        "embedded_at", [[*range(len(new), 2 * len(new))], [*range(len(new))]],
    )  # fmt: skip
    assert twice(*cut(100, model="b"), *cut(100, model="a"))["told_by"] == "model"


def test_an_older_ingestion_has_the_chunks_that_the_new_version_of_the_page_dropped():
    dropped = " ".join(f"former{number} line{number % 7} of chapter{number // 30}." for number in range(60))
    old = [*cut(100, embedded_at="2026-01-01"), {"source_url": "/a", "text": dropped, "embedded_at": "2026-01-01"}]
    new = cut(100, embedded_at="2026-03-01")
    # What is written beside the present version, such as a summary, is none of the older one.
    beside = {"source_url": "/a", "text": dropped.replace("former", "later"), "embedded_at": "2026-03-01"}
    found = twice(*old, *new, beside)
    assert sorted(map(int, found["older"])) == [*range(len(old))]
    assert found["told_by"] == "embedded_at"


def test_of_two_ingestions_of_the_same_texts_one_goes_and_of_others_the_one_that_differs_from_the_page():
    found = twice(*cut(100), *cut(100))
    gone, kept = found["generations"]
    assert (found["told_by"], found["older"]) == ("the same texts", gone)
    assert len(kept) == len(gone) == len(cut(100))
    changed = {**cut(100)[-1], "text": cut(100)[-1]["text"] + " more"}
    other = twice(*cut(100), *cut(100)[:-1], changed)
    assert other["told_by"] == "the page"
    assert str(2 * len(cut(100)) - 1) in other["older"]
    assert twice(*cut(100), *cut(90))["older"] == []


def windows(size: int, step: int) -> list[dict[str, str]]:
    words = TEXT.split(" ")
    texts = [" ".join(words[max(0, at - size // 2) : at + size // 2]) for at in range(0, len(words), step)]
    return [{"text": text, "source_url": "/a"} for text in texts]


def sentences(around: int) -> list[dict[str, str]]:
    parts = [f"{part}." for part in TEXT.split(".") if part]
    found = ["".join(parts[max(0, at - around) : at + around + 1]) for at in range(len(parts))]
    return [{"text": text, "source_url": "/a"} for text in found]


def test_the_only_ingestion_of_which_every_text_is_as_on_the_page_is_the_one_to_keep():
    """Nothing says when the points were stored: the page itself tells which is its present version."""
    before = TEXT.replace("part1.", "a room that was renamed.")
    old, new = numbered(cut(60, text=before)), numbered(cut(100, 90))
    found = twice(*old, *new)
    assert found is not None
    assert (found["told_by"], sorted(map(int, found["older"]))) == ("the page", [*range(len(old))])
    both = twice(*old, *numbered(cut(100, 90, text=TEXT.replace("word70 ", "another room "))))
    assert both is not None
    assert (both["told_by"], both["older"]) == ("places on the page", [])


def test_chunks_without_numbers_that_leave_out_what_the_page_and_others_have_since_are_the_older_ones():
    words = TEXT.split(" ")
    edited = " ".join([*words[:30], "which nobody had to know before the release of last spring", *words[30:]])
    old, new = cut(100, 90), cut(100, 90, text=edited)
    found = twice(*old, *new, content=edited)
    assert found is not None
    assert (found["told_by"], sorted(found["older"])) == ("the page", sorted(str(at) for at in range(len(old))))
    elsewhere = " ".join([*words[:30], "which nobody had to know before the release of last spring", *words[31:]])
    assert twice(*old, *new, content=elsewhere)["older"] == []


def of_document(version: str, chunks, **more):
    """As LlamaIndex stores them: without numbers, and with a hash of the whole document."""
    return [{**chunk, "version": version, **more} for chunk in chunks]


def by_document(*payloads, content: str = TEXT):
    found = rows(*payloads)
    told = [{**row, "extra": json.dumps({VERSION: each["version"]})} for row, each in zip(found, payloads, strict=True)]
    (finding,) = detected("chunk.ingested_twice", evidence_of(told, [record(paragraphs(content))]))
    return finding.subjects[0].details


def test_the_version_of_their_document_tells_ingestions_and_the_page_which_is_its_own():
    """LlamaIndex stores no numbers and no dates, and with each node the hash of its document; Haystack its id."""
    old, new = cut(60, text=TEXT.replace("part1.", "a room that was renamed.")), cut(100, 90)
    found = by_document(*of_document("f0", old), *of_document("a1", new))
    assert (found["told_by"], sorted(map(int, found["older"]))) == ("the page", [*range(len(old))])
    both = by_document(*of_document("f0", cut(60)), *of_document("a1", new))
    assert (both["told_by"], both["older"]) == ("the document's version", []), "the page has either of them"
    assert sorted(map(len, both["generations"])) == sorted([len(cut(60)), len(new)])
    again = by_document(*of_document("f0", new), *of_document("a1", new))
    assert again["told_by"] == "the same texts", "other metadata of the document"


def test_a_version_that_lacks_what_the_page_has_since_is_the_older_one():
    added = "A passage that came later, of which the older version of this page has nothing at all."
    page = TEXT.replace("part1.", f"part1. {added}", 1)
    found = by_document(*of_document("f0", cut(60)), *of_document("a1", cut(60, text=page)), content=page)
    assert (found["told_by"], sorted(map(int, found["older"]))) == ("the page", [*range(len(cut(60)))])


def test_what_is_kept_of_two_versions_is_the_whole_page_as_it_is():
    """Their boundaries meet by chance behind the edited sentence, and before it they are the same."""
    before = TEXT.replace("word33 of sentence5 in ", "").replace("word35 of sentence0 ", "")
    for size, step in ((60, 50), (24, 24), (40, 38)):
        old, new = numbered(cut(size, step, text=before)), numbered(cut(size, step))
        found = twice(*old, *new)
        assert found is not None
        texts = [chunk["text"] for chunk in [*old, *new]]
        kept = [texts[int(name)] for name in found["generations"][-1]]
        assert (found["told_by"], kept) == ("the page", [chunk["text"] for chunk in new])
        assert set(found["older"]).isdisjoint(found["generations"][-1])


@pytest.mark.parametrize("seed", range(1, 9))
def test_no_chunk_of_the_present_version_is_old_where_neighbours_share_now_more_now_less(seed: int):
    """Boundaries of both versions fit one another about as well as their own."""
    words, random = TEXT.split(" "), Random(seed)

    def version() -> list[dict[str, object]]:
        texts, begin, end = [], 0, 0
        while end < len(words):
            end = begin + random.randint(55, 61)
            texts.append(" ".join(words[begin:end]))
            begin = end - random.randint(2, 8)
        return numbered([{"text": text, "source_url": "/a"} for text in texts])

    new, old = version(), version()
    edited = str(old[0]["text"]).split(" ")
    both = twice({**old[0], "text": " ".join(edited[:10] + edited[13:])}, *old[1:], *new)
    assert both is None or {int(name) for name in both["older"]} <= set(range(len(old)))


def test_a_version_with_a_piece_that_the_page_repeats_is_still_the_whole_page():
    content = f"{HALF} The end. {TEXT.removeprefix(HALF)} The end."
    words = content.split(" ")
    cuts = [words[:152], words[152:250], words[250:-2], words[-2:]]
    new = numbered([{"source_url": "/a", "text": " ".join(part)} for part in cuts])
    old = numbered(cut(60, text=content.replace("word20 of ", "").replace("word90 of ", "")))
    found = twice(*new, *old, content=content)
    assert found is not None
    assert (found["told_by"], found["generations"][-1]) == ("the page", ["0", "1", "2", "3"])


def numbered(chunks: list[dict[str, str]]) -> list[dict[str, object]]:
    return [{**chunk, "chunk_index": at} for at, chunk in enumerate(chunks)]


def test_windows_that_slide_over_a_page_are_one_ingestion_by_their_numbers():
    numbered = [{**payload, "chunk_index": number} for number, payload in enumerate(windows(60, 12))]
    assert twice(*numbered) is None
    assert twice(*numbered[::2], *({**payload, "chunk_index": 90} for payload in numbered[1::2])) is not None


@pytest.mark.parametrize(
    "chunks", [windows(60, 12), windows(60, 20), sentences(1), sentences(2), sentences(3)],
    ids=["12 words", "20 words", "1 sentence", "2 sentences", "3 sentences"],
)  # fmt: skip
def test_windows_without_numbers_are_one_ingestion_by_their_places_unless_they_are_stored_again(chunks):
    assert twice(*chunks) is None
    assert twice(*chunks, *chunks) is not None


@pytest.mark.parametrize("step", [15, 25, 33])
def test_windows_that_all_end_with_the_page_are_one_ingestion(step: int):
    words = TEXT.split(" ")
    chunks = [{"text": " ".join(words[at : at + 100]), "source_url": "/a"} for at in range(0, len(words), step)]
    assert twice(*chunks) is None
    assert twice(*chunks, *chunks) is not None


@pytest.mark.parametrize(("words", "size"), [(480, 80), (480, 150), (300, 100), (240, 60)])
def test_chunks_within_that_of_the_whole_page_are_no_windows(words: int, size: int):
    """A whole page begins and ends with itself, as the first and the last of many windows do."""
    page = " ".join(TEXT.split(" ")[:words])
    whole = {"source_url": "/a", "text": page}
    assert twice(whole, content=page) is None
    assert twice(whole, *cut(size, text=page), content=page) is not None


def test_a_page_too_short_to_show_windows_is_judged_by_the_others():
    parts = [CAMERA, "The printed board hangs beside it.", VISITORS]
    few = [{"text": " ".join(parts[max(0, at - 1) : at + 2]), "source_url": "/b"} for at in range(3)]
    pages = [record(paragraphs(TEXT)), record(paragraphs(*parts), page="/b")]

    def found(*payloads):
        return named(detected("chunk.ingested_twice", evidence_of(rows(*payloads, pages=("/a", "/b")), pages)))

    assert found(*cut(100), *few) == ["https://docs.example.com/b"]
    assert found(*sentences(1), *few) == []


def test_chunks_within_the_larger_one_that_they_name_are_no_second_generation_unless_they_are_stored_again():
    def levels(name: str):
        larger = [{**chunk, "chunk_id": f"{name}{at}"} for at, chunk in enumerate(cut(100))]
        return larger, [{**part, "parent_id": f"{name}{at}"} for at in range(len(larger)) for part in halves(at)]

    def halves(at: int):
        return cut(50, text=" ".join(TEXT.split(" ")[100 * at : 100 * at + 100]))

    larger, smaller = levels("first")
    assert twice(*larger, *smaller) is None
    assert twice(*smaller) is None
    assert twice(*larger, *({**part, "parent_id": "elsewhere"} for part in smaller)) is not None
    assert twice(*larger, *smaller, *chain.from_iterable(levels("again"))) is not None


def test_what_the_page_itself_repeats_is_no_second_generation():
    doubled = f"{HALF} {HALF}"
    assert twice(*cut(50, text=doubled), content=doubled) is None


def test_single_copies_of_chunks_are_not_a_second_ingestion():
    chunks = cut(100)
    assert twice(*chunks, chunks[0], chunks[2]) is None
    assert twice(*chunks, *chunks[1:]) is None
    assert twice(chunks[0], chunks[0], content=chunks[0]["text"]) is None


def test_times_stored_counts_each_letter_as_often_as_it_is_held():
    assert times_stored(facts(*cut(100)).layout.copies).value == 1.0
    assert times_stored(facts(*cut(100), *cut(100)).layout.copies).value == 2.0
    assert times_stored(facts(*cut(100, 80)).layout.copies).value == pytest.approx(1.25, abs=0.05)
    assert times_stored(Layout().copies).reason_code == "no_data"


def shuffled(*order: int):
    chunks = [{**chunk, "chunk_index": index} for chunk, index in zip(cut(60)[:8], order, strict=True)]
    return named(detected("chunk.order_shuffled", facts(*chunks)))


def test_chunks_in_the_order_of_their_page_are_not_named():
    assert shuffled(0, 1, 2, 3, 4, 5, 6, 7) == []
    assert shuffled(1, 2, 3, 4, 5, 6, 7, 9) == []


def test_a_page_whose_index_does_not_follow_it_is_named():
    assert shuffled(1, 0, 2, 3, 4, 5, 6, 7) == ["https://docs.example.com/a"]
    assert shuffled(7, 6, 5, 4, 3, 2, 1, 0) == ["https://docs.example.com/a"]


def test_copies_and_negative_indices_do_not_shuffle_a_page():
    chunks = [{**chunk, "chunk_index": index} for index, chunk in enumerate(cut(60))]
    copy = {**chunks[1], "chunk_index": len(chunks)}
    assert named(detected("chunk.order_shuffled", facts(*chunks, copy))) == []
    assert (
        named(detected("chunk.order_shuffled", facts(*chunks[:3], {**chunks[3], "chunk_index": -1}, *chunks[4:]))) == []
    )


def test_a_piece_that_the_page_has_twice_has_no_place_of_its_own():
    heading = "Word one of the sentence that every part begins with"
    parts = [f"{heading} {chunk['text']}" for chunk in cut(60)[:4]]
    stored = [{"source_url": "/a", "text": text, "chunk_index": at} for at, text in enumerate(parts)]
    stored[2]["text"] = heading
    assert named(detected("chunk.order_shuffled", facts(*stored, content=" ".join(parts)))) == []


def test_a_title_in_front_of_a_chunk_is_not_of_the_page_at_its_place():
    title = "Handbook of halls and of machines in them"
    stored = [{**chunk, "chunk_index": at, "title": title} for at, chunk in enumerate(cut(60)[:4])]
    stored[1]["text"] = " ".join(stored[1]["text"].split()[-6:])
    stored[2]["text"] = f"{title}\n{stored[2]['text']}"
    assert named(detected("chunk.order_shuffled", facts(*stored))) == []


def test_a_title_that_no_text_of_the_page_repeats_is_no_place_on_it():
    title = "Handbook of halls and of machines in them"
    stored = [{**chunk, "chunk_index": at} for at, chunk in enumerate([{}, *cut(60)[:4]])]
    stored[0] |= {"source_url": "/a", "text": title}
    copy = replace(record(paragraphs(TEXT)), title=title)
    assert named(detected("chunk.order_shuffled", evidence_of(rows(*stored), [copy]))) == []


def test_the_amount_of_text_before_a_chunk_does_not_change_where_it_begins():
    title, words = "Handbook of halls and of machines in them", TEXT.split(" ")
    crumb = " ".join(words[-9:])
    texts = [" ".join(words[:8]), f"{crumb}\n{' '.join(words[8:500])}"]
    stored = [{"source_url": "/a", "text": f"{title}\n{text}", "chunk_index": at} for at, text in enumerate(texts)]
    copy = replace(record(paragraphs(TEXT)), title=title)
    assert named(detected("chunk.order_shuffled", evidence_of(rows(*stored), [copy]))) == []


def test_a_chunk_of_which_only_the_titles_words_are_known_has_no_place_on_the_page():
    title = "Halls and machines in them - Handbook of the plant"
    stored = [{"source_url": "/a", "text": title}, *cut(60)[:3]]
    ordered = [{**chunk, "chunk_index": at} for at, chunk in enumerate(stored)]
    page = replace(record(paragraphs(TEXT)), title=title)
    assert named(detected("chunk.order_shuffled", evidence_of(rows(*ordered), [page]))) == []


@pytest.mark.parametrize("rest", [TEXT.split(" ")[300:330], ["another", "version", "of", "this", "very", "page"] * 3])
def test_a_chunk_that_its_page_has_in_pieces_or_in_part_is_not_out_of_order(rest: list[str]):
    pieced = " ".join([*TEXT.split(" ")[70:110], *rest])
    stored = [{**chunk, "chunk_index": at} for at, chunk in enumerate(cut(60)[:4])]
    stored.append({**stored[0], "text": pieced, "chunk_index": 4})
    assert named(detected("chunk.order_shuffled", facts(*stored))) == []


def test_a_word_met_far_from_a_chunk_is_no_end_of_it():
    far = f"{TEXT} tail"
    chunks = [{**chunk, "text": f"{chunk['text']}\ntail"} for chunk in cut(60, 30)[:-1]]
    assert twice(*chunks, *cut(60, 30)[-1:], content=far) is None


def test_chunks_in_pieces_of_what_the_page_shows_have_no_place_on_it():
    words = TEXT.split(" ")
    pieces = [" x7 ".join(words[at : at + 40 : 2]) for at in range(0, 440, 40)]
    assert twice(*cut(100, 50), *({"source_url": "/a", "text": piece} for piece in pieces)) is None


def test_an_order_that_is_shuffled_without_its_stale_tail_does_not_follow_from_it():
    new = [{**chunk, "embedded_at": "2026-03-01"} for chunk in cut(60)]
    tail = {**cut(50, text=" ".join(TEXT.split(" ")[70:120]))[0], "embedded_at": "2026-01-01"}
    for order, follows in ((range(len(new) + 1), True), ([1, 0, *range(2, len(new) + 1)], False)):
        chunks = [{**chunk, "chunk_index": index} for chunk, index in zip([*new, tail], order, strict=True)]
        [finding] = detected("chunk.order_shuffled", facts(*chunks))
        assert (Aspect.CURRENT not in finding.subjects[0].without) is follows
