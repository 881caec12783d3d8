from __future__ import annotations

from ragval_pipeline.validation.chunks.duplicate_text import collect_texts, duplicate_text_findings, merge_texts
from tests.validation.rows import named, rows, texts


def test_all_members_of_a_group_are_named_and_know_each_other():
    found = rows({"text": "the same"}, {"text": "another"}, {"text": "the same"}, {"text": "the same"})
    finding = duplicate_text_findings(collect_texts(found))[0]
    assert [subject.name for subject in finding.subjects] == ["0", "2", "3"]
    assert finding.subjects[1].details["others"] == ["0", "3"]
    assert finding.details == {"groups": 1, "superfluous": 2}


def test_blanks_and_zero_width_characters_make_no_other_text():
    found = texts("one  two\n", "one\u200b two", "one two three")
    assert named(duplicate_text_findings(collect_texts(found))) == ["0", "1"]


def test_letter_case_makes_another_text():
    assert duplicate_text_findings(collect_texts(texts("Set MODE", "Set mode"))) == []


def test_texts_without_letters_are_not_compared():
    assert (
        duplicate_text_findings(collect_texts(rows({"text": ""}, {"text": " "}, {"text": "--"}, {"text": "--"}, {})))
        == []
    )


def test_duplicates_across_slices_are_found_by_merging():
    found = texts("same", "other", "same")
    slices = [collect_texts(found[:2]), collect_texts(found[2:])]
    assert named(duplicate_text_findings(merge_texts(slices))) == ["0", "2"]
    assert all(not duplicate_text_findings(part) for part in slices)
