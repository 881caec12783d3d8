from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.details import written
from ragval_pipeline.rules.integrity.drifted import Details as Differing
from ragval_pipeline.rules.query.dead_target import Details as Target
from ragval_pipeline.rules.query.threshold_unfit import Details as Scores
from ragval_pipeline.sources.site.inventory import SiteInventory, SitePage
from ragval_pipeline.validation.repair import corpus
from ragval_pipeline.validation.repair.corpus import COLUMNS
from ragval_pipeline.validation.repair.duplicates import surplus_points
from ragval_pipeline.validation.repair.remedies import Listing, names_to_look_up, plan_remedies
from ragval_pipeline.validation.repair.repair import Guess, Repair, SearchMode
from ragval_pipeline.validation.repair.repair_plan import RepairPlan
from ragval_pipeline.validation.repair.stored import PointFacts, PointLookup, lookup_of
from ragval_pipeline.validation.repair.trials import plan_repairs

SITE = "https://x.org/docs"
NAMES = ("gears/a", "gears/b", "paint/c")
INVENTORY = SiteInventory(
    site_host="x.org", pages=tuple(SitePage(url=f"{SITE}/{name}", key=f"x.org/docs/{name}") for name in NAMES)
)
TEXTS = {
    "gears/a": "Gears are cut from brass on the small lathe, one tooth after the other. They are washed in oil.",
    "gears/b": "Each blank is held in a collet and indexed by a plate with sixty holes. Burrs are stoned off.",
    "paint/c": "Paint dries for two days in the rack before the second coat is put on with a flat brush.",
}
PAGES = [{"page_key": f"x.org/docs/{name}", "title": name, "main": text} for name, text in TEXTS.items()]


def row(point: str, name: str, **values: Any) -> dict[str, Any]:
    url = f"{SITE}/{name}"
    known = {"point_id": point, "page_key": f"x.org/docs/{name}", "page_url": url, "source_url": url}
    usual = {"text": TEXTS.get(name), "module": name.split("/", maxsplit=1)[0].title(), "text_sha256": point}
    return {**dict.fromkeys(COLUMNS), **known, **usual, **values}


ROWS = [row("1", "gears/a"), row("2", "gears/b"), row("3", "paint/c")]


def planned(
    *findings: Finding,
    rows: list[dict[str, Any]] = ROWS,
    pages: list[dict[str, Any]] = PAGES,
    model: str | None = None,
) -> list[Repair]:
    lookup = lookup_of(rows, names_to_look_up(findings))
    plan = plan_remedies(findings, Listing(INVENTORY.scope_urls), lookup, lambda _: set(), model=model)
    return plan_repairs(findings, INVENTORY, lambda: rows, lambda: pages, plan=plan)


def about(code: str, name: str, page: str | None, **details: Any) -> Finding:
    differs = {"coverage": 0.0, "words": 9, "changed_words": 9}
    measured = {**differs, **details} if code in ("integrity.gone", "integrity.drifted") else details
    return make_finding(code, [Subject(name=name, page=page, details=measured)])


DEAD = written(Target([], {}, query_strings=False, on_site=False, expected_pages=[], expected_module=None))


def dead_target(*fields: str, **details: Any) -> Finding:
    return make_finding("query.dead_target", [Subject(name="q", fields=fields, details={**DEAD, **details})])


def test_a_missing_page_gets_chunks_as_long_as_those_of_the_index_under_the_module_of_its_neighbours() -> None:
    rows = [row("2", "gears/b", text=TEXTS["gears/b"][:50]), ROWS[2]]
    missing = about("coverage.missing_page", f"{SITE}/gears/a", "x.org/docs/gears/a")
    [repair, _] = planned(missing, rows=rows)
    assert " ".join(chunk.text for chunk in repair.chunks) == TEXTS["gears/a"]
    assert {chunk.values["module"] for chunk in repair.chunks} == {"Gears"}
    assert {chunk.values["source_url"] for chunk in repair.chunks} == {f"{SITE}/gears/a"}
    guessed = {name for chunk in repair.chunks for name, value in chunk.values.items() if isinstance(value, Guess)}
    assert guessed == {"chapter"}
    assert repair.unread == frozenset()


