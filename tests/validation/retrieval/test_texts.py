from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragval_pipeline.validation.retrieval.texts import (
    chapter_matches,
    fold_text,
    holds_word,
    name_matches,
    normalise_name,
)


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("Use ROS 2 nodes.", "ros"),
        ("ROS\u00a02 nodes", "ros 2"),
        ("a robot's node", "robot"),
        ("(node)", "node"),
        ("node-based", "node"),
        ("Café au lait", "cafe"),
        ("cafe", "Café"),
        ("STRASSE", "straße"),
        ("Mod\u200bule", "module"),
        ("ro\u00adbot", "robot"),
        ("we use C++ and C#", "c++"),
        ("we use C++ and C#", "C#"),
        ("C++", "c++"),
        (".NET core", ".net"),
        ("line\n\tbreak", "line break"),
        ("ﬁle", "file"),
        ("Ⅳ", "iv"),
        ("™", "tm"),
        ("使用ROS进行机器人操作", "ros"),
        ("使用ROS进行机器人操作", "机器人"),
        ("로봇은 간다", "로봇"),
        ("หุ่นยนต์ทำงาน", "หุ่นยนต์"),
        ("ロボットです", "ロボット"),
    ],
)
def test_a_keyword_is_held_as_a_whole_word_with_case_and_accents_folded(text: str, keyword: str) -> None:
    assert holds_word(fold_text(text), keyword)


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("across the page", "ros"),
        ("ROS2", "ros"),
        ("nodes", "node"),
        ("my_node", "node"),
        ("c++11", "c++"),
        ("asp.net", ".net"),
        ("c+ +", "c++"),
        ("ガ", "カ"),
        ("각", "가"),
        ("anything", " "),
        ("anything", "\u200b"),
        ("", "x"),
    ],
)
def test_a_part_of_a_word_is_not_the_keyword(text: str, keyword: str) -> None:
    assert not holds_word(fold_text(text), keyword)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_is_the_long_way(text: str) -> None:
    assert fold_text(text) == fold_text(text + "\u200b")


@pytest.mark.parametrize(
    ("mode", "expected", "stored", "found"),
    [
        ("exact", "Module 1 Ros2", "Module 1 Ros2", True),
        ("exact", "Module 1 Ros2", "module 1 ros2", False),
        ("normalised", "Module 1 Ros2", "module-1_ros2", True),
        ("normalised", " MODULE  1\tRos2 ", "module 1 ros2", True),
        ("normalised", "Module 1", "Mod\u200bule 1", True),
        ("normalised", "Module 1", "Module 10", False),
        ("normalised", "Module 1", "Module 1 Ros2", False),
        ("prefix", "Module 1", "Module 1 Ros2", True),
        ("prefix", "Module 1", "module-1-ros2", True),
        ("prefix", "Module 1", "Module 1: Ros2", True),
        ("prefix", "Module 1", "Module 1", True),
        ("prefix", "Module 1", "Module 10", False),
        ("prefix", "Module 1", "Module 10 Vla", False),
        ("prefix", "Module 1", "The Module 1", False),
        ("prefix", "", "Module 1", False),
        ("regex", r"^Module 1\b", "Module 1 Ros2", True),
        ("regex", r"^Module 1\b", "Module 10", False),
        ("regex", "Module 1", "Module 10", True),
        ("regex", "(?i)module", "MODULE 3", True),
    ],
)
def test_modules_match_by_the_chosen_mode(mode: str, expected: str, stored: str, found: bool) -> None:
    assert name_matches(expected, stored, mode=mode) is found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expected", "stored", "found"),
    [
        ("ch1-ros2-basics", "ch1-ros2-basics", True),
        ("ch1-ros2-basics", "module-1-ros2/ch1-ros2-basics", True),
        ("ch1-ros2-basics", "docs/module-1-ros2/ch1-ros2-basics/", True),
        ("module-1-ros2/ch1-ros2-basics", "docs/module-1-ros2/ch1-ros2-basics", True),
        ("Ch1 ROS2 Basics", "module_1/ch1_ros2_basics", True),
        ("/ch1", "ch1", True),
        ("ch1", "ch10", False),
        ("ch1", "xch1", False),
        ("ch1", "ch1/section", False),
        ("basics", "module-1/ch1-ros2-basics", False),
    ],
)
def test_a_chapter_is_the_whole_name_or_the_end_of_its_path(expected: str, stored: str, found: bool) -> None:
    assert chapter_matches(expected, stored) is found


def test_names_are_normalised_to_words() -> None:
    assert normalise_name("  Module-1__Ros2\u00a0Basics ") == "module 1 ros2 basics"
