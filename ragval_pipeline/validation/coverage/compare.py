"""Sitemap against index in both directions; pages changed since, and pages under several addresses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ragval_pipeline.findings.factory import NAMED, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.coverage.missing_page import RULE as MISSING_PAGE
from ragval_pipeline.rules.coverage.orphan_page import RULE as ORPHAN_PAGE
from ragval_pipeline.rules.coverage.orphan_page import Details as Orphan
from ragval_pipeline.rules.coverage.url_variant import RULE as URL_VARIANT
from ragval_pipeline.rules.details import read
from ragval_pipeline.rules.source.empty import RULE as SOURCE_EMPTY
from ragval_pipeline.rules.source.scope import RULE as SOURCE_SCOPE
from ragval_pipeline.sources.site.folders import folders_of, in_words
from ragval_pipeline.sources.site.inventory import NO_SOURCE, SiteInventory, SitePage, modules_of
from ragval_pipeline.sources.stores.qdrant.filtered import LeftOut
from ragval_pipeline.text.printing import plural
from ragval_pipeline.text.times import utc_text
from ragval_pipeline.validation.belonging import ByPartition, Partitions
from ragval_pipeline.validation.coverage.addresses import in_what_they_differ, with_parameters
from ragval_pipeline.validation.coverage.covered import Covered
from ragval_pipeline.validation.coverage.filtered import why_filtered
from ragval_pipeline.validation.coverage.indexed import NO_PAGES, IndexedPage
from ragval_pipeline.validation.detectors import detector, find_all
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.report import CoverageReport, ModuleCoverage

ASSET = "coverage_report"
_UNLISTED = "not listed by the site"
_SHARED = (
    "If another site shares the collection, exclude its points with qdrant.filter. Otherwise delete the points under "
    "review_point_ids in remediation.json, or bring the pages into scope."
)

_FILES = (
    "If the files are part of what is asked about, exclude their points from validations with qdrant.filter. If they "
    "only repeat the pages, delete their points, listed under review_point_ids in remediation.json."
)


def measure_coverage(
    inventory: SiteInventory,
    indexed: Mapping[str, IndexedPage],
    *,
    points: int,
    left_out: Sequence[LeftOut] = (),
    now: datetime,
    partitions: Partitions | None = None,
) -> Measurement:
    """Compare the in-scope pages of the site with the pages of the index.

    Args:
        inventory: The site.
        indexed: Pages of the index by canonical form.
        points: Points of the collection: of an empty one, no single page is reported as missing.
        left_out: Why points of the collection do not pass the suite's filter.
        now: Time of the run, aware.
        partitions: Those of the collection, if it has any.

    Returns:
        The criterion ``coverage``, the coverage report, and the findings ``coverage.*`` and ``source.*``.

    Raises:
        SystemFailure: The sitemap could not be read.
    """
    if not inventory.configured:
        value = not_measured("coverage", "no_data", NO_SOURCE)
        return Measurement(asset=ASSET, values=(value,), sections={"coverage_report": CoverageReport().model_dump()})
    inventory.check_readable()
    covered = Covered(inventory, indexed, points, now, left_out)
    report, named = compare(inventory, indexed, now=now), bool(indexed or not points)
    if not named:
        unknown = dict.fromkeys(("indexed_urls", "missing_urls", "extra_urls", "coverage_percentage"))
        report = report.model_copy(update={**unknown, "by_module": {}})
    return Measurement(
        asset=ASSET,
        values=(_value(report),) if named else (not_measured("coverage", "no_data", NO_PAGES),),
        by_partition=_by_partition(inventory, partitions) if named and partitions else {},
        findings=tuple(_said_of(finding, covered) for finding in find_all(covered)),
        sections={"coverage_report": report.model_dump()},
    )


def compare(inventory: SiteInventory, indexed: Mapping[str, IndexedPage], *, now: datetime) -> CoverageReport:
    """The coverage report; covered is the intersection, so the percentage never exceeds 100.

    ``coverage_percentage`` is None if no page is in scope.
    """
    scope = inventory.scope_urls
    covered = [url for key, url in scope.items() if key in indexed]
    missing = [url for key, url in scope.items() if key not in indexed]
    extra = sorted(spelling for key, page in indexed.items() if key not in scope for spelling in page.spellings)
    return CoverageReport(
        total_sitemap_urls=len(scope),
        indexed_urls=covered,
        missing_urls=missing,
        extra_urls=extra,
        coverage_percentage=100 * len(covered) / len(scope) if scope else None,  # definition
        timestamp=utc_text(now),
        by_module=_by_module(inventory, indexed),
    )


def _by_module(inventory: SiteInventory, indexed: Mapping[str, IndexedPage]) -> dict[str, ModuleCoverage]:
    totals: dict[str, list[bool]] = {}
    for key, module in modules_of(inventory.pages).items():
        totals.setdefault(module, []).append(key in indexed)
    return {
        module: ModuleCoverage(
            total=len(pages),
            indexed=sum(pages),
            missing=len(pages) - sum(pages),
            coverage_percentage=100 * sum(pages) / len(pages),  # definition
        )
        for module, pages in totals.items()
    }


def _value(report: CoverageReport) -> MeasuredValue:
    covered = len(report.indexed_urls or ())
    return ratio("coverage", covered, report.total_sitemap_urls or 0, of="in-scope pages of the site")


def _by_partition(inventory: SiteInventory, partitions: Partitions) -> ByPartition:
    """Coverage of each partition's pages: it is only known if every page is in one, whether it has points or not."""
    pages = partitions.grouped(inventory.scope_urls, partitions.of_page)
    unknown = sum(not partitions.of_page(key) for key in inventory.scope_urls)
    if unknown:
        reason = f"of {plural(unknown, 'page')} without points it is not known to which partition they belong"
        return {value: (not_measured("coverage", "no_data", reason),) for value in pages}
    return {
        value: (
            ratio(
                "coverage",
                sum(value in partitions.pages.get(key, ()) for key in keys),
                len(keys),
                of="in-scope pages of the partition",
            ),
        )
        for value, keys in pages.items()
    }


