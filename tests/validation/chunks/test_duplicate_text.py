from __future__ import annotations

import pytest

from tests.validation.chunks.world import CAMERA, GRIPPER, paragraphs, record
from tests.validation.rows import detected, evidence_of, named, rows, texts


def duplicates(found):
    return detected("chunk.duplicate_text", evidence_of(found))


def test_all_members_of_a_group_are_named_and_know_each_other():
    found = rows({"text": "the same"}, {"text": "another"}, {"text": "the same"}, {"text": "the same"})
    finding = duplicates(found)[0]
    assert [subject.name for subject in finding.subjects] == ["0", "2", "3"]
    assert finding.subjects[1].details["others"] == ["0", "3"]
    assert finding.details == {"groups": 1}


def test_blanks_and_zero_width_characters_make_no_other_text():
    found = texts("one  two\n", "one\u200b two", "one two three")
    assert named(duplicates(found)) == ["0", "1"]


def test_the_only_part_of_a_larger_chunk_that_is_stored_too_is_no_copy_of_it():
    larger, part = {"text": GRIPPER, "chunk_id": "arm"}, {"text": GRIPPER, "parent_id": "arm"}
    copy = record(paragraphs(GRIPPER, CAMERA))

    def named_of(*payloads):
        stored = rows(*({"source_url": "/a", **payload} for payload in payloads))
        return named(detected("chunk.duplicate_text", evidence_of(stored, [copy])))

    assert named_of(larger, part, {"text": CAMERA}) == []
    assert named_of(larger, part, part, {"text": CAMERA}) == ["1", "2"]


def test_letter_case_makes_another_text():
    assert duplicates(texts("Set MODE", "Set mode")) == []


def test_texts_without_letters_are_not_compared():
    assert duplicates(rows({"text": ""}, {"text": " "}, {"text": "--"}, {"text": "--"}, {})) == []


NOTE = f"Camera care. {CAMERA}"


@pytest.mark.parametrize(
    ("page", "chunks", "named_ones"),
    [
        ((NOTE, GRIPPER, NOTE), (NOTE, GRIPPER, NOTE), []),
        ((NOTE, GRIPPER, NOTE), (f"Arm\n{NOTE}", GRIPPER, f"Arm\n{NOTE}"), []),
        ((NOTE, GRIPPER, NOTE), (NOTE, NOTE, NOTE), ["0", "1", "2"]),
        ((NOTE, GRIPPER), (NOTE, GRIPPER, NOTE), ["0", "2"]),
        ((NOTE, GRIPPER, NOTE), (NOTE, NOTE, f"{GRIPPER}\n{NOTE}"), ["0", "1"]),
        ((NOTE, GRIPPER, NOTE), (f"{NOTE}\n{GRIPPER}", GRIPPER, NOTE, NOTE), ["1", "2", "3"]),
        ((NOTE, GRIPPER, NOTE, NOTE, NOTE), (f"{NOTE}\n{GRIPPER}", NOTE, NOTE), []),
        ((NOTE, GRIPPER, NOTE), (NOTE, f"{NOTE}\n{GRIPPER}", NOTE), []),
        ((GRIPPER,), (NOTE, GRIPPER, NOTE), ["0", "2"]),
    ],
    ids=[
        "twice",
        "twice, below the title",
        "a third copy",
        "a copy",
        "one within another chunk",
        "two with one place left",
        "two with three places left",
        "one that its neighbour repeats",
        "of another text",
    ],
)
def test_texts_that_the_page_has_as_often_itself_are_no_duplicates(page, chunks, named_ones):
    found = texts(*chunks, title="Arm")
    assert named(detected("chunk.duplicate_text", evidence_of(found, [record(paragraphs(*page))]))) == named_ones


@pytest.mark.parametrize(
    ("pages", "stored"),
    [
        ({"/a": (NOTE, GRIPPER), "/b": (GRIPPER,)}, {"0": "/a", "copy": "/b"}),
        ({"/a": (NOTE, GRIPPER)}, {"0": "/a", "copy": "/elsewhere"}),
        ({"/a": (NOTE, GRIPPER), "/b": (NOTE,)}, {"0": "/a", "copy 1": "/b", "copy 2": "/b"}),
    ],
    ids=["on a page of another text", "on a page that was not read", "twice on a page that has it once"],
)
def test_a_point_at_its_own_place_is_no_copy_of_one_that_has_none(pages, stored):
    found = rows(*({"text": NOTE, "source_url": page} for page in stored.values()), pages=tuple(pages))
    records = [record(paragraphs(*content), page=page) for page, content in pages.items()]
    [finding] = detected("chunk.duplicate_text", evidence_of(found, records))
    copies = [str(number) for number, name in enumerate(stored) if name.startswith("copy")]
    assert named([finding]) == copies
    assert all("0" in subject.details["others"] for subject in finding.subjects)
    has = "1 point has" if len(copies) == 1 else f"{len(copies)} points have"
    assert finding.message == f"{has} the same text as another point."


def test_a_text_that_drifted_keeps_its_place():
    edited = NOTE.replace("once a week", "every other day")
    found = rows({"text": NOTE, "source_url": "/a"}, {"text": NOTE, "source_url": "/b"}, pages=("/a", "/b"))
    records = [record(paragraphs(NOTE)), record(paragraphs(edited), page="/b")]
    assert detected("chunk.duplicate_text", evidence_of(found, records)) == []


def test_what_a_page_has_more_often_than_all_its_places_are_known_is_no_duplicate():
    """A reference has "Return type:" a hundred times, mostly within chunks, and a splitter parts some from theirs."""
    items = [f"Item x{number} of the arm returns {number * 7}" for number in range(100)]
    page = [text for item in items for text in (item, "Return type:")]
    first = ["\n".join(page[at : at + 10]) for at in range(0, 180, 10)]
    found = texts(*first, *page[180:], title="Arm")
    assert named(detected("chunk.duplicate_text", evidence_of(found, [record(paragraphs(*page))]))) == []


@pytest.mark.parametrize(("count", "severity"), [(2, "info"), (3, "warning")])
def test_a_few_chunks_within_others_may_be_what_a_splitter_with_overlap_left(count: int, severity: str):
    pages = {f"/{name}": (f"Unit {name}. {GRIPPER}", f"Unit {name}. {CAMERA}") for name in "abcde"}
    chunks = [(page, " ".join(texts)) for page, texts in pages.items()]
    chunks += [(page, texts[0]) for page, texts in list(pages.items())[:count]]
    found = rows(*({"source_url": page, "text": text} for page, text in chunks), pages=tuple(pages))
    copies = [record(paragraphs(*texts), page=page) for page, texts in pages.items()]
    [finding] = detected("chunk.duplicate_text", evidence_of(found, copies))
    assert (finding.count, finding.details["within"], finding.severity) == (count, count, severity)
    assert ("nothing tells the two apart" in finding.cause) == (severity == "info")
