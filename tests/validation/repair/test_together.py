from __future__ import annotations

from ragval_pipeline.validation.repair.repair import Chunk, Repair, SearchMode, fewest, joined


def test_what_one_repair_deletes_another_does_not_write_and_what_it_sets_is_written_too() -> None:
    vectors = Repair(
        "vector.zero", chunks=tuple(Chunk(name, "stored", {"module": None}, is_rewritten=False) for name in "ab")
    )
    values = Repair("payload.missing_field", values={"b": {"module": "Gears"}, "c": {"module": "Gears"}})
    both = joined([vectors, Repair("chunk.stale_tail", removed=frozenset("a")), values])
    assert [(chunk.id, dict(chunk.values)) for chunk in both.chunks] == [("b", {"module": "Gears"})]
    assert (both.removed, both.values) == (frozenset("a"), values.values)


def test_a_text_that_is_rewritten_takes_the_place_of_the_stored_one_and_the_first_that_of_others() -> None:
    stored = Repair("vector.zero", chunks=(Chunk("a", "gera s", {}, is_rewritten=False),))
    mended, other = (Repair("text.glued_words", chunks=(Chunk("a", text, {}),)) for text in ("gears", "Gears"))
    for order in ([stored, mended], [mended, stored], [mended, mended], [stored, mended, other]):
        both = joined(order)
        assert [chunk.text for chunk in both.chunks] == ["gears"]


def test_chunks_that_a_page_lacks_are_added_each() -> None:
    one, two = (Repair("coverage.missing_page", chunks=(Chunk("new", text, {}, is_new=True),)) for text in "xy")
    both = joined([one, two, one])
    assert [chunk.text for chunk in both.chunks] == ["x", "y"]


def test_settings_are_joined_too() -> None:
    dead = [Repair("query.dead_target", dropped={"q": frozenset({name})}) for name in ("url", "module")]
    unfit = Repair("query.threshold_unfit", thresholds={0.9: 0.5})
    exact = Repair("index.low_ann_recall", search_mode=SearchMode(exact=True))
    both = joined([*dead, unfit, exact, Repair("payload.field_map", paths={"module": "meta.module"})])
    assert both.dropped == {"q": frozenset({"url", "module"})}
    assert (dict(both.thresholds), dict(both.paths)) == ({0.9: 0.5}, {"module": "meta.module"})
    assert both.search_mode == SearchMode(exact=True)


def test_the_fewest_are_found_by_leaving_out_each_the_last_first() -> None:
    asked: list[list[str]] = []

    def clears(some: list[str]) -> bool:
        asked.append(list(some))
        return {"a", "c"} <= set(some) or {"b", "c"} <= set(some)

    assert fewest("abcd", clears) == ["a", "c"]
    assert asked[0] == list("abcd")
    assert fewest("ab", clears) == []