def test_a_missing_page_that_could_not_be_read_is_unknown_beside_one_that_could() -> None:
    rows = [row("2", "gears/b", text=TEXTS["gears/b"][:50]), ROWS[2]]
    names = {f"{SITE}/gears/a": "x.org/docs/gears/a", f"{SITE}/gears/lost": "x.org/docs/gears/lost"}
    missing = [Subject(name=name, page=page) for name, page in names.items()]
    for repair in planned(make_finding("coverage.missing_page", missing), rows=rows):
        assert {chunk.values["source_url"] for chunk in repair.chunks} == {f"{SITE}/gears/a"}
        assert repair.unread == {"x.org/docs/gears/lost"}
    assert not repair.removed


def test_a_missing_page_is_embedded_as_the_framework_embeds_the_others() -> None:
    """Without the header of title and address that the other vectors are made from, its chunks rank lower."""
    there = row("2", "gears/b", title="Worm gears")
    header = f"url: {there['source_url']}\ntitle: Worm gears\n\n"
    missing = about("coverage.missing_page", f"{SITE}/gears/a", "x.org/docs/gears/a")
    [repair, _] = planned(missing, rows=[{**there, "embedded_text": f"{header}{there['text']}"}])
    [title] = {chunk.values["title"] for chunk in repair.chunks}
    assert title
    assert {chunk.header for chunk in repair.chunks} == {f"url: {SITE}/gears/a\ntitle: {title}\n\n"}


def test_a_page_that_lost_a_text_before_chunking_is_chunked_again_except_chunks_with_a_wrong_vector() -> None:
    """All that follows such a text begins and ends elsewhere: what is added to it would stand beside wrong borders."""
    key, pages = "x.org/docs/gears/a", [{**PAGES[0], "main": " ".join(TEXTS.values())}, *PAGES[1:]]
    left = f"{TEXTS['gears/a']} {TEXTS['paint/c']}"
    rows = [row("1", "gears/a", text=left[:60]), row("4", "gears/a", text=left[60:].strip()), *ROWS[1:]]
    lost = about("integrity.not_captured", f"{SITE}/gears/a", key)
    repair, _ = planned(lost, rows=rows, pages=pages)
    assert repair.removed == {"1", "4"}
    assert " ".join(chunk.text for chunk in repair.chunks) == pages[0]["main"]
    repair, _ = planned(lost, about("vector.zero", "4", key), rows=rows, pages=pages)[:2]
    assert repair.removed == frozenset()
    assert TEXTS["gears/b"][:80] in " ".join(chunk.text for chunk in repair.chunks)
    rows = [row("1", "gears/a", text=TEXTS["gears/a"]), row("4", "gears/a", text=TEXTS["paint/c"]), *ROWS[1:]]
    assert planned(lost, rows=rows, pages=pages)[0].removed == frozenset()


def test_a_chunk_is_surely_as_it_was_between_others_that_are_cut_as_all_are() -> None:
    main = " ".join(TEXTS.values())
    pages = [{**PAGES[0], "main": main}, *PAGES[1:]]
    gap = about("chunk.index_gap", f"{SITE}/gears/a", "x.org/docs/gears/a")
    whole = planned(gap, rows=ROWS[1:], pages=pages)[0].chunks
    assert len(whole) > 2
    assert not any(chunk.is_sure for chunk in whole)
    stored = [row(str(at), "gears/a", text=chunk.text) for at, chunk in enumerate(whole)]
    [between] = planned(gap, rows=[stored[0], *stored[2:], *ROWS[1:]], pages=pages)[0].chunks
    assert (between.text, between.is_sure) == (whole[1].text, True)
    [first] = planned(gap, rows=[*stored[1:], *ROWS[1:]], pages=pages)[0].chunks
    assert (first.text, first.is_sure) == (whole[0].text, True)
    other = row("9", "gears/a", text=stored[2]["text"][:-12])
    [first] = planned(gap, rows=[stored[1], other, *stored[3:], *ROWS[1:]], pages=pages)[0].chunks
    assert (first.text, first.is_sure) == (whole[0].text, False)


