from __future__ import annotations

import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.reporting.remediation import remediation
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.validation.coverage.hosts import with_moved
from ragval_pipeline.validation.repair.duplicates import groups_of
from ragval_pipeline.validation.repair.remedies import Listing, names_to_look_up, plan_remedies
from ragval_pipeline.validation.repair.stored import PointFacts, PointLookup

PAGE = "https://docs.example.com/docs/intro"
SCOPE = {"key:intro": PAGE}


def remedy(*findings, lookup=None):
    return planned(findings, SCOPE, lookup or PointLookup())


def planned(findings, scope, lookup, *, unproven=(), **model):
    """remediation.json, if all deletions but those of ``unproven`` are proven."""
    plan = plan_remedies(list(findings), Listing(scope), lookup, lambda ids: ids & {*unproven}, **model)
    return remediation(plan, findings)


def group(code, *names, page="key:intro"):
    copies = {name: tuple(other for other in names if other != name) for name in names}
    return make_finding(code, [Subject(name=name, page=page, copies=copies[name]) for name in names])


def ids(listed):
    return [entry["id"] for entry in listed]


def test_missing_pages_are_urls_to_reingest():
    assert remedy(make_finding("coverage.missing_page", [PAGE]))["reingest_urls"] == [
        {"url": PAGE, "codes": ["coverage.missing_page"]}
    ]


def test_a_point_is_reingested_with_its_page_and_a_page_is_listed_once_with_every_code():
    stored = {"page_url": f"{PAGE}/index.html"}
    listed = remedy(
        make_finding("payload.empty_field", [Subject("1", stored, page="key:intro"), Subject("2", page="key:intro")]),
        make_finding("text.mojibake", [Subject(name="3", details={"page_url": PAGE})]),
    )["reingest_urls"]
    assert listed == [{"url": PAGE, "codes": ["payload.empty_field", "text.mojibake"]}]


def test_the_snapshot_tells_the_page_of_a_point_that_names_none():
    lookup = PointLookup(points={"1": PointFacts(page_url=PAGE, source_url="http://old.example/intro")})
    assert remedy(make_finding("vector.zero", ["1"]), lookup=lookup)["reingest_urls"][0]["url"] == PAGE


def test_points_that_all_lack_what_the_suite_asks_for_are_a_matter_of_its_settings():
    result = remedy(make_finding("partition.untagged", []))
    assert [entry["code"] for entry in result["settings"]] == ["partition.untagged"]
    assert result["reingest_urls"] == result["reingest_point_ids"] == result["ingestion"] == []


def test_a_page_whose_chunks_are_out_of_order_is_ingested_again():
    result = remedy(make_finding("chunk.order_shuffled", [Subject(name=PAGE, page="key:intro")]))
    assert [entry["url"] for entry in result["reingest_urls"]] == [PAGE]
    assert result["chunker"] == []


def test_a_text_beside_all_of_its_page_is_for_a_person_since_an_ingestion_would_leave_or_repeat_it():
    beside = Subject("1", {"page_url": PAGE}, page="key:intro", without=frozenset({Aspect.TEXT, Aspect.PLACE}))
    result = remedy(make_finding("integrity.gone", [beside]))
    assert ids(result["review_point_ids"]) == ["1"]
    assert result["reingest_urls"] == result["delete_point_ids"] == result["delete_after_ingesting"] == []


def test_a_point_whose_page_nobody_knows_is_listed_by_its_id():
    result = remedy(make_finding("vector.zero", ["1"]))
    assert result["reingest_urls"] == []
    assert result["reingest_point_ids"] == [{"id": "1", "codes": ["vector.zero"]}]


def without_page(*names):
    return make_finding("payload.missing_field", list(names), scope="url", details={"field": "source_url"})


def test_of_a_point_without_a_page_the_page_that_lacks_its_text_is_ingested():
    lost = make_finding("integrity.not_captured", [Subject(name=PAGE, page="key:intro")])
    told = with_moved([without_page("7", "8"), lost], {"key:intro": ["7"]})
    result = remedy(make_finding("vector.zero", ["7"]), *told)
    assert [entry["url"] for entry in result["reingest_urls"]] == [PAGE]
    assert ids(result["review_point_ids"]) == ["7"], "the ingestion may write it again, with its page"
    assert ids(result["reingest_point_ids"]) == ["8"]
    assert "delete_after_ingesting" in told[0].remedy


