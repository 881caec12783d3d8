from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.validation.coverage.compare import compare, find_left_out, measure_coverage
from ragval_pipeline.validation.coverage.covered import Covered
from ragval_pipeline.validation.coverage.indexed import NO_PAGES, IndexedPage
from ragval_pipeline.validation.measurement import Measurement
from tests.validation.factory import NOW, SITE, absolute, index, site


def measure(inventory: SiteInventory, indexed: dict[str, IndexedPage], points: int | None = None) -> Measurement:
    count = sum(page.points for page in indexed.values()) if points is None else points
    return measure_coverage(inventory, indexed, points=count, now=NOW)


def by_code(measurement: Measurement) -> dict[str, Finding]:
    return {finding.code: finding for finding in measurement.findings}


def names(finding: Finding) -> list[str]:
    return [subject.name for subject in finding.subjects]


def test_covered_is_the_intersection_and_orphans_add_nothing() -> None:
    inventory = site("/a", "/b", "/c")
    measurement = measure(inventory, index(inventory, "/a", "/x", "/y", "/z"))
    [value] = measurement.values
    assert (value.numerator, value.denominator) == (1, 3)
    report = measurement.sections["coverage_report"]
    assert report["coverage_percentage"] == 100 / 3
    assert report["total_sitemap_urls"] == 3
    assert report["indexed_urls"] == [f"{SITE}/a"]
    assert by_code(measurement)["coverage.orphan_page"].cause == "3 not listed by the site."
    assert report["missing_urls"] == [f"{SITE}/b", f"{SITE}/c"]
    assert report["extra_urls"] == [f"{SITE}/x", f"{SITE}/y", f"{SITE}/z"]
    assert report["timestamp"] == "2026-11-20T12:00:00.000Z"


def test_more_indexed_pages_than_the_site_has_are_never_more_than_all_of_it() -> None:
    inventory = site(*(f"/docs/{number}" for number in range(9)))
    measurement = measure(inventory, index(inventory, *(f"/docs/{number}" for number in range(16))))
    assert measurement.sections["coverage_report"]["coverage_percentage"] == 100.0
    assert measurement.values[0].value == 1.0


PATHS = st.lists(st.sampled_from([f"/docs/{name}" for name in "abcdefgh"]), max_size=12)
SPELLINGS = st.sampled_from(["{}", "{}/", "{}.html", "{}/index.html", "{}#top", "{}?utm_source=x"])


@settings(max_examples=60)
@given(listed=PATHS, indexed=st.lists(st.tuples(st.sampled_from("abcdefghij"), SPELLINGS), max_size=20))
def test_indexed_and_missing_always_add_up_to_the_site(listed: list[str], indexed: list[tuple[str, str]]) -> None:
    inventory = site(*listed)
    pages = index(inventory, *(spelling.format(f"/docs/{name}") for name, spelling in indexed))
    report = compare(inventory, pages, now=NOW)
    total = report.total_sitemap_urls
    assert total == len(set(listed))
    assert len(report.indexed_urls or ()) + len(report.missing_urls or ()) == total
    assert not set(report.indexed_urls or ()) & set(report.missing_urls or ())
    if total:
        assert report.coverage_percentage is not None
        assert 0 <= report.coverage_percentage <= 100
        assert (report.coverage_percentage == 100) is (not report.missing_urls)
        assert sum(module.total for module in report.by_module.values()) == total
    else:
        assert report.coverage_percentage is None


def test_pages_have_the_address_of_the_sitemap_and_orphans_the_stored_one() -> None:
    inventory = site("/a/", "/b.html")
    measurement = measure(inventory, index(inventory, "/a", "http://www.docs.example.com/x/#top"))
    report = measurement.sections["coverage_report"]
    assert report["indexed_urls"] == [f"{SITE}/a/"]
    assert report["missing_urls"] == [f"{SITE}/b.html"]
    assert report["extra_urls"] == ["http://www.docs.example.com/x/#top"]
    findings = by_code(measurement)
    assert names(findings["coverage.missing_page"]) == [f"{SITE}/b.html"]
    assert names(findings["coverage.orphan_page"]) == ["http://www.docs.example.com/x/#top"]


def missing(stored: str, *, listed: str = "abcdefghijklmn", folder: str = "/docs/") -> Finding:
    inventory = site(*(f"{folder}{name}" for name in listed), "/news/z")
    pages = index(inventory, *(f"{folder}{name}" for name in stored), "/news/z")
    return by_code(measure(inventory, pages))["coverage.missing_page"]