def test_points_without_a_text_say_nothing_of_how_long_chunks_are() -> None:
    missing = about("coverage.missing_page", f"{SITE}/gears/a", "x.org/docs/gears/a")
    blank = [row(f"b{at}", "gears/b", text="") for at in range(5)]
    [chunk] = planned(missing, rows=[*ROWS[1:], *blank])[0].chunks
    assert chunk.text == TEXTS["gears/a"]


def test_a_text_of_another_page_makes_room_for_what_its_page_lacks_or_gets_what_says_where_it_is_from() -> None:
    rows = [row("1", "gears/a", text=TEXTS["paint/c"]), *ROWS[1:]]
    repair, _, moved = planned(about("integrity.gone", "1", "x.org/docs/gears/a"), rows=rows)
    own = {"source_url": f"{SITE}/paint/c", "title": "paint/c", "module": "Paint", "chapter": "docs/paint/c"}
    assert (moved.removed, moved.values) == (frozenset(), {"1": own})
    assert repair.removed == {"1"}
    assert [chunk.text for chunk in repair.chunks] == [TEXTS["gears/a"]]


def test_a_text_that_its_own_page_lacks_only_gets_its_address_and_what_was_lost_for_it_comes_back() -> None:
    rows = [row("1", "gears/a", text=TEXTS["gears/b"]), row("2", "gears/b", text=TEXTS["gears/a"]), *ROWS[2:]]
    pages = ("x.org/docs/gears/a", "x.org/docs/gears/b")
    subjects = [
        Subject(name=name, page=page, details=written(Differing(0.0, 9, 9, missing_there=True)))
        for name, page in zip("12", pages, strict=True)
    ]
    repairs = planned(make_finding("integrity.gone", subjects), rows=rows)
    assert repairs
    for repair in repairs:
        assert (repair.removed, repair.chunks) == (frozenset(), ())
        urls = {point: values["source_url"] for point, values in repair.values.items()}
        assert urls == {"1": f"{SITE}/gears/b", "2": f"{SITE}/gears/a"}


def test_a_text_of_no_page_is_not_moved() -> None:
    rows = [row("1", "gears/a", text="Sign in to see this page."), *ROWS[1:]]
    repairs = planned(about("integrity.gone", "1", "x.org/docs/gears/a"), rows=rows)
    assert repairs
    assert all(repair.chunks and not repair.values for repair in repairs)


def test_a_changed_text_is_written_as_its_page_has_it_under_the_same_id() -> None:
    rows = [row("1", "gears/a", text=TEXTS["gears/a"].replace("brass", "steel")), *ROWS[1:]]
    [repair] = planned(about("integrity.drifted", "1", "x.org/docs/gears/a"), rows=rows)
    assert [(chunk.id, chunk.text) for chunk in repair.chunks] == [("1", TEXTS["gears/a"])]


def test_what_the_ingestion_puts_in_front_of_its_texts_stays_in_front_of_one_that_changed() -> None:
    rows = [
        row(str(at), name, title=name, text=f"Workshop manual: {name}\n{TEXTS[name]}") for at, name in enumerate(NAMES)
    ]
    changed = {**rows[0], "text": rows[0]["text"].replace("brass", "steel")}
    [repair] = planned(about("integrity.drifted", "0", "x.org/docs/gears/a"), rows=[changed, *rows[1:]])
    assert [chunk.text for chunk in repair.chunks] == [rows[0]["text"]]


def test_a_phrase_of_the_frame_goes_and_the_rest_stays_as_it_is_stored() -> None:
    rows = [row("1", "gears/a", text=f"Skip to\ncontent | {TEXTS['gears/a']}"), *ROWS[1:]]
    [repair] = planned(about("text.boilerplate", "1", None, phrases=["skip to content"]), rows=rows)
    assert [chunk.text for chunk in repair.chunks] == [f"| {TEXTS['gears/a']}"]
    assert repair.compared is None


