from __future__ import annotations

from ragval_pipeline.validation.coverage.indexed import collect_pages, merge_pages
from ragval_pipeline.validation.coverage.spellings import spelling_findings
from tests.validation.factory import SITE, index, site


def variants(*urls: str) -> list[str]:
    inventory = site("/a", "/b")
    return [subject.name for finding in spelling_findings(index(inventory, *urls)) for subject in finding.subjects]


def test_two_spellings_of_a_page_are_both_named() -> None:
    assert variants("/a", "/a/", "/b") == [f"{SITE}/a", f"{SITE}/a/"]


def test_a_spelling_that_only_differs_from_the_sitemaps_is_none() -> None:
    assert variants("/a.html", "/a.html", "/b/") == []


def test_fragments_name_places_on_one_page() -> None:
    assert variants("/a#one", "/a#two", "/a") == []
    assert variants("/a#one", "/a/#two") == [f"{SITE}/a#one", f"{SITE}/a/#two"]


def test_case_of_a_path_and_other_hosts_are_other_pages() -> None:
    assert variants("/a", "/A", "https://other.example.org/a") == []


def test_details_count_the_points_of_each_spelling_and_name_the_others() -> None:
    inventory = site("/a")
    [finding] = spelling_findings(index(inventory, "/a", "/a/", "/a"))
    assert {subject.name: subject.details for subject in finding.subjects} == {
        f"{SITE}/a": {"points": 2, "others": [f"{SITE}/a/"]},
        f"{SITE}/a/": {"points": 1, "others": [f"{SITE}/a"]},
    }


def test_slices_merge_to_the_whole() -> None:
    fold = site("/a").folder().key
    times = ["2026-01-01", None, "2026-03-01", "2026-02-01"]
    urls = [f"{SITE}/a", f"{SITE}/a/", f"{SITE}/b", f"{SITE}/a"]
    rows = [
        {"page_key": fold(url), "source_url": url, "embedded_at": time} for url, time in zip(urls, times, strict=True)
    ]
    rows.append({"page_key": None, "source_url": None, "embedded_at": None})
    whole = collect_pages(rows)
    for cut in range(len(rows) + 1):
        assert merge_pages([collect_pages(rows[:cut]), collect_pages(rows[cut:])]) == whole
    assert whole[f"{SITE}/a"].spelling == f"{SITE}/a"
