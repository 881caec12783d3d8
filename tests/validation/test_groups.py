from __future__ import annotations

from ragval_pipeline.validation.groups import groups_of_pairs


def test_what_is_joined_by_way_of_others_is_one_group_and_what_is_joined_with_itself_alone_is_one():
    assert groups_of_pairs([("d", "c"), ("a", "b"), ("e", "e"), ("b", "c")]) == [["a", "b", "c", "d"], ["e"]]