@detector(SOURCE_EMPTY, needs=Covered)
def _empty(covered: Covered) -> Iterator[Finding]:
    inventory = covered.inventory
    if not inventory.scope_urls:
        shut_out = len(inventory.pages)
        cause = (
            f"All {shut_out} pages of the site are excluded by source.include and source.exclude."
            if shut_out
            else "The site lists no page."
        )
        place = inventory.location or "The site"
        yield make_finding(
            SOURCE_EMPTY.code,
            [inventory.location or "sitemap"],
            cause=cause,
            message=f"{place} lists no page in scope.",
        )


def _said_of(finding: Finding, covered: Covered) -> Finding:
    """A finding with the words that depend on more than its subjects."""
    said = _WORDS[finding.code](finding, covered) if finding.code in _WORDS else {}
    return finding.model_copy(update={name: words for name, words in said.items() if words is not None})


def _of_missing(finding: Finding, covered: Covered) -> dict[str, str | None]:
    keys = [subject.page or "" for subject in finding.subjects]
    cause, remedy = why_filtered(covered.left_out, keys, covered.inventory.folder().key)
    return {"cause": cause, "remedy": remedy}


def _of_orphans(finding: Finding, covered: Covered) -> dict[str, str | None]:
    # A page may be stored under several addresses, such as one for each of its sections.
    orphans = {subject.page or "": read(Orphan, subject.details) for subject in finding.subjects}
    unlisted = sum(orphan.reason == _UNLISTED for orphan in orphans.values())
    excluded = "excluded by source.include or source.exclude"
    counts = {_UNLISTED: unlisted, excluded: len(orphans) - unlisted}
    cause = f"{', '.join(f'{count:,} {reason}' for reason, count in counts.items() if count)}."
    remedy = message = None
    if elsewhere := [orphan.another_site for orphan in orphans.values() if orphan.another_site]:
        cause = f"{cause} {len(elsewhere):,} on {', '.join(sorted(set(elsewhere))[:NAMED])}."
        remedy = _SHARED if len(elsewhere) == len(orphans) else f"{ORPHAN_PAGE.remedy} {_SHARED}"
    if files := sum(subject.is_foreign for subject in {s.page: s for s in finding.subjects}.values()) - len(elsewhere):
        cause = f"{cause} {plural(files, 'file')} of a kind that the site does not list, such as PDF."
        remedy = _FILES if files == len(orphans) else f"{remedy or ORPHAN_PAGE.remedy} {_FILES}"
    if with_query := with_parameters(orphans, covered.inventory.scope_urls):
        example = covered.indexed[min(with_query)].spelling
        which = "1 is a listed page" if len(with_query) == 1 else f"{len(with_query):,} are listed pages"
        cause = f"{cause} {which} with parameters in the address, such as {example}: strip them before ingesting."
    if len(orphans) < finding.count:
        are = "page is" if len(orphans) == 1 else "pages are"
        message = f"{len(orphans):,} {are} in the index but not in scope, under {finding.count:,} addresses."
    return {"message": message, "cause": cause, "remedy": remedy}


def _of_variants(finding: Finding, _: Covered) -> dict[str, str | None]:
    differ = in_what_they_differ([each.name, *each.copies] for each in finding.subjects)
    return {
        "message": f"{finding.count:,} stored addresses are of pages that are also stored under another one.",
        "cause": f"Addresses that differ in {' and '.join(differ)} were ingested as different pages."
        if differ
        else None,
    }


_WORDS = {MISSING_PAGE.code: _of_missing, ORPHAN_PAGE.code: _of_orphans, URL_VARIANT.code: _of_variants}


@detector(SOURCE_SCOPE, needs=Covered)
def find_left_out(covered: Covered) -> Iterator[Finding]:
    """The folders of the pages that the suite leaves out: a scope drawn around what was ingested hides what was not."""
    inside, outside = covered.inventory.in_scope, [page for page in covered.inventory.pages if not page.in_scope]
    if not inside or not outside:  # with nothing in scope, the scope is wrong: source.empty
        return
    folders = folders_of(outside, inside)
    subjects = [Subject(name=folder.glob, details={"pages": folder.pages}) for folder in folders]
    listed = plural(len(covered.inventory.pages), "listed page")
    yield make_finding(
        SOURCE_SCOPE.code,
        subjects,
        details={"pages": len(outside), "listed": len(covered.inventory.pages)},
        message=f"{len(outside):,} of {listed} are left out by the suite: {in_words(folders)}.",
        cause=f"{'; '.join(_reasons(outside))}.",
    )


def _reasons(outside: Sequence[SitePage]) -> list[str]:
    """How many pages are out of scope for which reason, the most frequent first."""
    counts = Counter(page.out_of_scope for page in outside)
    return [f"{plural(count, 'page')} {reason}" for reason, count in counts.most_common(NAMED)]