def test_a_banner_goes_with_all_of_its_words_that_the_page_does_not_have() -> None:
    """Only "we use cookies" was taken out, so the question that the banner spoilt did not follow from it."""
    text = f"We use cookies to improve your visit. Accept all Manage preferences\n{TEXTS['gears/a']}"
    rows = [row("1", "gears/a", text=text), *ROWS[1:]]
    [repair] = planned(about("text.boilerplate", "1", "x.org/docs/gears/a", phrases=["we use cookies"]), rows=rows)
    assert [chunk.text for chunk in repair.chunks] == [TEXTS["gears/a"]]
    assert repair.compared is None, "what stays is as stored"


def test_a_rewritten_text_is_compared_with_points_without_a_finding() -> None:
    rows = [row("1", "gears/a", text=TEXTS["gears/a"].replace("brass", "steel")), *ROWS[1:]]
    [repair] = planned(about("integrity.drifted", "1", "x.org/docs/gears/a"), rows=rows)
    assert repair.compared == (((TEXTS["paint/c"],), (TEXTS["paint/c"],)),)


def test_an_address_that_is_missing_is_that_of_the_page_that_holds_the_text() -> None:
    stray = row("1", "gears/a", page_key=None, page_url=None, source_url=None)
    empty = make_finding("payload.empty_field", ["1"], scope="source_url", details={"field": "source_url"})
    [repair] = planned(empty, rows=[stray, *ROWS[1:]])
    assert repair.values == {"1": {"source_url": f"{SITE}/gears/a"}}


def test_points_under_one_address_get_those_of_the_pages_that_hold_their_texts() -> None:
    here = {"source_url": f"{SITE}/paint/c", "page_url": f"{SITE}/paint/c", "page_key": "x.org/docs/paint/c"}
    rows = [{**one, **here} for one in ROWS]
    one_address = make_finding("payload.constant_field", [Subject(name="url", details={"field": "source_url"})])
    [repair] = planned(one_address, rows=rows)
    assert [values["source_url"] for values in repair.values.values()] == [f"{SITE}/{name}" for name in NAMES]


def test_of_pages_that_are_alike_the_one_that_has_all_of_a_text_holds_it() -> None:
    other = TEXTS["gears/b"].replace("sixty holes", "forty notches")
    pages = [{**PAGES[0], "main": other}, *PAGES[1:]]
    stray = row("1", "gears/b", source_url=None, page_url=None, page_key=None)
    empty = about("payload.empty_field", "1", None, field="source_url")
    [repair] = planned(empty, rows=[stray, *ROWS[1:]], pages=pages)
    assert repair.values == {"1": {"source_url": f"{SITE}/gears/b"}}


def test_of_two_spellings_what_only_the_one_that_goes_holds_gets_the_address_that_stays() -> None:
    other = f"{SITE}/gears/a/"
    rows = [*ROWS, row("4", "gears/a", source_url=other, text_sha256="1"), row("5", "gears/a", source_url=other)]
    spellings = [Subject(name=url, page="x.org/docs/gears/a") for url in (f"{SITE}/gears/a", other)]
    [repair] = planned(make_finding("coverage.url_variant", spellings), rows=rows)
    assert (repair.removed, repair.values) == ({"4"}, {"5": {"source_url": f"{SITE}/gears/a"}})


def test_where_all_vectors_are_made_in_another_way_no_text_is_tried_beside_them() -> None:
    mismatch = make_finding("vector.model_mismatch", ["collection"])
    missing = about("coverage.missing_page", f"{SITE}/gears/a", "x.org/docs/gears/a")
    assert [repair.code for repair in planned(missing, mismatch, rows=ROWS[1:])] == ["vector.model_mismatch"]


def test_a_dead_expectation_is_left_out_and_one_of_a_page_that_is_only_missing_is_not() -> None:
    assert planned(dead_target("module"))[0].dropped == {"q": frozenset({"module"})}
    assert planned(dead_target(on_site=True, targets=["/a"], expected_pages=["/a"])) == []