def test_missing_pages_that_follow_each_other_in_the_list_were_one_batch() -> None:
    found = missing("abcdijklmn")
    assert "They follow each other where the site lists its pages (5 to 8 of 15)" in found.cause
    assert names(found) == [f"{SITE}/docs/{name}" for name in "efgh"]
    # Pages here and there, two in a row by chance, and a folder that nobody ingested.
    assert "follow each other" not in missing("acdefhjklmn").cause
    assert "follow each other" not in missing("abcdefhijklm"[:8] + "klmn").cause
    assert "follow each other" not in missing("").cause


def test_an_ingestion_that_stopped_lacks_the_last_pages_of_the_list() -> None:
    inventory = site(*(f"/docs/{name}" for name in "abcdefghijkl"))
    [found] = measure(inventory, index(inventory, *(f"/docs/{name}" for name in "abcdefg"))).findings
    assert found.cause.startswith("They are the last 5 of the 12 pages that the site lists")
    assert "limit" in found.remedy


def test_a_page_that_the_sitemap_names_twice_counts_once() -> None:
    inventory = site("/a", "/a/", "/b")
    assert measure(inventory, index(inventory, "/a")).values[0].denominator == 2


def test_pages_out_of_scope_neither_count_nor_are_missing_but_are_orphans_with_their_reason() -> None:
    inventory = site("/docs/a", "/docs/b", "/blog/c", "/blog/d", include=["/docs/**"])
    measurement = measure(inventory, index(inventory, "/docs/a", "/docs/b", "/blog/c", "/nowhere"))
    assert measurement.values[0].value == 1.0
    orphans = by_code(measurement)["coverage.orphan_page"]
    assert {subject.name: subject.details["reason"] for subject in orphans.subjects} == {
        f"{SITE}/blog/c": "not included by '/docs/**'",
        f"{SITE}/nowhere": "not listed by the site",
    }
    assert orphans.cause == "1 not listed by the site, 1 excluded by source.include or source.exclude."
    assert "coverage.missing_page" not in by_code(measurement)


def test_a_listed_page_with_parameters_in_its_address_is_said_to_be_one() -> None:
    inventory = site("/a", "/b")
    [orphans] = measure(inventory, index(inventory, "/a", "/b", "/b?print=1", "/c?page=2")).findings
    assert orphans.cause == (
        f"2 not listed by the site. 1 is a listed page with parameters in the address, such as {SITE}/b?print=1: "
        "strip them before ingesting."
    )


def test_a_pdf_is_not_deleted_by_a_list_of_pages_alone() -> None:
    def orphans(*listed: str) -> Finding:
        inventory = site("/a", *listed)
        return by_code(measure(inventory, index(inventory, "/a", *listed, "/files/manual.pdf")))["coverage.orphan_page"]

    assert [subject.is_foreign for subject in orphans().subjects] == [True]
    assert orphans().cause == "1 not listed by the site. 1 file of a kind that the site does not list, such as PDF."
    assert "review_point_ids" in orphans().remedy
    assert [subject.is_foreign for subject in orphans("/files/other.pdf").subjects] == [False]


def test_pages_of_a_site_that_shares_the_collection_may_be_its_own_and_a_stray_one_is_not() -> None:
    inventory = site(*(f"/docs/{number}" for number in range(40)))
    own = [f"/docs/{number}" for number in range(40)]
    others = [f"https://blog.example.net/posts/{number}" for number in range(3)]
    orphans = by_code(measure(inventory, index(inventory, *own, *others, "/gone")))["coverage.orphan_page"]
    told = {subject.name: subject.details.get("another_site") for subject in orphans.subjects}
    assert told == {**dict.fromkeys(others, "blog.example.net"), f"{SITE}/gone": None}
    assert "3 on blog.example.net" in orphans.cause
    assert "qdrant.filter" in orphans.remedy
    sections = [f"{url}#{part}" for url in others for part in ("top", "end")]
    parts = by_code(measure(inventory, index(inventory, *own, *sections)))["coverage.orphan_page"]
    assert parts.message == "3 pages are in the index but not in scope, under 6 addresses."
    assert parts.cause == "3 not listed by the site. 3 on blog.example.net."
    assert "Delete the points of these pages" not in parts.remedy
    stray = by_code(measure(inventory, index(inventory, *own, others[0])))["coverage.orphan_page"]
    assert stray.subjects[0].details == {"reason": "not listed by the site", "points": 1}
    private = by_code(
        measure(inventory, index(inventory, *own, "http://localhost/a", "http://localhost/b", "http://localhost/c"))
    )
    assert all("another_site" not in subject.details for subject in private["coverage.orphan_page"].subjects)


