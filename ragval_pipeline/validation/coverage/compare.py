"""Sitemap against index in both directions; pages changed since, and pages under several addresses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ragval_pipeline.findings.factory import NAMED, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.coverage.missing_page import RULE as MISSING_PAGE
from ragval_pipeline.rules.coverage.orphan_page import RULE as ORPHAN_PAGE
from ragval_pipeline.rules.coverage.orphan_page import Details as Orphan
from ragval_pipeline.rules.coverage.stale_page import RULE as STALE_PAGE
from ragval_pipeline.rules.coverage.stale_page import Details as Stale
from ragval_pipeline.rules.coverage.url_variant import RULE as URL_VARIANT
from ragval_pipeline.rules.coverage.url_variant import Details as Variant
from ragval_pipeline.rules.details import written
from ragval_pipeline.rules.source.empty import RULE as SOURCE_EMPTY
from ragval_pipeline.rules.source.scope import RULE as SOURCE_SCOPE
from ragval_pipeline.rules.source.suspicious_lastmod import RULE as SUSPICIOUS_LASTMOD
from ragval_pipeline.sources.site.folders import folders_of, in_words
from ragval_pipeline.sources.site.inventory import NO_SOURCE, SiteInventory, SitePage, modules_of, parse_lastmod
from ragval_pipeline.sources.site.urls import without_fragment
from ragval_pipeline.sources.stores.qdrant.filtered import LeftOut
from ragval_pipeline.text.printing import plural
from ragval_pipeline.text.times import utc_text
from ragval_pipeline.validation.belonging import ByPartition, Partitions
from ragval_pipeline.validation.coverage.addresses import in_what_they_differ, is_document, with_parameters
from ragval_pipeline.validation.coverage.filtered import why_filtered
from ragval_pipeline.validation.coverage.hosts import of_another_site
from ragval_pipeline.validation.coverage.indexed import NO_PAGES, Covered, IndexedPage
from ragval_pipeline.validation.detectors import detector, find_all
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured, ratio
from ragval_pipeline.validation.report import CoverageReport, ModuleCoverage
from ragval_pipeline.validation.thresholds import CLOCK_SKEW, MOST

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
    report, named = compare(inventory, indexed, now=now), bool(indexed or not points)
    if not named:
        unknown = dict.fromkeys(("indexed_urls", "missing_urls", "extra_urls", "coverage_percentage"))
        report = report.model_copy(update={**unknown, "by_module": {}})
    return Measurement(
        asset=ASSET,
        values=(_value(report),) if named else (not_measured("coverage", "no_data", NO_PAGES),),
        by_partition=_by_partition(inventory, partitions) if named and partitions else {},
        findings=tuple(find_all(Covered(inventory, indexed, points, now, left_out))),
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
        told = f"of {plural(unknown, 'page')} without points it is not known to which partition they belong"
        return {value: (not_measured("coverage", "no_data", told),) for value in pages}
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


@detector(MISSING_PAGE, needs=Covered)
def _missing(covered: Covered) -> Iterator[Finding]:
    missing = [page for page in covered.inventory.in_scope if page.key not in covered.indexed]
    if not missing or not covered.comparable:
        return
    subjects = [Subject(name=page.url, page=page.key) for page in missing]
    cause, remedy = why_filtered(covered.left_out, [page.key for page in missing], covered.inventory.folder().key)
    yield make_finding(MISSING_PAGE.code, subjects, cause=cause, remedy=remedy)


@detector(ORPHAN_PAGE, needs=Covered)
def _orphans(covered: Covered) -> Iterator[Finding]:
    out_of_scope = {page.key: page.out_of_scope for page in covered.inventory.pages if page.out_of_scope}
    scope = covered.inventory.scope_urls
    elsewhere = of_another_site(covered)
    # Where the site lists such files, one that it does not list is gone.
    lists_files = any(map(is_document, scope.values()))
    files = set() if lists_files else {key for key in covered.indexed if key not in out_of_scope and is_document(key)}
    subjects = [
        Subject(
            name=spelling,
            page=key,
            details=written(Orphan(out_of_scope.get(key) or _UNLISTED, points, elsewhere.get(key))),
            is_foreign=key in elsewhere or key in files,
        )
        for key, page in covered.indexed.items()
        if key not in scope
        for spelling, points in page.spellings.items()
    ]
    if subjects and covered.comparable:
        # A page may be stored under several addresses, such as one for each of its sections.
        pages = [key for key in covered.indexed if key not in scope]
        unlisted = sum(key not in out_of_scope for key in pages)
        excluded = "excluded by source.include or source.exclude"
        counts = {_UNLISTED: unlisted, excluded: len(pages) - unlisted}
        told = ", ".join(f"{count:,} {reason}" for reason, count in counts.items() if count)
        cause, remedy, message = f"{told}.", None, None
        if elsewhere:
            cause = f"{cause} {len(elsewhere):,} on {', '.join(sorted(set(elsewhere.values()))[:NAMED])}."
            usual = ORPHAN_PAGE.remedy
            remedy = _SHARED if len(elsewhere) == len(pages) else f"{usual} {_SHARED}"
        if files := files.difference(elsewhere):
            cause = f"{cause} {plural(len(files), 'file')} of a kind that the site does not list, such as PDF."
            remedy = _FILES if len(files) == len(pages) else f"{remedy or ORPHAN_PAGE.remedy} {_FILES}"
        if asked := with_parameters(pages, scope):
            example = covered.indexed[asked[0]].spelling
            which = "1 is a listed page" if len(asked) == 1 else f"{len(asked):,} are listed pages"
            cause = f"{cause} {which} with parameters in the address, such as {example}: strip them before ingesting."
        if len(pages) < len(subjects):
            are = "page is" if len(pages) == 1 else "pages are"
            message = f"{len(pages):,} {are} in the index but not in scope, under {len(subjects):,} addresses."
        yield make_finding(ORPHAN_PAGE.code, subjects, message=message, cause=cause, remedy=remedy)


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


@detector(SUSPICIOUS_LASTMOD, STALE_PAGE, needs=Covered)
def freshness_findings(covered: Covered) -> Iterator[Finding]:
    """Judge lastmod first, then pages by it: a build that gives all pages one date says nothing about any."""
    inventory, indexed = covered.inventory, covered.indexed
    dated = {page.key: moment for page in inventory.in_scope if (moment := parse_lastmod(page.lastmod)) is not None}
    suspicion = _suspicion(list(dated.values()), len(inventory.in_scope), covered.now)
    if suspicion is not None:
        yield _suspicious(inventory, list(dated.values()), suspicion, covered.now)
        return
    subjects = []
    for page in inventory.in_scope:
        changed, known = dated.get(page.key), indexed.get(page.key)
        if changed is None or changed > covered.now + CLOCK_SKEW:
            continue  # dates in the future are ignored
        if known is not None and known.newest is not None and changed > known.newest:
            details = Stale(page.lastmod, utc_text(known.newest))._asdict()
            subjects.append(Subject(name=known.spelling, page=page.key, details=details))
    if subjects:
        yield make_finding(STALE_PAGE.code, subjects)


def _suspicion(moments: list[datetime], pages: int, now: datetime) -> str | None:
    """Why the dates cannot be dates of changes.

    Two pages may have changed at the same time, and a build does not date a few pages only.
    """
    if len(moments) > max(2, MOST * pages) and max(moments) - min(moments) <= CLOCK_SKEW:
        return "every lastmod is the same"
    if moments and min(moments) > now + CLOCK_SKEW:
        return "every lastmod is in the future"
    return None


def _suspicious(inventory: SiteInventory, moments: list[datetime], reason: str, now: datetime) -> Finding:
    return make_finding(
        SUSPICIOUS_LASTMOD.code,
        [inventory.location or "sitemap"],
        details={
            "pages": len(moments),
            "distinct": len(set(moments)),
            "future": sum(moment > now + CLOCK_SKEW for moment in moments),
            "first": utc_text(min(moments)),
            "last": utc_text(max(moments)),
        },
        message=f"The sitemap's dates cannot be used to detect changes: {reason}.",
    )


@detector(URL_VARIANT, needs=Covered)
def find_url_variants(covered: Covered) -> Iterator[Finding]:
    """All stored addresses of pages with more than one."""
    variants = list(url_variants(covered))
    if variants:
        message = f"{len(variants):,} stored addresses are of pages that are also stored under another one."
        differ = in_what_they_differ([each.name, *each.copies] for each in variants)
        cause = f"Addresses that differ in {' and '.join(differ)} were ingested as different pages." if differ else None
        yield make_finding(URL_VARIANT.code, variants, message=message, cause=cause)


def url_variants(covered: Covered) -> Iterator[Subject]:
    """All stored addresses of pages with more than one.

    A fragment is a position on the page, and paths that differ in case may be two pages: such addresses are variants of
    one page only if both have the same chunk.
    """
    repeated = _repeated(covered.indexed)
    other_case = _repeated_in_another_case(covered.indexed, repeated)
    for key, page in covered.indexed.items():
        distinct = {without_fragment(spelling) for spelling in page.spellings}
        for spelling, points in page.spellings.items():
            others = (distinct - {without_fragment(spelling)}) | repeated.get(spelling, set())
            if others:
                details = written(Variant(points, sorted(others)))
                # Only for case differences are these two pages, of which the site has one.
                without = frozenset() if key in other_case else frozenset({Aspect.FIELD})
                yield Subject(spelling, details, page=key, without=without, copies=tuple(sorted(others)))


def _repeated_in_another_case(indexed: Mapping[str, IndexedPage], repeated: Mapping[str, set[str]]) -> frozenset[str]:
    """Keys of pages whose chunks are also stored under an address with another case."""
    keys = {spelling: key for key, page in indexed.items() for spelling in page.spellings}
    return frozenset(
        keys[spelling]
        for spelling, others in repeated.items()
        if any(keys[other] != keys[spelling] for other in others)
    )


def _repeated(indexed: Mapping[str, IndexedPage]) -> dict[str, set[str]]:
    """By address, those that differ from it in fragment or case and share a chunk."""
    alike: dict[str, dict[str, set[int]]] = {}
    for key, page in indexed.items():
        alike.setdefault(key.lower(), {}).update(page.chunks)
    repeated: dict[str, set[str]] = {}
    for chunks in alike.values():
        holders: dict[int, list[str]] = {}
        for spelling, held in chunks.items() if len(chunks) > 1 else ():
            for chunk in held:
                holders.setdefault(chunk, []).append(spelling)
        for same in holders.values():
            for spelling in same if len(same) > 1 else ():
                repeated.setdefault(spelling, set()).update(same)
    return {spelling: same - {spelling} for spelling, same in repeated.items()}