def test_points_of_a_page_that_the_site_no_longer_has_go() -> None:
    orphan = row("4", "gears/z", page_key=None, page_url=None)
    [repair] = planned(about("coverage.orphan_page", f"{SITE}/gears/z", "x.org/docs/gears/z"), rows=[*ROWS, orphan])
    assert (repair.removed, repair.chunks, repair.values) == ({"4"}, (), {})


def test_points_of_a_page_that_the_site_has_under_another_address_get_that_address() -> None:
    rows = [row("1", "old/a", text=TEXTS["gears/a"], page_url=None), *ROWS[1:]]
    other = row("4", "old/a", text="Nothing of this is on any page of the site.", page_url=None)
    subject = Subject(f"{SITE}/old/a", page="x.org/docs/old/a", homes=(f"{SITE}/gears/a",))
    [repair] = planned(make_finding("coverage.orphan_page", [subject]), rows=[*rows, other])
    own = {"source_url": f"{SITE}/gears/a", "title": "gears/a", "module": "Gears", "chapter": "docs/gears/a"}
    assert (repair.removed, repair.values, repair.chunks) == ({"4"}, {"1": own}, ())


def test_of_a_page_ingested_twice_the_newest_generation_stays_or_any_where_nothing_says_which_is_newest() -> None:
    page, generations = "x.org/docs/gears/a", (("1", "4"), ("5",))
    for older, removed in ((("1", "4"), [{"1", "4"}]), ((), [{"5"}, {"1", "4"}])):
        subject = Subject(f"{SITE}/gears/a", page=page, generations=generations, older=older)
        repairs = planned(
            make_finding("chunk.ingested_twice", [subject]), rows=[*ROWS, row("4", "gears/a"), row("5", "gears/a")]
        )
        assert [repair.removed for repair in repairs] == removed


@pytest.mark.parametrize(
    ("first", "second"),
    [({"embedded_at": "2024-01-01"}, {"embedded_at": "2025-01-01"}), ({"model": "new"}, {"model": "old"})],
    ids=["date", "model"],
)
def test_of_equal_texts_the_one_goes_that_remediation_deletes(first: dict[str, str], second: dict[str, str]) -> None:
    """By the date the first, by the model that queries are embedded with the second, whose id is the greater one."""
    rows = [row("1", "gears/a", **first), row("4", "gears/a", **second)]
    page = "x.org/docs/gears/a"
    copies = [Subject(name=one, page=page, copies=(other,)) for one, other in (("1", "4"), ("4", "1"))]
    finding = make_finding("chunk.duplicate_text", copies)
    facts = {one["point_id"]: PointFacts(**{name: one[name] for name in first | second}) for one in rows}
    [repair] = planned(finding, rows=rows, model="new")
    assert repair.removed == set(surplus_points(finding, PointLookup(facts), set(), "new").delete)
    assert repair.removed == {"4" if "model" in first else "1"}


@pytest.mark.parametrize(("number", "text", "kept"), [(9, "same", "1"), (0, "same", "4"), (9, "other", "4")])
def test_a_copy_at_the_end_of_its_page_goes_although_its_id_counts_on(number: int, text: str, kept: str) -> None:
    """Without the original, the page's numbers had a gap; of different texts, or equal numbers, the newer one stays."""
    copies = [Subject(name=one, page="x", copies=(other,)) for one, other in (("1", "4"), ("4", "1"))]
    known = {"1": PointFacts(text_sha256="same", chunk_index=0), "4": PointFacts(text_sha256=text, chunk_index=number)}
    found = surplus_points(make_finding("chunk.duplicate_text", copies), PointLookup(known), set())
    assert found.delete == [name for name in known if name != kept]


def test_of_nearly_equal_texts_of_two_pages_the_one_that_is_not_on_its_page_goes() -> None:
    pages = ("x.org/docs/gears/a", "x.org/docs/gears/b")
    similar = make_finding(
        "chunk.near_duplicate",
        [Subject(name=one, page=page, copies=(other,)) for one, other, page in zip("12", "21", pages, strict=True)],
    )
    gone = about("integrity.gone", "1", pages[0])
    repairs = {repair.code: repair for repair in planned(similar, gone)}
    assert repairs["chunk.near_duplicate"].removed == {"1"}
    assert planned(similar)[0].removed == {"2"}


