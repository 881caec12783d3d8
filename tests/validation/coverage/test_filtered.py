"""Missing pages that are stored, and that the suite's filter leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from ragval_pipeline.sources.stores.qdrant.filtered import LeftOut
from ragval_pipeline.validation.coverage.filtered import why_filtered, why_none_passes, why_query_filtered


def fold(address: str) -> str:
    return address.removesuffix("/")


def test_pages_whose_points_lack_the_field_are_not_re_ingested() -> None:
    lacking = LeftOut(field="status", value="activated", lacking={"/a/": 9, "/a": 1, "/b": 2, "/elsewhere": 5})
    cause, remedy = why_filtered([lacking], ["/a", "/b"], fold)
    assert cause == "These pages are stored, but qdrant.filter leaves them out: their 12 points lack `status`."
    assert remedy is not None
    assert "set it on them" in remedy
    assert "Re-ingest" not in remedy


def test_pages_of_another_value_are_named_with_it() -> None:
    other = LeftOut(field="tenant", value="navy", other={"/a": 3}, values=("harbour",))
    cause, remedy = why_filtered([other], ["/a"], fold)
    assert cause is not None
    assert cause.startswith("This page is stored, but qdrant.filter leaves it out: its 3 points have another `tenant`")
    assert "source.include" in str(remedy)


def test_of_pages_that_are_stored_in_part_the_others_keep_the_usual_cause() -> None:
    lacking = LeftOut(field="status", value="on", lacking={"/a": 1})
    cause, remedy = why_filtered([lacking], ["/a", "/b"], fold)
    assert str(cause).startswith("1 of these 2 pages is stored and left out by qdrant.filter: their 1 point lacks")
    assert "The others: The page was never ingested" in str(cause)
    assert "Re-ingest" in str(remedy)


@pytest.mark.parametrize("left_out", [(), (LeftOut(field="status", value="on", lacking={"/elsewhere": 5}),)])
def test_pages_that_are_not_stored_have_the_usual_cause(left_out: tuple[LeftOut, ...]) -> None:
    assert why_filtered(left_out, ["/a"], fold) == (None, None)


def test_what_could_not_be_read_may_include_the_pages() -> None:
    cause, remedy = why_filtered([LeftOut(field="status", value="on")], ["/a"], fold)
    assert "could not be read" in str(cause)
    assert "correct qdrant.filter" in str(remedy)


def test_when_none_passes_the_name_that_exists_is_given() -> None:
    elsewhere = LeftOut(field="tenant", value="navy", lacking={"": 28}, elsewhere="metadata.tenant", passing=12)
    cause, remedy = why_none_passes([elsewhere])
    assert cause == "No point has `tenant`, but `metadata.tenant` exists, and is navy in 12 points."
    assert str(remedy).startswith("Write `metadata.tenant: navy` in qdrant.filter.")


def test_when_none_passes_the_values_that_exist_are_given() -> None:
    cause, remedy = why_none_passes([LeftOut(field="tenant", value="nvay", other={"": 28}, values=("navy", "harbour"))])
    assert cause == "No point has the value nvay of `tenant`; values are navy, harbour."
    assert "Correct the value" in str(remedy)


def test_when_nothing_is_known_nothing_is_said() -> None:
    assert why_none_passes([]) == (None, None)


@pytest.mark.parametrize(
    ("entry", "missed", "told"),
    [
        (
            {"lacking": {"/a/": 2}, "elsewhere": "metadata.lang", "passing": 9},
            {"/a"},
            "its filter leaves out points of the expected page: 2 points lack `lang`, and `metadata.lang` is en in "
            "9 points",
        ),
        ({"other": {"/a": 1, "/b": 3}, "values": ("de",)}, {"/a"}, "the expected page: 1 point has another `lang`"),
        ({"other": {"/b": 3}, "values": ("de",)}, {"/a"}, None),
        ({"lacking": {"": 3}}, set(), "its filter leaves out all points: No point has `lang`"),
    ],
)
def test_what_the_filter_of_a_query_leaves_out_is_told(
    entry: dict[str, Any], missed: set[str], told: str | None
) -> None:
    found = why_query_filtered([LeftOut(field="lang", value="en", **entry)], missed, fold)
    assert (found is None) == (told is None)
    assert told is None or told in str(found)
