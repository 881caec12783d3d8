from __future__ import annotations

from collections.abc import Mapping

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.validation.coverage.covered import Covered
from ragval_pipeline.validation.coverage.indexed import IndexedPage, collect_pages
from ragval_pipeline.validation.relational import find_by_query
from tests.validation.factory import NOW, SITE, index, site

OLD = {"/a": "2026-01-01", "/b": "2026-02-01", "/c": "2026-03-01", "/d": "2026-04-01"}


def fresh(inventory: SiteInventory, indexed: Mapping[str, IndexedPage]) -> list[Finding]:
    rules = [CATALOGUE[code] for code in ("source.suspicious_lastmod", "coverage.stale_page")]
    return list(find_by_query(rules, Covered(inventory, indexed, 1, NOW)))


def judge(
    lastmods: Mapping[str, str], embedded_at: str | None = "2026-06-01T12:00:00Z", **spelled: str
) -> list[Finding]:
    inventory = site(*lastmods, lastmods=lastmods)
    urls = [spelled.get(path.strip("/"), path) for path in lastmods]
    return fresh(inventory, index(inventory, *urls, embedded_at=embedded_at))


def stale(findings: list[Finding]) -> list[str]:
    assert {finding.code for finding in findings} <= {"coverage.stale_page"}
    return [subject.name for finding in findings for subject in finding.subjects]


def test_a_time_in_the_future_does_not_make_a_page_fresh() -> None:
    inventory = site("/a", lastmods={"/a": "2026-06-10"})
    rows = [
        {"page_key": inventory.pages[0].key, "source_url": f"{SITE}/a", "embedded_at": text}
        for text in ("2026-06-01", f"{NOW.year + 1}-01-01")
    ]
    assert stale(fresh(inventory, collect_pages(rows, now=NOW))) == [f"{SITE}/a"]
    assert stale(fresh(inventory, collect_pages(rows))) == []


@pytest.mark.parametrize(
    ("lastmod", "is_stale"),
    [
        ("2026-06-02", True),
        ("2026-06-01", False),  # the day of the embedding: it may have been before
        ("2026-06-01T12:00:01Z", True),
        ("2026-06-01T12:00:00Z", False),
        ("2026-06-01T13:00:00+02:00", False),
        ("2026-06-01T13:00:00-01:00", True),
        ("2026-06-01 12:30", True),
        ("2026-07", True),
        ("2026", False),
        ("2099-01-01", False),  # a date that nobody can believe
        ("yesterday", False),
        ("", False),
    ],
)
def test_a_page_is_stale_when_its_date_is_later_than_its_embedding(lastmod: str, is_stale: bool) -> None:
    assert stale(judge({**OLD, "/a": lastmod})) == ([f"{SITE}/a"] if is_stale else [])


def test_a_stale_page_is_named_by_its_stored_address() -> None:
    findings = judge({**OLD, "/a": "2026-09-01"}, a="/a/index.html")
    assert stale(findings) == [f"{SITE}/a/index.html"]
    [subject] = findings[0].subjects
    assert subject.page == f"{SITE}/a"
    assert subject.details == {"lastmod": "2026-09-01", "embedded_at": "2026-06-01T12:00:00.000Z"}


def test_the_newest_chunk_of_a_page_decides() -> None:
    inventory = site(*OLD, lastmods={**OLD, "/a": "2026-07-01"})
    pages = index(inventory, "/a", embedded_at="2026-06-01")
    newer = index(inventory, "/a", embedded_at="2026-08-01")
    assert fresh(inventory, pages)
    assert fresh(inventory, newer) == []
    pages[f"{SITE}/a"].add(f"{SITE}/a", 1, newer[f"{SITE}/a"].newest)
    assert fresh(inventory, pages) == []


@pytest.mark.parametrize("embedded_at", [None, "", "not a time"])
def test_pages_of_unknown_age_are_not_judged(embedded_at: str | None) -> None:
    assert judge({**OLD, "/a": "2026-11-01"}, embedded_at=embedded_at) == []


def test_a_page_that_is_not_in_the_index_is_missing_and_not_stale() -> None:
    inventory = site(*OLD, lastmods={**OLD, "/a": "2026-11-01"})
    assert fresh(inventory, index(inventory, "/b", embedded_at="2026-06-01")) == []


def suspicion(lastmods: Mapping[str, str]) -> str | None:
    findings = judge(lastmods)
    if not findings:
        return None
    assert [finding.code for finding in findings] == ["source.suspicious_lastmod"]
    assert [subject.name for subject in findings[0].subjects] == [f"{SITE}/sitemap.xml"]
    assert findings[0].severity == "info"
    return findings[0].message


@pytest.mark.parametrize(
    "lastmods",
    [
        dict.fromkeys(OLD, "2026-11-01T10:00:00Z"),
        {path: f"2026-11-01T10:00:{second:02}.{second}Z" for second, path in enumerate(OLD)},
        {**dict.fromkeys(OLD, "2026-11-01"), "/d": ""},
    ],
    ids=["one date", "the seconds of one build", "one date and none"],
)
def test_one_date_for_all_pages_is_a_stamp_and_no_page_is_stale_by_it(lastmods: Mapping[str, str]) -> None:
    assert "every lastmod is the same" in (suspicion(lastmods) or "")


def test_one_date_on_few_pages_of_a_sitemap_without_dates_is_a_change() -> None:
    paths = [f"/{number}" for number in range(10)]
    changed, built = (dict.fromkeys(paths[:dated], "2026-11-01T10:00:00Z") for dated in (5, 6))
    indexed = index(site(*paths), *paths, embedded_at="2026-06-01")
    assert stale(fresh(site(*paths, lastmods=changed), indexed)) == [f"{SITE}{path}" for path in changed]
    assert [finding.code for finding in fresh(site(*paths, lastmods=built), indexed)] == ["source.suspicious_lastmod"]


def test_the_minutes_of_a_long_build_are_one_date_and_those_of_a_morning_are_not() -> None:
    built = {path: f"2026-11-01T10:{3 * number:02}:00Z" for number, path in enumerate(OLD)}
    edited = {path: f"2026-11-01T10:{4 * number:02}:00Z" for number, path in enumerate(OLD)}
    assert "every lastmod is the same" in (suspicion(built) or "")
    assert len(stale(judge(edited))) == len(OLD)


def test_dates_in_the_future_alone_say_nothing() -> None:
    future = {path: f"2027-01-{day:02}" for day, path in enumerate(OLD, 1)}
    assert "is in the future" in (suspicion(future) or "")


def test_two_pages_may_have_changed_at_the_same_time() -> None:
    assert stale(judge({"/a": "2026-11-01", "/b": "2026-11-01"})) == [f"{SITE}/a", f"{SITE}/b"]