def test_a_point_with_a_vector_of_another_model_is_not_rewritten_for_its_text() -> None:
    """Its new vector would clear what the text is not to blame for."""
    rows = [row("1", "gears/a", text="Gears\u200b are cut."), row("2", "gears/b", text="Each\u200b blank is held.")]
    hidden = make_finding("text.zero_width", ["1", "2"])
    mixed = make_finding("vector.mixed_models", ["1"])
    repairs = {repair.code: repair for repair in planned(hidden, mixed, rows=rows)}
    assert [(chunk.id, chunk.text) for chunk in repairs["text.zero_width"].chunks] == [("2", "Each blank is held.")]


def test_a_text_longer_than_the_model_reads_is_cut_into_chunks_as_long_as_the_others() -> None:
    whole = " ".join([TEXTS["gears/a"]] * 4)
    [repair, _] = planned(
        make_finding("chunk.over_model_limit", ["1"]), rows=[row("1", "gears/a", text=whole), *ROWS[1:]]
    )
    assert repair.removed == {"1"}
    assert " ".join(chunk.text for chunk in repair.chunks) == whole
    assert [len(chunk.text) < 120 for chunk in repair.chunks] == [True] * 4
    assert {chunk.values["source_url"] for chunk in repair.chunks} == {f"{SITE}/gears/a"}


def test_points_of_another_host_get_the_addresses_of_the_site() -> None:
    staged = row("1", "gears/a", page_key=None, page_url=None, source_url="https://staging.test/docs/gears/a")
    [repair] = planned(make_finding("coverage.foreign_host", ["staging.test"]), rows=[staged, *ROWS[1:]])
    assert repair.values == {"1": {"source_url": f"{SITE}/gears/a"}}


def test_points_of_a_private_host_get_the_addresses_of_the_site() -> None:
    url = "http://localhost:3000/docs/gears/a"
    local = row("1", "gears/a", page_key=None, page_url=None, source_url=url)
    [repair] = planned(about("coverage.loopback_host", url, None), rows=[local, *ROWS[1:]])
    assert repair.values == {"1": {"source_url": f"{SITE}/gears/a"}}


def test_an_empty_text_makes_room_for_what_its_page_lacks() -> None:
    empty = make_finding("payload.empty_field", ["1"], scope="text", details={"field": "text"})
    [repair, kept] = planned(empty, rows=[row("1", "gears/a", text=""), *ROWS[1:]])
    assert repair.removed == {"1"}
    assert [chunk.text for chunk in repair.chunks] == [TEXTS["gears/a"]]
    assert (kept.unknown, kept.removed, kept.chunks) == ({"1"}, frozenset(), ()), "its vector may be right"


def test_an_empty_text_of_a_page_that_nobody_read_stays_unknown() -> None:
    empty = make_finding("payload.empty_field", ["1"], scope="text", details={"field": "text"})
    for repair in planned(empty, rows=[row("1", "gears/unread", text=" "), *ROWS[1:]]):
        assert (repair.unknown, repair.removed, repair.chunks) == ({"1"}, frozenset(), ())


def test_a_module_that_no_other_point_of_its_page_has_becomes_theirs() -> None:
    rows = [row("1", "gears/a", module="Gars"), row("4", "gears/a"), *ROWS[1:]]
    [repair] = planned(make_finding("payload.unexpected_module", ["1"]), rows=rows)
    assert repair.values == {"1": {"module": "Gears"}}


@pytest.mark.parametrize("blank", ["", " \t", "\u200b"])
def test_no_empty_module_of_its_page_is_taken_for_the_right_one(blank: str) -> None:
    rows = [row("1", "gears/a", module=None), row("5", "gears/a", module=blank), *ROWS[1:]]
    [repair] = planned(about("payload.empty_field", "1", "gears/a", field="module"), rows=rows)
    assert repair.values == {"1": {"module": "Gears"}}