def test_modules_count_their_pages_and_gaps() -> None:
    inventory = site("/docs/intro", "/docs/m1/a", "/docs/m1/b", "/docs/m2/c")
    report = measure(inventory, index(inventory, "/docs/intro", "/docs/m1/a")).sections["coverage_report"]
    assert report["by_module"] == {
        "intro": {"total": 1, "indexed": 1, "missing": 0, "coverage_percentage": 100.0},
        "m1": {"total": 2, "indexed": 1, "missing": 1, "coverage_percentage": 50.0},
        "m2": {"total": 1, "indexed": 0, "missing": 1, "coverage_percentage": 0.0},
    }


def test_opaque_document_ids_are_compared_as_they_are() -> None:
    inventory = site("/a")
    measurement = measure(inventory, index(inventory, "/a", "doc-1", "Doc-1"))
    assert names(by_code(measurement)["coverage.orphan_page"]) == ["Doc-1", "doc-1"]


def test_an_empty_index_covers_nothing_and_names_no_page() -> None:
    inventory = site("/a", "/b")
    measurement = measure(inventory, {}, points=0)
    assert (measurement.values[0].numerator, measurement.values[0].denominator) == (0, 2)
    assert measurement.sections["coverage_report"]["coverage_percentage"] == 0.0
    assert measurement.findings == ()
    assert measurement.sections["coverage_report"]["missing_urls"] == [f"{SITE}/a", f"{SITE}/b"]


def test_of_points_that_name_no_page_nothing_is_known_to_be_missing() -> None:
    measurement = measure(site("/a", "/b"), {}, points=7)
    assert measurement.values[0].reason == NO_PAGES
    assert (measurement.values[0].value, measurement.findings) == (None, ())
    assert measurement.sections["coverage_report"]["missing_urls"] is None


def test_without_a_source_coverage_has_no_data_and_every_figure_is_null() -> None:
    inventory = SiteInventory(configured=False)
    measurement = measure(inventory, index(inventory, "doc-1"))
    assert measurement.values[0].reason_code == "no_data"
    assert measurement.findings == ()
    report = measurement.sections["coverage_report"]
    assert report.pop("by_module") == {}
    assert set(report.values()) == {None}


def test_a_scope_without_pages_is_an_error_that_says_why_and_names_nothing_else() -> None:
    inventory = site("/docs/a", "/docs/b", include=["/guide/**"])
    measurement = measure(inventory, index(inventory, "/docs/a"))
    assert list(by_code(measurement)) == ["source.empty"]
    finding = by_code(measurement)["source.empty"]
    assert names(finding) == [f"{SITE}/sitemap.xml"]
    assert "All 2 pages" in finding.cause
    assert measurement.values[0].reason_code == "no_data"
    assert measurement.sections["coverage_report"]["coverage_percentage"] is None


def test_a_sitemap_without_urls_is_empty_too() -> None:
    inventory = site()
    [finding] = measure(inventory, index(inventory, "/docs/a")).findings
    assert finding.code == "source.empty"
    assert finding.cause == "The site lists no page."


def test_subjects_carry_their_page_for_causes() -> None:
    inventory = site("/a/", "/b")
    missing = by_code(measure(inventory, index(inventory, "/b")))["coverage.missing_page"]
    assert [subject.page for subject in missing.subjects] == [absolute("/a")]


def test_every_run_tells_which_listed_pages_the_suite_leaves_out() -> None:
    paths = ("/docs/a", "/docs/b", "/blog/1", "/blog/2", "/docs/tags/x", "/about")
    inventory = site(*paths, include=["/docs/**"], exclude=["/docs/tags/**"])
    [finding] = find_left_out(Covered(inventory, {}, 1, NOW))
    assert (finding.code, finding.severity) == ("source.scope", "info")
    assert [subject.name for subject in finding.subjects] == ["/about", "/blog/**", "/docs/tags/x"]
    assert finding.message == (
        "4 of 6 listed pages are left out by the suite: /blog/** (2 pages), /about, /docs/tags/x."
    )
    assert finding.cause == "3 pages not included by '/docs/**'; 1 page excluded by '/docs/tags/**'."
    assert not list(find_left_out(Covered(site(*paths), {}, 1, NOW)))
