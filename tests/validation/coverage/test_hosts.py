from __future__ import annotations

from typing import Any

import pytest

from ragval_pipeline.findings.causes import Site
from ragval_pipeline.findings.graph import explain
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.validation.coverage.compare import measure_coverage
from tests.validation.factory import NOW, SITE, index, site

PATHS = ("/docs/a", "/docs/b", "/docs/c", "/docs/d")


def findings_of(inventory: SiteInventory, *urls: str) -> dict[str, Finding]:
    measurement = measure_coverage(inventory, index(inventory, *urls), points=len(urls), now=NOW)
    return {finding.code: finding for finding in explain(measurement.findings, Site())}


def names(finding: Finding) -> list[str]:
    return [subject.name for subject in finding.subjects]


def because(finding: Finding) -> dict[str, Any]:
    return {subject.name: subject.details.get("because") for subject in finding.subjects}


def test_another_host_for_all_pages_is_one_cause_for_missing_and_orphans() -> None:
    old = [f"https://old.example.org{path}" for path in PATHS]
    findings = findings_of(site(*PATHS), *old)
    foreign = findings["coverage.foreign_host"]
    assert names(foreign) == ["old.example.org"]
    assert foreign.subjects[0].details == {"pages": 4, "points": 4, "urls": old}
    assert foreign.details == {"site_host": "docs.example.com"}
    assert findings["coverage.missing_page"].because == "coverage.foreign_host"
    assert findings["coverage.orphan_page"].because == "coverage.foreign_host"
    assert set(findings) == {"coverage.foreign_host", "coverage.missing_page", "coverage.orphan_page"}


def test_where_no_page_is_on_the_sitemaps_host_the_sitemap_may_be_wrong() -> None:
    template = site(*(f"https://your-docusaurus-site.example.com{path}" for path in PATHS))
    foreign = findings_of(template, *PATHS)["coverage.foreign_host"]
    assert "The sitemap is of your-docusaurus-site.example.com" in foreign.cause
    assert foreign.remedy.startswith("If the sitemap's address is the wrong one")
    mixed = findings_of(site(*PATHS), "/docs/a", "https://old.example.org/docs/b")["coverage.foreign_host"]
    alone = findings_of(site(*PATHS), "https://library.example.org/novel")["coverage.foreign_host"]
    assert not any("The sitemap is of" in found.cause for found in (mixed, alone))


def test_another_host_for_some_pages_explains_only_those() -> None:
    findings = findings_of(site(*PATHS), "/docs/a", "https://old.example.org/docs/b/", "/elsewhere")
    assert findings["coverage.missing_page"].because is None
    assert because(findings["coverage.missing_page"]) == {
        f"{SITE}/docs/b": "coverage.foreign_host",
        f"{SITE}/docs/c": None,
        f"{SITE}/docs/d": None,
    }
    assert because(findings["coverage.orphan_page"]) == {
        f"{SITE}/elsewhere": None,
        "https://old.example.org/docs/b/": "coverage.foreign_host",
    }


def test_another_host_for_pages_that_are_indexed_under_their_own_address_too_explains_nothing_that_they_lack() -> None:
    findings = findings_of(site(*PATHS), *PATHS, *[f"https://old.example.org{path}" for path in PATHS])
    assert not {f"docs.example.com{path}" for path in PATHS} & {
        page.removeprefix("https://") for page in findings["coverage.foreign_host"].subjects[0].pages
    }


@pytest.mark.parametrize(
    "url",
    ["https://blog.example.org/news", "https://blog.example.org/", "https://blog.example.org/news/docs/a"],
    ids=["another page", "the same start page", "a single path that ends alike"],
)
def test_a_stray_page_of_another_site_is_an_orphan_and_says_nothing_about_hosts(url: str) -> None:
    assert set(findings_of(site("/", *PATHS), "/", *PATHS, url)) == {"coverage.orphan_page"}


def test_a_foreign_book_alone_in_the_collection_is_a_foreign_host() -> None:
    findings = findings_of(site(*PATHS), "https://book.example.org/chapter-1", "https://book.example.org/chapter-2")
    assert names(findings["coverage.foreign_host"]) == ["book.example.org"]


