"""Points stored under an address that a page itself gives, by a canonical link or a redirect, are its points."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ragval_pipeline.demo.workspace import DemoHome
from ragval_pipeline.orchestration.run import run_validation
from ragval_pipeline.suite.load import load_suite
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.validation.report import ValidationReport

pytestmark = pytest.mark.slow


@pytest.fixture
def corpus(demo: DemoHome, tmp_path: Path) -> Corpus:
    return Corpus.load(demo.home).copy_to(tmp_path / "world")


def other(url: str) -> str:
    return url.replace("/docs/", "/handbook/")


def judged(corpus: Corpus) -> ValidationReport:
    return run_validation(load_suite(corpus.write()), only=["coverage", "integrity"])


def with_canonical(corpus: Corpus, address: Callable[[str], str]) -> None:
    for url in corpus.scope_urls:
        html = re.sub(r'(?<=<link rel="canonical" href=")[^"]+', address(url), corpus.site.html(url))
        corpus.site.set_html(url, html)


def store_under_other_addresses(corpus: Corpus) -> None:
    for url, points in corpus.pages().items():
        for point in points:
            corpus.put(point, "source_url", other(url))


def value_of(report: ValidationReport, name: str) -> float | None:
    [criterion] = [criterion for criterion in report.criteria if criterion.name == name]
    return criterion.value


def test_an_index_of_canonical_addresses_covers_its_site(corpus: Corpus) -> None:
    store_under_other_addresses(corpus)
    with_canonical(corpus, other)
    report = judged(corpus)
    assert [finding.code for finding in report.findings] == []
    assert [value_of(report, name) for name in ("coverage", "content_integrity", "source_captured")] == [1, 1, 1]


def test_an_index_of_redirects_targets_covers_its_site(corpus: Corpus) -> None:
    store_under_other_addresses(corpus)
    url = corpus.scope_urls[-1]
    with_canonical(corpus, other)
    corpus.site.set_html(url, f'<head><meta http-equiv="refresh" content="0; url={other(url)}"></head>')
    report = judged(corpus)
    assert [finding.code for finding in report.findings] == ["source.page_unfit"]
    assert value_of(report, "coverage") == 1


def test_canonical_links_to_the_home_page_change_nothing(corpus: Corpus) -> None:
    before = judged(corpus)
    with_canonical(corpus, lambda url: url.partition("/docs/")[0] + "/")
    report = judged(corpus)
    assert report.findings == before.findings
    assert value_of(report, "coverage") == 1