def test_a_point_without_a_page_whose_text_is_stored_under_its_page_is_deleted():
    """It is left when the page was ingested again: nothing else would ever remove it."""
    others = {"7": ("3",), "8": ("9",), "9": ("8",)}
    subjects = [Subject(name, {"because": "payload"}, copies=other) for name, other in others.items()]
    copies = make_finding("chunk.duplicate_text", subjects).model_copy(update={"because": "payload.missing_field"})
    result = remedy(without_page("7", "8", "9"), copies)
    assert ids(result["delete_point_ids"]) == ["7"]
    assert ids(result["reingest_point_ids"]) == ["8", "9"]


@pytest.mark.parametrize("code", ["payload.invalid_value", "payload.wrong_type"])
def test_a_value_that_is_not_an_address_is_not_a_url_to_reingest(code):
    subject = Subject(name="1", page="N/A", details={"value": '"N/A"', "page_url": "N/A"})
    lookup = PointLookup(points={"1": PointFacts(source_url="N/A")})
    result = remedy(make_finding(code, [subject], scope="url", details={"field": "source_url"}), lookup=lookup)
    assert result["reingest_urls"] == []
    assert result["reingest_point_ids"] == [{"id": "1", "codes": [code]}]


def test_a_wrong_value_of_another_field_is_mended_with_the_page_whatever_names_it():
    subject = Subject(name="1", page="chapter-1", details={"page_url": "chapter-1"})
    result = remedy(make_finding("payload.wrong_type", [subject], scope="tokens", details={"field": "token_count"}))
    assert result["reingest_urls"] == [{"url": "chapter-1", "codes": ["payload.wrong_type"]}]


def test_a_page_of_a_development_server_is_deleted_and_the_sites_page_ingested():
    private = "http://localhost:3000/docs/intro"
    lookup = PointLookup(ids_of={private: ["8"]})
    subject = Subject(name=private, page=private, details={"page_url": PAGE})
    result = remedy(make_finding("coverage.loopback_host", [subject]), lookup=lookup)
    assert result["reingest_urls"] == [{"url": PAGE, "codes": ["coverage.loopback_host"]}]
    assert result["delete_pages"] == [{"url": private, "codes": ["coverage.loopback_host"], "ingest_first": [PAGE]}]
    assert result["delete_after_ingesting"] == result["delete_point_ids"] == []


def test_a_development_site_asks_for_nothing():
    finding = make_finding("coverage.loopback_host", ["http://localhost:3000/a"], details={"expected": True})
    assert remedy(finding)["reingest_urls"] == []


def test_a_point_with_an_id_that_no_ingestion_reuses_is_deleted_too():
    result = remedy(make_finding("payload.id_rule", [Subject(name="7", page="key:intro")]))
    assert result["reingest_urls"] == [{"url": PAGE, "codes": ["payload.id_rule"]}]
    assert ids(result["delete_after_ingesting"]) == ["7"]


def test_hosts_and_collections_are_no_urls_to_reingest():
    result = remedy(make_finding("coverage.foreign_host", ["old.example"]), make_finding("index.empty", ["c"]))
    assert result["reingest_urls"] == []
    assert [entry["code"] for entry in result["ingestion"]] == ["coverage.foreign_host", "index.empty"]