def test_a_module_that_is_the_same_everywhere_becomes_that_of_each_page() -> None:
    same = about("payload.constant_field", "meta.module", None, field="module")
    [repair] = planned(same, rows=[{**one, "module": "Book"} for one in ROWS])
    assert {point: values["module"] for point, values in repair.values.items()} == {
        "1": "gears",
        "2": "gears",
        "3": "paint",
    }


def test_a_field_that_no_query_reads_has_no_repair_to_try() -> None:
    assert planned(about("payload.constant_field", "meta.title", None, field="title")) == []
    assert planned(make_finding("payload.missing_field", ["1"], scope="title", details={"field": "title"})) == []


def test_what_concerns_more_points_than_are_read_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "MOST_POINTS", 3)
    assert not planned(make_finding("vector.mixed_models", ["1"]))[0].is_too_large
    monkeypatch.setattr(corpus, "MOST_POINTS", 2)
    [repair] = planned(make_finding("vector.mixed_models", ["1"]))
    assert repair.is_too_large
    assert [repair.code for repair in planned(make_finding("vector.zero", ["1"]))] == ["vector.zero"]


def test_a_hub_goes() -> None:
    [gone] = planned(make_finding("retrieval.hub_chunk", ["1"]))
    assert (gone.chunks, gone.removed) == ((), {"1"})


def test_a_setting_is_repaired_by_the_value_that_its_finding_suggests() -> None:
    recall = make_finding("index.low_ann_recall", ["collection"])
    paths = make_finding("payload.field_map", ["url"], details={"suggested": {"source_url": "meta.url"}})
    unfit = make_finding(
        "query.threshold_unfit",
        [
            Subject(name="0.9", details=written(Scores(1, 0, {"p10": 0.6}, {"max": 0.4})), thresholds=(0.85, 0.9)),
            Subject(name="0.8", details=written(Scores(0, 1, {"p10": 0.4}, {"max": 0.6}))),
        ],
    )
    exact, mapped, asked = planned(recall, paths, unfit)
    assert (exact.search_mode, mapped.paths) == (SearchMode(exact=True), {"source_url": "meta.url"})
    assert asked.thresholds == {0.85: 0.5, 0.9: 0.5}


def test_a_finding_without_a_repair_plans_none() -> None:
    assert planned(make_finding("query.failed", ["q"])) == []


def test_only_dead_expectations_of_a_query_are_left_out() -> None:
    """A query with a misspelled chapter expects a page that exists, which is not left out in its place."""
    alive = ["x.org/docs/gears/a"]
    assert planned(dead_target("source_url", expected_pages=["/z"]))[0].dropped == {"q": frozenset({"url"})}
    assert planned(dead_target("chapter", expected_pages=alive))[0].dropped == {"q": frozenset({"chapter"})}
    results = dead_target(expected_pages=alive, expected_results=["/z"])
    assert planned(results)[0].dropped == {"q": frozenset({"results"})}


def test_what_is_left_to_a_person_keeps_the_advice_beyond_the_lists() -> None:
    remedy = "Delete the points under delete_point_ids in remediation.json. Take the text off its page first."
    finding = make_finding("absent.present", ["1"], remedy=remedy)
    told = RepairPlan(review={"1": ["absent.present"]}).said_of(finding).remedy
    assert "delete_point_ids" not in told
    assert "review_point_ids" in told
    assert told.endswith("Take the text off its page first.")


def test_of_pages_in_two_versions_nothing_is_to_be_deleted() -> None:
    """Other pages that were ingested twice have points to delete; the versions beside each other have none."""
    page = Subject(name=f"{SITE}/gears/a", page="x.org/docs/gears/a")
    versions = make_finding("chunk.ingested_twice", [page], scope="version")
    twice = make_finding("chunk.ingested_twice", [replace(page, generations=(("1",), ("4",)))])
    lookup = lookup_of(ROWS, names_to_look_up([versions, twice]))
    for findings in ([versions], [versions, twice]):
        plan = plan_remedies(findings, Listing(INVENTORY.scope_urls), lookup, lambda _: set())
        assert plan.action_on(versions) == "setting"
