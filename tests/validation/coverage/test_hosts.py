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


def test_a_stray_page_of_another_site_is_an_orphan_and_says_nothing_about_hosts() -> None:
    findings = findings_of(site(*PATHS), *PATHS, "https://blog.example.org/news")
    assert set(findings) == {"coverage.orphan_page"}


def test_a_foreign_book_alone_in_the_collection_is_a_foreign_host() -> None:
    findings = findings_of(site(*PATHS), "https://book.example.org/chapter-1", "https://book.example.org/chapter-2")
    assert names(findings["coverage.foreign_host"]) == ["book.example.org"]


def test_an_alias_is_no_foreign_host() -> None:
    assert findings_of(site(*PATHS, aliases=["old.example.org"]), *[f"https://old.example.org{p}" for p in PATHS]) == {}


def test_scheme_www_port_and_case_of_the_host_are_no_other_host() -> None:
    inventory = site(*PATHS)
    assert (
        findings_of(
            inventory,
            "http://docs.example.com/docs/a",
            "https://WWW.Docs.Example.com./docs/b",
            "https://docs.example.com:443/docs/c",
            "/docs/d/index.html",
        )
        == {}
    )


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
    base = "http://localhost:3000"
    inventory = site(*[f"{base}{path}" for path in PATHS])
    findings = findings_of(inventory, *[f"{base}{path}" for path in PATHS])
    assert [finding.severity for finding in findings.values()] == ["info"]
    assert set(findings) == {"coverage.loopback_host"}
    assert findings["coverage.loopback_host"].details["expected"] is True


def test_an_orphan_of_a_private_site_is_not_its_address_fault() -> None:
    base = "http://localhost:3000"
    inventory = site(*[f"{base}{path}" for path in PATHS])
    findings = findings_of(inventory, *[f"{base}{path}" for path in (*PATHS, "/docs/gone")])
    assert findings["coverage.orphan_page"].because is None


def test_on_a_private_site_another_private_host_is_foreign() -> None:
    inventory = site(*[f"http://localhost:3000{path}" for path in PATHS])
    findings = findings_of(inventory, *[f"http://127.0.0.1:8080{path}" for path in PATHS])
    assert names(findings["coverage.foreign_host"]) == ["127.0.0.1:8080"]
    assert findings["coverage.missing_page"].because == "coverage.foreign_host"
    assert findings["coverage.loopback_host"].severity == "info"


def test_the_same_start_page_does_not_make_another_site_foreign() -> None:
    findings = findings_of(site("/", *PATHS), "/", *PATHS, "https://other.example.org/")
    assert set(findings) == {"coverage.orphan_page"}


def test_a_host_named_like_a_part_of_its_own_scheme_is_split_at_the_right_place() -> None:
    findings = findings_of(site(*PATHS), "https://s/docs/a", *PATHS[1:])
    assert because(findings["coverage.missing_page"]) == {f"{SITE}/docs/a": "coverage.foreign_host"}


def test_another_host_that_serves_the_site_below_a_base_path_is_foreign_and_the_cause() -> None:
    moved = [f"https://acme.github.io/book{path}" for path in PATHS[:2]]
    findings = findings_of(site(*PATHS), *moved, *PATHS[2:])
    assert names(findings["coverage.foreign_host"]) == ["acme.github.io"]
    assert findings["coverage.missing_page"].because == "coverage.foreign_host"
    assert findings["coverage.orphan_page"].because == "coverage.foreign_host"


def test_a_site_below_a_base_path_is_known_again_on_a_host_without_one() -> None:
    findings = findings_of(
        site("/book", *[f"/book{path}" for path in PATHS]),
        *[f"https://old.example.org{path}" for path in ("/", *PATHS)],
    )
    assert findings["coverage.missing_page"].because == "coverage.foreign_host"


def test_a_single_path_that_ends_like_one_of_the_site_says_nothing_about_hosts() -> None:
    findings = findings_of(site(*PATHS), *PATHS, "https://blog.example.org/news/docs/a")
    assert set(findings) == {"coverage.orphan_page"}


def test_a_development_server_below_a_base_path_is_the_cause_too() -> None:
    findings = findings_of(site(*PATHS), *[f"http://localhost:3000/book{path}" for path in PATHS])
    assert findings["coverage.missing_page"].because == "coverage.loopback_host"