def test_of_duplicates_the_newest_stays():
    lookup = PointLookup(
        points={"a": PointFacts(embedded_at="2026-01-02"), "b": PointFacts(embedded_at="2026-03-01"),
                "c": PointFacts(embedded_at="2026-02-01")}
    )  # fmt: skip
    result = remedy(group("chunk.duplicate_index", "a", "b", "c"), lookup=lookup)
    assert result["delete_point_ids"] == [
        {"id": "a", "codes": ["chunk.duplicate_index"]}, {"id": "c", "codes": ["chunk.duplicate_index"]},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "facts", "gone"),
    [
        (("7", "12"), ({}, {}), ["7"]),
        (("a", "b"), ({"model": "embed-english-v2.0"}, {"model": "embed-english-v3.0"}), ["a"]),
        (("a", "b"), ({"embedded_at": "2026-05-01"}, {"embedded_at": "Tue, 01 Jul 2025 10:00:00 GMT"}), ["b"]),
    ],
)
def test_of_duplicates_that_differ_the_older_goes_by_whatever_tells_it(names, facts, gone):
    points = {
        name: PointFacts(text_sha256=str(number), **fact)
        for number, (name, fact) in enumerate(zip(names, facts, strict=True))
    }
    found = [group("chunk.duplicate_index", *names)]
    result = planned(found, SCOPE, PointLookup(points=points), model="embed-english-v3.0")
    assert (ids(result["delete_point_ids"]), result["review_point_ids"]) == (gone, [])


def test_of_every_group_of_duplicates_one_stays_when_all_are_alike():
    pairs = [("a", "b"), ("c", "d"), ("e", "f")]
    subjects = [subject for pair in pairs for subject in group("chunk.duplicate_index", *pair).subjects]
    deleted = ids(remedy(make_finding("chunk.duplicate_index", subjects))["delete_point_ids"])
    assert all(len(set(pair) - set(deleted)) == 1 for pair in pairs)


def test_of_copies_of_unknown_age_the_one_with_the_lowest_number_stays_so_that_none_is_missing():
    numbers = {"a": 5, "b": 0, "c": None}
    lookup = PointLookup(points={name: PointFacts(chunk_index=number) for name, number in numbers.items()})
    result = remedy(group("chunk.duplicate_text", "a", "b", "c"), lookup=lookup)
    assert ids(result["delete_point_ids"]) == ["a", "c"]


def test_duplicates_that_differ_in_text_are_left_to_a_person_when_none_is_newer():
    lookup = PointLookup(points={"a": PointFacts(text_sha256="1"), "b": PointFacts(text_sha256="2")})
    result = remedy(group("chunk.duplicate_index", "a", "b"), lookup=lookup)
    assert result["delete_point_ids"] == []
    assert ids(result["review_point_ids"]) == ["a", "b"]


def test_points_that_only_share_a_number_are_ingested_again_and_neither_deleted_nor_reviewed():
    subjects = [
        Subject(name=name, page="key:intro", copies=copies)
        for name, copies in (("a", ("b",)), ("b", ("a",)), ("c", ()))
    ]
    dates = {name: PointFacts(embedded_at=f"2026-01-0{day}") for day, name in enumerate("abc", 1)}
    result = remedy(make_finding("chunk.duplicate_index", subjects), lookup=PointLookup(points=dates))
    assert (ids(result["delete_point_ids"]), result["review_point_ids"]) == (["a"], [])
    assert result["reingest_urls"] == [{"url": PAGE, "codes": ["chunk.duplicate_index"]}]


def twice(*generations):
    stored = tuple(map(tuple, generations))
    return make_finding("chunk.ingested_twice", [Subject(name=PAGE, page="key:intro", generations=stored)])


def of_pairs(*pairs):
    return make_finding(
        "chunk.duplicate_index", [one for pair in pairs for one in group("chunk.duplicate_index", *pair).subjects]
    )


def test_a_page_that_is_stored_once_without_its_copies_leaves_nothing_to_decide():
    result = remedy(twice("ab", "cd"), of_pairs("ac", "bd"))
    codes = ["chunk.duplicate_index", "chunk.ingested_twice"]
    assert result["delete_point_ids"] == [{"id": "c", "codes": codes}, {"id": "d", "codes": codes}]
    assert (result["review_point_ids"], result["reingest_urls"]) == ([], [])


