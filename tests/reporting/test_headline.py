"""What a headline says of an index that holds the site under another address."""

from __future__ import annotations

import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.reporting.headline import elsewhere, headline
from tests.reporting import factory


def of(*extra: str, findings=()):
    gates = [
        factory.criterion("coverage", 0.0, 1.0, required=True, numerator=0, denominator=len(factory.PAGES)),
        factory.criterion("error_findings", 1.0, 0.0, required=True),
    ]
    foreign = make_finding("coverage.foreign_host", ["staging.example.org"])
    return factory.report(
        "fail", criteria=gates, findings=[foreign, *findings], coverage_report=factory.coverage(factory.PAGES, extra)
    )


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("https://docs.example.com", "http://staging.example.org",
         "All 13 pages are in the index under staging.example.org instead of docs.example.com: "
         "source.host_aliases: [staging.example.org] says that both are the same site."),
        ("https://docs.example.com", "http://localhost:3000",
         "All 13 pages are in the index under localhost:3000 instead of docs.example.com: "
         "ingest them from the public host."),
        ("docs.example.com/docs", "docs.example.com/v2/docs",
         "All 13 pages are in the index under docs.example.com/v2 instead of docs.example.com: correct the stored "
         "URLs, or set source.sitemap to the sitemap of the site that was ingested."),
        ("docs.example.com/docs", "docs.example.com",
         "All 13 pages are in the index under docs.example.com instead of docs.example.com/docs: correct the "
         "stored URLs, or set source.sitemap to the sitemap of the site that was ingested."),
    ],
)  # fmt: skip
def test_the_headline_says_where_all_pages_are_and_what_maps_one_address_to_the_other(before, after, told):
    assert headline(of(*(url.replace(before, after) for url in factory.PAGES))) == told


def test_a_private_site_under_another_path_of_its_host_is_not_to_be_ingested_from_a_public_one():
    pages = [url.replace("https://docs.example.com", "http://localhost:3000") for url in factory.PAGES]
    moved = factory.coverage(pages, [url.replace("/docs", "/en/stable/docs", 1) for url in pages])
    told = elsewhere(factory.report("fail", coverage_report=moved.model_copy(update={"indexed_urls": []})))
    assert "under localhost:3000/en/stable instead of localhost:3000" in told
    assert "public" not in told
    assert told.endswith("or set source.sitemap to the sitemap of the site that was ingested")


def test_a_sitemap_of_a_development_server_is_to_be_built_for_the_public_site():
    pages = [url.replace("https://docs.example.com", "http://localhost:3000") for url in factory.PAGES]
    moved = factory.coverage(pages, factory.PAGES).model_copy(update={"indexed_urls": []})
    told = elsewhere(factory.report("fail", coverage_report=moved))
    assert told is not None
    assert told.endswith("instead of localhost:3000: build the sitemap with the address of the public site")


def test_pages_that_are_nowhere_are_counted_beside_those_that_are_elsewhere():
    some = [url.replace("docs.example.com", "staging.example.org") for url in factory.PAGES[:10]]
    assert headline(of(*some)).startswith(
        "10 of 13 pages are in the index under staging.example.org instead of docs.example.com, 3 not at all: "
    )


@pytest.mark.parametrize(
    ("found", "told"),
    [(13, "All 13 pages are in the index only under other addresses"),
     (1, "All 13 pages are not in the index, 1 of them only under another address")],
)  # fmt: skip
def test_the_headline_counts_pages_whose_texts_are_under_other_addresses(found: int, told: str):
    strange = [f"https://docs.example.com/old/{number}" for number in range(13)]
    missing = make_finding("coverage.missing_page", factory.PAGES, details={"elsewhere": found})
    assert headline(of(*strange, findings=[missing])).startswith(told)


def test_pages_of_another_site_stand_for_none_of_this_one():
    assert elsewhere(of("https://other.example/", "https://other.example/shop", factory.PAGES[0] + "/x")) is None
    assert elsewhere(factory.report()) is None


@pytest.mark.parametrize(
    ("passed", "of", "told"), [(1, 2, "1 of 2 critical"), (0, 2, "Both critical"), (0, 3, "All 3")]
)
def test_a_headline_counts_as_people_count(passed: int, of: int, told: str):
    missed = factory.criterion("critical_queries", passed / of, 1.0, required=True, numerator=passed, denominator=of)
    assert headline(factory.report("fail", criteria=[missed])).startswith(told)


def test_a_headline_has_what_a_rule_of_the_suite_says_and_not_what_follows_it():
    says = "2 pages have fewer than eight chunks. Answers 520 questions a month."
    short = make_finding("custom.short_pages", ["/a", "/b"], message=says)
    errors = factory.criterion("error_findings", 1.0, 0.0, required=True)
    found = short.model_copy(update={"severity": "error"})
    told = headline(factory.report("fail", criteria=[errors], findings=[found]))
    assert told == "2 pages have fewer than eight chunks."