def test_an_alias_and_another_scheme_port_or_case_are_no_other_host() -> None:
    assert findings_of(site(*PATHS, aliases=["old.example.org"]), *[f"https://old.example.org{p}" for p in PATHS]) == {}
    spelled = (
        "http://docs.example.com/docs/a", "https://WWW.Docs.Example.com./docs/b",
        "https://docs.example.com:443/docs/c", "/docs/d/index.html",
    )  # fmt: skip
    assert findings_of(site(*PATHS), *spelled) == {}


@pytest.mark.parametrize(
    "base",
    ["http://localhost:3000", "http://127.0.0.1:3000", "http://[::1]:3000", "http://192.168.1.7", "http://10.0.0.1"],
)
def test_a_loopback_or_private_host_is_an_error_and_the_cause(base: str) -> None:
    urls = [f"{base}{path}" for path in PATHS]
    findings = findings_of(site(*PATHS), *urls)
    loopback = findings["coverage.loopback_host"]
    assert names(loopback) == sorted(urls)
    assert loopback.severity == "error"
    assert {entry.name: entry.details["page_url"] for entry in loopback.subjects} == {
        f"{base}{path}": f"{SITE}{path}" for path in PATHS
    }
    assert findings["coverage.missing_page"].because == "coverage.loopback_host"
    assert findings["coverage.orphan_page"].because == "coverage.loopback_host"
    assert "coverage.foreign_host" not in findings


def test_a_file_address_is_no_address_for_anybody_else() -> None:
    findings = findings_of(site(*PATHS), *PATHS[1:], "file:///home/me/build/docs/a/index.html")
    assert names(findings["coverage.loopback_host"]) == ["file:///home/me/build/docs/a/index.html"]


def test_files_of_a_built_site_are_the_cause_of_its_missing_pages() -> None:
    findings = findings_of(site(*PATHS), *(f"file:///home/me/build{path}.html" for path in PATHS))
    assert {entry.details["page_url"] for entry in findings["coverage.loopback_host"].subjects} == {
        f"{SITE}{path}" for path in PATHS
    }
    assert findings["coverage.missing_page"].because == "coverage.loopback_host"


def test_a_private_site_on_its_own_host_is_only_a_remark() -> None:
    urls = [f"http://localhost:3000{path}" for path in PATHS]
    findings = findings_of(site(*urls), *urls)
    assert {code: finding.severity for code, finding in findings.items()} == {"coverage.loopback_host": "info"}
    assert findings["coverage.loopback_host"].details["expected"] is True
    orphaned = findings_of(site(*urls), *urls, "http://localhost:3000/docs/gone")
    assert orphaned["coverage.orphan_page"].because is None


def test_on_a_private_site_another_private_host_is_foreign() -> None:
    inventory = site(*[f"http://localhost:3000{path}" for path in PATHS])
    findings = findings_of(inventory, *[f"http://127.0.0.1:8080{path}" for path in PATHS])
    assert names(findings["coverage.foreign_host"]) == ["127.0.0.1:8080"]
    assert findings["coverage.missing_page"].because == "coverage.foreign_host"
    assert findings["coverage.loopback_host"].severity == "info"


def test_a_host_named_like_a_part_of_its_own_scheme_is_split_at_the_right_place() -> None:
    findings = findings_of(site(*PATHS), "https://s/docs/a", *PATHS[1:])
    assert because(findings["coverage.missing_page"]) == {f"{SITE}/docs/a": "coverage.foreign_host"}


@pytest.mark.parametrize(
    ("base", "stored", "cause"),
    [
        ("", "https://acme.github.io/book", "coverage.foreign_host"),
        ("", "http://localhost:3000/book", "coverage.loopback_host"),
        ("/book", "https://old.example.org", "coverage.foreign_host"),
    ],
)
def test_another_host_that_serves_the_site_below_another_base_path_is_the_cause(
    base: str, stored: str, cause: str
) -> None:
    findings = findings_of(site(*[f"{base}{path}" for path in PATHS]), *[f"{stored}{path}" for path in PATHS])
    assert findings["coverage.missing_page"].because == findings["coverage.orphan_page"].because == cause