def test_what_is_gone_from_a_page_stored_twice_is_left_to_a_person_if_nothing_tells_its_ingestion():
    stored = (("a", "b"), ("c", "d"))
    again = make_finding(
        "chunk.ingested_twice", [Subject(name=PAGE, page="key:intro", generations=stored, older=stored[0])]
    )
    gone = make_finding(
        "integrity.gone",
        [Subject(name, {"because": "chunk.ingested_twice"}, page="key:intro") for name in ("a", "left")],
    ).model_copy(update={"because": "chunk.ingested_twice"})
    result = remedy(again, gone)
    assert ids(result["delete_point_ids"]) == ["a", "b"]
    assert result["review_point_ids"] == [{"id": "left", "codes": ["chunk.ingested_twice"]}]


def test_a_point_that_is_deleted_is_not_left_to_a_person_too():
    result = remedy(twice("ab", "cdf"), of_pairs("ac"))
    assert ids(result["delete_point_ids"]) == ["c"]
    assert ids(result["review_point_ids"]) == ["a", "b", "d", "f"]
    assert result["reingest_urls"] == []


def test_equal_text_on_different_pages_is_not_deleted():
    subjects = [Subject(name="a", page="p1", copies=("b",)), Subject(name="b", page="p2", copies=("a",))]
    result = remedy(make_finding("chunk.duplicate_text", subjects))
    assert result["delete_point_ids"] == []
    assert ids(result["review_point_ids"]) == ["a", "b"]


def test_points_that_only_share_a_payload_id_are_not_deleted():
    assert remedy(group("payload.duplicate_id", "a", "b"))["delete_point_ids"] == []


def test_overlapping_groups_never_lose_their_last_text():
    result = remedy(group("chunk.duplicate_index", "a", "b"), group("chunk.duplicate_text", "b", "c"))
    deleted = set(ids(result["delete_point_ids"]))
    assert deleted == {"b"}
    assert result["delete_point_ids"][0]["codes"] == ["chunk.duplicate_index", "chunk.duplicate_text"]


def test_a_duplicate_that_is_deleted_anyway_is_not_the_one_that_stays():
    tail = make_finding("chunk.stale_tail", ["a"])
    assert ids(remedy(group("chunk.duplicate_text", "a", "b"), tail)["delete_point_ids"]) == ["a"]


def test_an_orphan_page_is_deleted_with_all_its_points():
    lookup = PointLookup(ids_of={"https://docs.example.com/old": ["8", "9"]})
    result = remedy(make_finding("coverage.orphan_page", ["https://docs.example.com/old"]), lookup=lookup)
    assert [entry["url"] for entry in result["delete_pages"]] == ["https://docs.example.com/old"]
    assert ids(result["delete_point_ids"]) == ["8", "9"]


def test_points_of_another_site_in_the_collection_are_reviewed_and_not_deleted():
    old, other = "https://docs.example.com/old", "https://blog.example.net/a"
    orphans = [Subject(old), Subject(other, is_foreign=True)]
    lookup = PointLookup(ids_of={old: ["8"], other: ["9"]})
    result = remedy(make_finding("coverage.orphan_page", orphans), lookup=lookup)
    assert [entry["url"] for entry in result["delete_pages"]] == [old]
    assert ids(result["delete_point_ids"]) == ["8"]
    assert ids(result["review_point_ids"]) == ["9"]


def test_a_page_that_goes_is_not_ingested_again_for_what_is_wrong_with_its_points():
    old = "https://docs.example.com/old"
    field = make_finding("payload.empty_field", [Subject("8", {"page_url": old}), Subject("2", page="key:intro")])
    result = remedy(field, make_finding("coverage.orphan_page", [old]), lookup=PointLookup(ids_of={old: ["8"]}))
    assert [entry["url"] for entry in result["reingest_urls"]] == [PAGE]
    assert [entry["url"] for entry in result["delete_pages"]] == [old]


def moved_to(old):
    """Findings of a page of the site that no point has, whose text stands under another address."""
    orphan = make_finding(
        "coverage.orphan_page", [Subject(name=old, page="key:old", details={"reason": "gone", "points": 2})]
    )
    missing = make_finding("coverage.missing_page", [Subject(name=PAGE, page="key:intro")])
    told = with_moved([orphan, missing], {"key:intro": {"key:old"}})
    return [told[0], told[1].model_copy(update={"because": "coverage.orphan_page"})]


