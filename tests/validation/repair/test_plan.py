from __future__ import annotations

from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.site.inventory import SiteInventory, SitePage
from ragval_pipeline.validation.repair.corpus import COLUMNS
from ragval_pipeline.validation.repair.plan import plan_repairs
from ragval_pipeline.validation.repair.repair import Repair

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


def planned(*findings: Finding, rows: list[dict[str, Any]] = ROWS) -> list[Repair]:
    return plan_repairs(findings, INVENTORY, lambda: rows, lambda: PAGES)


def about(code: str, name: str, page: str | None, **details: Any) -> Finding:
    return make_finding(code, [Subject(name=name, page=page, details=details)])


def test_a_missing_page_gets_chunks_as_long_as_those_of_the_index_under_the_module_of_its_neighbours() -> None:
    rows = [row("2", "gears/b", text=TEXTS["gears/b"][:50]), ROWS[2]]
    missing = about("coverage.missing_page", f"{SITE}/gears/a", "x.org/docs/gears/a")
    [repair] = planned(missing, rows=rows)
    assert " ".join(chunk.text for chunk in repair.chunks) == TEXTS["gears/a"][:-1]
    assert {chunk.values["module"] for chunk in repair.chunks} == {"Gears"}
    assert {chunk.values["source_url"] for chunk in repair.chunks} == {f"{SITE}/gears/a"}
    assert not repair.removed


def test_a_missing_page_is_embedded_as_the_framework_embeds_the_others() -> None:
    """Without the header of title and address that the other vectors are made from, its chunks rank lower."""
    there = row("2", "gears/b", title="Worm gears")
    header = f"url: {there['source_url']}\ntitle: Worm gears\n\n"
    missing = about("coverage.missing_page", f"{SITE}/gears/a", "x.org/docs/gears/a")
    [repair] = planned(missing, rows=[{**there, "embedded_text": f"{header}{there['text']}"}])
    [title] = {chunk.values["title"] for chunk in repair.chunks}
    assert title
    assert {chunk.header for chunk in repair.chunks} == {f"url: {SITE}/gears/a\ntitle: {title}\n\n"}


def test_a_text_of_another_page_makes_room_for_what_its_page_lacks() -> None:
    rows = [row("1", "gears/a", text=TEXTS["paint/c"]), *ROWS[1:]]
    [repair] = planned(about("integrity.gone", "1", "x.org/docs/gears/a"), rows=rows)
    assert repair.removed == {"1"}
    assert [chunk.text for chunk in repair.chunks] == [TEXTS["gears/a"][:-1]]


def test_a_changed_text_is_written_as_its_page_has_it_under_the_same_id() -> None:
    rows = [row("1", "gears/a", text=TEXTS["gears/a"].replace("brass", "steel")), *ROWS[1:]]
    [repair] = planned(about("integrity.drifted", "1", "x.org/docs/gears/a"), rows=rows)
    assert [(chunk.id, chunk.text) for chunk in repair.chunks] == [("1", TEXTS["gears/a"][:-1])]


def test_an_address_that_is_missing_is_that_of_the_page_that_holds_the_text() -> None:
    stray = row("1", "gears/a", page_key=None, page_url=None, source_url=None)
    empty = make_finding("payload.empty_field", ["1"], scope="source_url", details={"field": "source_url"})
    [repair] = planned(empty, rows=[stray, *ROWS[1:]])
    assert repair.values == {"1": {"source_url": f"{SITE}/gears/a"}}


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
    dead = about("query.dead_target", "q", None, on_site=False, targets=["Geers"], expected_module="Geers")
    assert planned(dead)[0].dropped == {"q": frozenset({"module"})}
    assert planned(about("query.dead_target", "q", None, on_site=True, targets=["/a"], expected_pages=["/a"])) == []