def test_a_page_that_moved_is_ingested_before_its_old_points_go():
    old = "https://docs.example.com/stable/docs/intro"
    lookup = PointLookup(ids_of={old: ["8", "9"]})
    orphan, missing = moved_to(old)
    assert orphan.cause.startswith(f"1 page is stored under another address: {old} for {PAGE}.")
    assert "Only then delete" in orphan.remedy
    assert missing.cause == "The texts of this page are stored under other addresses."
    result = remedy(orphan, missing, lookup=lookup)
    assert PAGE in [entry["url"] for entry in result["reingest_urls"]]
    assert result["delete_point_ids"] == []
    assert [(entry["url"], entry["ingest_first"]) for entry in result["delete_pages"]] == [(old, [PAGE])]
    assert result["delete_after_ingesting"] == [], "the ingestion may write these ids again"


@pytest.mark.parametrize(
    ("stored", "cause"),
    [
        ("https://d.example/stable/book/{}", "2 pages are stored under /stable/ in place of /."),
        (
            "https://d.example/book/{}?page=2",
            "2 pages are stored under other addresses, such as https://d.example/book/a?",
        ),
        (
            "https://d.example/Book/{}",
            "2 pages are stored under /Book/ in place of /book/.",
        ),
    ],
)
def test_pages_that_moved_together_are_described_by_their_folders_if_these_differ(stored: str, cause: str):
    pages = [(stored.format(name), f"https://d.example/book/{name}") for name in ("a", "b")]
    orphan = make_finding(
        "coverage.orphan_page",
        [Subject(name=old, page=old, details={"reason": "gone", "points": 2}) for old, _ in pages],
    )
    missing = make_finding("coverage.missing_page", [Subject(name=new, page=new) for _, new in pages])
    told = with_moved([orphan, missing], {new: {old} for old, new in pages})[0]
    assert told.cause.startswith(cause)


def test_points_that_name_the_files_of_the_site_in_a_repository_are_told_to_name_its_pages():
    files = [f"https://github.com/acme/docs/blob/main/{name}.md" for name in ("a", "b", "c")]
    pages = [f"https://d.example/{name}" for name in ("a", "b", "c")]
    missing = make_finding("coverage.missing_page", [Subject(name=page, page=page) for page in pages])

    def host(*keys: str):
        return make_finding(
            "coverage.foreign_host", [Subject(name="github.com", pages=keys)], details={"site_host": "d.example"}
        )

    def told(finding, moved):
        return next(each for each in with_moved([finding, missing], moved) if each.code == "coverage.foreign_host")

    moved = {page: {file} for page, file in zip(pages, files, strict=True)}
    found = told(host(*files), moved)
    assert found.cause.startswith("3 pages have texts of the site's pages, under other paths")
    assert files[0] in found.cause
    assert "source.host_aliases" not in found.remedy
    assert "Only then delete" in found.remedy
    # With the site's paths it is the same site on another host, and with other texts another site.
    assert "source.host_aliases" in told(host(*files, *pages), moved).remedy
    assert "source.host_aliases" in told(host(*files), {pages[0]: {files[0]}}).remedy


def test_of_a_pages_spellings_the_sitemaps_stays_with_its_fragments():
    names = [PAGE, f"{PAGE}#usage", f"{PAGE}/", f"{PAGE}.html"]
    subjects = [Subject(name=name, page="key:intro") for name in names]
    result = remedy(make_finding("coverage.url_variant", subjects))
    assert [entry["url"] for entry in result["delete_pages"]] == [f"{PAGE}.html", f"{PAGE}/"]


def test_a_fragment_that_repeats_chunks_of_its_page_goes():
    result = remedy(group("coverage.url_variant", PAGE, f"{PAGE}#intro"))
    assert [entry["url"] for entry in result["delete_pages"]] == [f"{PAGE}#intro"]


def spellings(*names):
    return make_finding("coverage.url_variant", [Subject(name=name, page="key:intro") for name in names])


def test_a_page_with_chunks_under_several_addresses_is_reingested_before_one_address_is_deleted():
    lookup = PointLookup(
        points={"1": PointFacts(text_sha256="a"), "2": PointFacts(text_sha256="b")},
        ids_of={PAGE: ["1"], f"{PAGE}/": ["2"]},
    )
    result = planned([spellings(PAGE, f"{PAGE}/")], SCOPE, lookup, unproven={"2"})
    assert result["delete_after_ingesting"] == result["delete_point_ids"] == []
    assert result["delete_pages"] == [
        {"url": f"{PAGE}/", "codes": ["coverage.url_variant"], "ingest_first": [PAGE]},
    ]  # fmt: skip
    assert result["reingest_urls"] == [{"url": PAGE, "codes": ["coverage.url_variant"]}]


def test_an_address_of_which_other_chunks_hold_all_that_is_on_the_page_is_just_deleted():
    """The page was ingested again, with larger chunks, after the site moved to https."""
    lookup = PointLookup(
        points={"1": PointFacts(text_sha256="a"), "2": PointFacts(text_sha256="b")},
        ids_of={PAGE: ["1"], f"{PAGE}/": ["2"]},
    )
    result = planned([spellings(PAGE, f"{PAGE}/")], SCOPE, lookup)
    assert (result["reingest_urls"], ids(result["delete_point_ids"])) == ([], ["2"])
    assert result["delete_pages"] == [{"url": f"{PAGE}/", "codes": ["coverage.url_variant"]}]


def test_an_address_whose_texts_are_all_under_the_kept_one_is_just_deleted():
    lookup = PointLookup(
        points={"1": PointFacts(text_sha256="a"), "2": PointFacts(text_sha256="a"), "3": PointFacts(text_sha256="b")},
        ids_of={f"{PAGE}#usage": ["1"], PAGE: ["3"], f"{PAGE}/": ["2"]},
    )
    assert remedy(spellings(PAGE, f"{PAGE}#usage", f"{PAGE}/"), lookup=lookup)["reingest_urls"] == []


def test_vectors_of_a_text_that_has_several_are_for_review_and_not_made_again():
    lookup = PointLookup(points={name: PointFacts(page_url=PAGE, page_key="key:intro") for name in "123"})
    finding = make_finding("vector.text_mismatch", ["1", "2"])
    plan = plan_remedies([finding], Listing(SCOPE), lookup, lambda _: set(), apart=lambda names: names & {"1", "2"})
    assert (dict(plan.reingest), list(plan.review)) == ({}, ["1", "2"])
    told = plan.said_of(finding)
    assert "questions that a text answers (HyPE)" in told.cause
    assert "set vector.text_mismatch: off" in told.remedy
    other = make_finding("vector.text_mismatch", ["1", "3"])
    plan = plan_remedies([other], Listing(SCOPE), lookup, lambda _: set(), apart=lambda names: names & {"1", "2"})
    assert (list(plan.reingest), list(plan.review)) == ([PAGE], ["1"])
    assert "HyPE" not in plan.said_of(other).cause


def test_other_findings_are_listed_by_who_acts():
    result = remedy(
        make_finding("text.zero_width", ["1", "2"]), make_finding("vector.dimension", ["c"]),
        make_finding("query.failed", ["q1"]).model_copy(update={"because": "coverage.missing_page"}),
        make_finding("source.page_unfit", [PAGE]), make_finding("check.crashed", ["x"]),
    )  # fmt: skip
    lists = {name: [entry["code"] for entry in result[name]] for name in ("chunker", "settings", "queries", "site")}
    assert lists == {
        "chunker": ["text.zero_width"], "settings": ["vector.dimension"], "queries": ["query.failed"],
        "site": ["source.page_unfit"],
    }  # fmt: skip
    assert result["chunker"][0]["count"] == 2
    assert result["queries"][0]["because"] == "coverage.missing_page"
    assert result["report"][0]["code"] == "check.crashed"


def test_only_findings_that_touch_points_or_pages_are_looked_up():
    findings = [make_finding("vector.zero", ["1"]), make_finding("query.failed", ["q1"])]
    assert names_to_look_up(findings) == {"1"}


def test_what_follows_from_a_finding_asks_for_nothing_and_is_named_under_its_cause():
    cleared = {
        "would_clear": {"query.failed": {"cleared": ["q1"], "of": 2}},
        "would_fail": {"failing": ["q3"], "of": 5},
    }
    result = remedy(
        make_finding("coverage.missing_page", [PAGE], details=cleared),
        make_finding("query.failed", ["q1"]).model_copy(update={"because": "coverage.missing_page"}),
        make_finding("query.dead_target", ["q1"]).model_copy(update={"because": "query.failed"}),
    )
    assert result["queries"] == []
    assert result["reingest_urls"] == [{"url": PAGE, "codes": ["coverage.missing_page"]}]
    assert result["also_clears"] == [{"code": "coverage.missing_page", "scope": None, "codes": ["query.dead_target"]}]
    about = {"code": "coverage.missing_page", "scope": None, "clears": "query.failed", "simulated": True}
    assert result["would_clear"] == [{**about, "cleared": ["q1"], "of": 2}]
    broken = {"code": "coverage.missing_page", "scope": None, "simulated": True}
    assert result["would_fail"] == [{**broken, "failing": ["q3"], "of": 5}]


@pytest.mark.parametrize("code", ["chunk.duplicate_text", "chunk.near_duplicate"])
def test_of_copies_the_one_that_is_not_on_its_page_goes(code):
    copies = make_finding(
        code,
        [
            Subject(name="1", page="key:intro", copies=("2",)),
            Subject(name="2", page="key:end", copies=("1",)),
        ],
    )
    stray = make_finding("integrity.gone", [Subject(name="2", page="key:end", details={"because": code})])
    result = remedy(copies, stray.model_copy(update={"because": code}))
    assert ids(result["delete_point_ids"]) == ["2"]
    assert result["reingest_urls"] == []


def test_a_finding_whose_cause_is_not_reported_asks_for_its_own_action():
    result = remedy(make_finding("query.failed", ["q1"]).model_copy(update={"because": "coverage.missing_page"}))
    assert [entry["code"] for entry in result["queries"]] == ["query.failed"]
    assert result["also_clears"] == []


def test_points_to_delete_for_a_consequence_stay_in_the_index():
    result = remedy(
        make_finding("vector.model_mismatch", ["c"]),
        make_finding("retrieval.hub_chunk", ["1"]).model_copy(update={"because": "vector.model_mismatch"}),
    )
    assert result["delete_point_ids"] == []


def test_of_a_page_under_two_addresses_one_copy_stays_although_the_other_address_has_the_newer_one():
    slash, other = f"{PAGE}/", "https://docs.example.com/docs/own"
    spelled = make_finding("coverage.url_variant", [Subject(name=url, page="key:intro") for url in (PAGE, slash)])
    because = {"because": "coverage.url_variant"}
    again = [
        Subject(PAGE, because, page="key:intro", older=("1",), generations=(("1",), ("2",))),
        Subject(name=other, page="key:own", older=("3",), generations=(("3",), ("4",))),
    ]
    lookup = PointLookup(ids_of={PAGE: ["1"], slash: ["2"]})
    result = remedy(make_finding("chunk.ingested_twice", again), spelled, lookup=lookup)
    assert ids(result["delete_point_ids"]) == ["2", "3"]


def test_the_points_of_a_page_of_which_nothing_tells_the_older_ones_are_for_a_person():
    """Ingesting it again overwrites some of them, and nothing shows which."""
    result = remedy(twice("1", "2"))
    assert result["delete_point_ids"] == result["reingest_urls"] == []
    assert ids(result["review_point_ids"]) == ["1", "2"]


FRESH = ("0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7")


def test_where_every_ingestion_gives_new_ids_such_a_page_is_ingested_again_and_then_all_its_old_points_go():
    result = remedy(
        twice(FRESH[:1], FRESH[1:]), lookup=PointLookup(of_page={"key:intro": [*FRESH]}, has_fresh_ids=True)
    )
    assert [entry["url"] for entry in result["reingest_urls"]] == [PAGE]
    assert [(entry["id"], entry["ingest_first"]) for entry in result["delete_after_ingesting"]] == [
        (name, [PAGE]) for name in FRESH
    ]
    assert result["review_point_ids"] == result["delete_point_ids"] == []


def test_points_whose_deletion_might_lose_something_are_for_a_person():
    tails = make_finding("chunk.stale_tail", ["1", "2"])
    result = planned([tails], SCOPE, PointLookup(), unproven=["2"])
    assert (ids(result["delete_point_ids"]), ids(result["review_point_ids"])) == (["1"], ["2"])


def test_relations_are_no_texts_that_happen_to_be_ids():
    """Numbers that count up from the time of the ingestion are ids and embedding times at once."""
    old = Subject("1767225600", {"embedded_at": "1769904000"}, page="key:intro", copies=("1767225601",))
    other = Subject("1767225601", {"embedded_at": "1769904000"}, page="key:intro", copies=("1767225600",))
    lone = [
        Subject(name, page="key:intro", copies=copies)
        for name, copies in (("1769904000", ("5",)), ("5", ("1769904000",)))
    ]
    assert groups_of(make_finding("chunk.duplicate_text", [old, other, *lone])) == [
        ["1767225600", "1767225601"], ["1769904000", "5"],
    ]  # fmt: skip


def test_a_page_whose_older_points_are_known_loses_these_and_nothing_else():
    subject = Subject(name=PAGE, page="key:intro", older=("1",), generations=(("1",), ("2",)))
    result = remedy(make_finding("chunk.ingested_twice", [subject]))
    assert ids(result["delete_point_ids"]) == ["1"]
    assert result["review_point_ids"] == result["reingest_urls"] == []


def test_a_text_on_a_wrong_page_asks_for_its_own_page_and_for_those_that_lack_something_because_of_it():
    other, lost = "https://docs.example.com/docs/own", "https://docs.example.com/docs/lost"
    gone = make_finding("integrity.gone", [Subject(name="1", page="key:intro", homes=(other,))])
    missing = make_finding("coverage.missing_page", [Subject(name=lost, page="key:lost")])
    result = remedy(gone, missing.model_copy(update={"because": "integrity.gone"}))
    assert [entry["url"] for entry in result["reingest_urls"]] == [PAGE, lost, other]
    assert {code for entry in result["reingest_urls"] for code in entry["codes"]} == {"integrity.gone"}


def test_of_another_host_the_sites_page_is_ingested_and_never_the_hosts():
    site, old = "https://docs.example.com/docs/intro", "https://old.example/docs/intro"
    host = Subject(name="old.example", pages=(old, site))
    swapped = Subject(name="1", page=old, details={"page_url": old})
    unknown = Subject(name="2", page="https://old.example/x", details={"page_url": "https://old.example/x"})
    found = [make_finding("coverage.foreign_host", [host]), make_finding("vector.swapped", [swapped, unknown])]
    result = planned(found, {site: site}, PointLookup())
    assert result["reingest_urls"] == [{"url": site, "codes": ["coverage.foreign_host", "vector.swapped"]}]
    assert result["reingest_point_ids"] == [{"id": "2", "codes": ["vector.swapped"]}]


def test_the_points_of_another_host_are_for_a_person_since_it_may_serve_the_same_site():
    """Ingesting the site's pages leaves them: the next run would report every text twice."""
    site, old = "https://docs.example.com/docs/intro", "https://old.example/docs/intro"
    found = [
        make_finding("coverage.foreign_host", [Subject(name="old.example", pages=(old, site))]),
        make_finding("coverage.orphan_page", [old]).model_copy(update={"because": "coverage.foreign_host"}),
    ]
    result = planned(found, {site: site}, PointLookup(ids_of={old: ["7", "8"], site: ["1"]}))
    assert ids(result["review_point_ids"]) == ["7", "8"]
    assert result["delete_point_ids"] == []


def test_a_private_page_without_a_counterpart_on_the_site_is_not_a_url_to_reingest():
    result = remedy(
        make_finding("coverage.loopback_host", [Subject(name="http://localhost/x", page="http://localhost/x")])
    )
    assert result["reingest_urls"] == result["delete_pages"] == []
