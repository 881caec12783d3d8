"""Pages stored under another address: on another host, which may explain many pages, or recognised by their texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import SHOWN, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.coverage.foreign_host import RULE as FOREIGN_HOST
from ragval_pipeline.rules.coverage.foreign_host import Details as Host
from ragval_pipeline.rules.coverage.loopback_host import RULE as LOOPBACK_HOST
from ragval_pipeline.rules.coverage.missing_page import RULE as MISSING_PAGE
from ragval_pipeline.rules.coverage.orphan_page import RULE as ORPHAN_PAGE
from ragval_pipeline.rules.coverage.orphan_page import Details as Orphan
from ragval_pipeline.rules.details import read, written
from ragval_pipeline.sources.http.addresses import is_loopback_or_private, split_url
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.urls import fold_path, is_file_path
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.coverage.addresses import OTHER_PATH, in_what_they_differ
from ragval_pipeline.validation.coverage.counterparts import host_of_page, path_of_page, site_pages_of, strangers_of
from ragval_pipeline.validation.coverage.covered import Covered
from ragval_pipeline.validation.coverage.indexed import IndexedPage
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.thresholds import MOST

_REBUILD = (
    "If the sitemap's address is the wrong one, such as that of a development server or a template, correct it in the "
    "site's configuration and build the site again."
)


@detector(FOREIGN_HOST, LOOPBACK_HOST, needs=Covered)
def host_findings(covered: Covered) -> Iterator[Finding]:
    """Find hosts that replace the site's host.

    A host is foreign if it has a page whose path the site has too, or pages with the site's paths after one base path,
    or if no page of the index is on the site's host. A single page of another site is an orphan and says nothing about
    hosts.
    """
    inventory, indexed = covered.inventory, covered.indexed
    if not covered.comparable:
        return
    sitemap_is_private = any(is_loopback_or_private(page.url) for page in inventory.in_scope)
    # On a development site a private host is normal: one other than the site's is foreign like any other.
    site_keys = [page.key for page in inventory.in_scope]
    strangers = strangers_of(indexed, site_keys)
    site_hosts = {host_of_page(page.key) for page in inventory.in_scope}
    all_strange = bool(strangers) and not any(host_of_page(key) in site_hosts for key in indexed)

    # A page also indexed under the site's own address is not missing because of another one.
    loopback = [page for page in indexed.values() if _is_private(page, of_files=inventory.of_files)]
    counterparts_of = {
        host: site_pages_of((page.key for page in pages), site_keys) for host, pages in strangers.items()
    }
    foreign = {
        host: pages
        for host, pages in strangers.items()
        if (sitemap_is_private or not _is_private(pages[0], of_files=inventory.of_files))
        and (all_strange or any(path_of_page(key) != "/" for key in counterparts_of[host].values()))
    }
    if loopback and sitemap_is_private:
        yield _development(loopback)
    elif loopback:
        public = site_pages_of((page.key for page in loopback), site_keys)
        yield _loopback(loopback, public, inventory, indexed)
    if foreign:
        instead = {host: set(pages.values()) - indexed.keys() for host, pages in counterparts_of.items()}
        yield _foreign(foreign, instead, inventory, is_whole=all_strange and any(counterparts_of.values()))


def _foreign(
    foreign: Mapping[str, list[IndexedPage]],
    instead: Mapping[str, set[str]],
    inventory: SiteInventory,
    *,
    is_whole: bool,
) -> Finding:
    subjects = [
        Subject(
            name=host,
            pages=tuple(sorted({*(page.key for page in pages), *instead[host]})),
            details=Host(
                pages=len(pages),
                points=sum(page.points for page in pages),
                urls=sorted(spelling for page in pages for spelling in page.spellings)[:SHOWN],
            )._asdict(),
        )
        for host, pages in foreign.items()
    ]
    cause = remedy = None
    if is_whole:
        cause = (
            f"The sitemap is of {inventory.site_host}, and no indexed page is, though paths are the same: the site or "
            "the ingestion has the address of another deployment."
        )
        remedy = f"{_REBUILD} {FOREIGN_HOST.remedy}"
    return make_finding(
        FOREIGN_HOST.code, subjects, details={"site_host": inventory.site_host}, cause=cause, remedy=remedy
    )


def _loopback(
    pages: list[IndexedPage], public: Mapping[str, str], inventory: SiteInventory, indexed: Mapping[str, IndexedPage]
) -> Finding:
    subjects = []
    for page in pages:
        known = public.get(page.key)
        details = {} if known is None else {"page_url": inventory.scope_urls[known]}
        homes = () if known is None else (inventory.scope_urls[known],)
        instead = () if known is None or known in indexed else (known,)
        subjects += [Subject(name, details, page=page.key, pages=instead, homes=homes) for name in page.spellings]
    return make_finding(LOOPBACK_HOST.code, subjects)


def _development(pages: list[IndexedPage]) -> Finding:
    # Expected addresses cause nothing.
    without = frozenset({Aspect.FIELD, Aspect.ORIGIN})
    subjects = [Subject(name=spelling, page=page.key, without=without) for page in pages for spelling in page.spellings]
    cause = "The sitemap itself has a private address: this is a development site."
    finding = make_finding(LOOPBACK_HOST.code, subjects, cause=cause, details={"expected": True})
    return finding.model_copy(update={"severity": "info"})


def _is_private(page: IndexedPage, *, of_files: bool) -> bool:
    """Whether the page is not public; if pages are files, their paths count as addresses."""
    first = next(iter(page.spellings))
    return is_loopback_or_private(first) and not (of_files and is_file_path(first))


_REMEDY = (
    "Re-ingest the pages under reingest_urls in remediation.json, whose texts are stored under other URLs, or only "
    "correct these URLs in the payloads. Only then delete what is left under the other URLs, which delete_pages lists."
)
_OTHERS = "Delete the points of the other pages, or bring those pages into scope."


_OF_THE_SITE = (
    "{count} have texts of the site's pages, under other paths: the points name another place of the same texts, such "
    "as the files in a repository that the site is built from. For example, {url} is {own}."
)
_NAME_PUBLISHED = (
    "Make the ingestion store the address of the published page with each point, and re-ingest the pages under "
    "reingest_urls in remediation.json. Only then delete the points under review_point_ids: until then nothing else is "
    "stored of these pages."
)

_ELSEWHERE = "The texts of {which} are stored under other addresses."

#: Detail of a point: the page of the site that has its text.
STANDS_ON = "stands_on"
_WITHOUT_PAGE = (
    "Make the ingestion write the field, and re-ingest the pages under reingest_urls in remediation.json. That does "
    "not replace these points if they have ids of their own: then delete_after_ingesting lists them."
)


def with_moved(findings: Iterable[Finding], moved: Mapping[str, Iterable[str]]) -> list[Finding]:
    """The findings, with the pages of the site whose texts are on pages out of scope, or in points without an address.

    Such a page did not leave the site: deleting it would remove its text from the index. ``moved`` is ``Site.moved``.
    """
    changed = list(findings)
    stands_for: dict[str, list[str]] = {}
    home_of: dict[str, str] = {}
    orphans = {each.page for finding in changed if finding.code == ORPHAN_PAGE.code for each in finding.subjects}
    for finding in changed:
        for entry in finding.subjects if CATALOGUE[finding.code].names_lost_texts else ():
            for holder in moved.get(entry.page or "", ()):
                home_of[holder] = entry.name
                if finding.code == MISSING_PAGE.code:
                    stands_for.setdefault(holder, []).append(entry.name)

    def placed(finding: Finding) -> Finding:
        if finding.code == MISSING_PAGE.code:
            found = {name for holder in orphans for name in stands_for.get(holder or "", ())}
            return _found_elsewhere(finding, len(found)) if found else finding
        if finding.code == ORPHAN_PAGE.code:
            return _with_addresses(finding, stands_for)
        if finding.code == FOREIGN_HOST.code:
            return _with_texts_of_the_site(finding, stands_for)
        return _with_homes(finding, home_of) if names_no_page(finding) else finding

    return [placed(finding) for finding in changed]


def _found_elsewhere(finding: Finding, count: int) -> Finding:
    """Missing pages, so many of which are stored under other addresses."""
    if count == finding.count:
        cause = _ELSEWHERE.format(which="these pages" if count > 1 else "this page")
    else:
        cause = f"{_ELSEWHERE.format(which=f'{count:,} of them')} Others: {finding.cause}"
    return finding.model_copy(update={"cause": cause, "details": {**finding.details, "elsewhere": count}})


def _with_texts_of_the_site(finding: Finding, stands_for: Mapping[str, list[str]]) -> Finding:
    """The finding, if most pages of the hosts have texts that the site's pages lack, under paths that the site has not.

    An alias of the host changes nothing then, and the points are all that is stored of these pages.
    """
    held = [key for subject in finding.subjects for key in subject.pages if key in stands_for]
    pages = [key for subject in finding.subjects for key in subject.pages]
    same_path = any(host_of_page(key) != subject.name for subject in finding.subjects for key in subject.pages)
    if same_path or len(held) <= MOST * len(pages):
        return finding
    cause = _OF_THE_SITE.format(count=plural(len(held), "page"), url=held[0], own=stands_for[held[0]][0])
    return finding.model_copy(update={"cause": cause, "remedy": _NAME_PUBLISHED})


def names_no_page(finding: Finding) -> bool:
    """Whether the finding is about points whose address is missing or wrong."""
    return finding.subject_kind == "point" and finding.field == "source_url"


def _with_homes(finding: Finding, home_of: Mapping[str, str]) -> Finding:
    subjects = tuple(
        replace(subject, details={**subject.details, STANDS_ON: home_of[subject.name]}, homes=(home_of[subject.name],))
        if subject.name in home_of and subject.page is None
        else subject
        for subject in finding.subjects
    )
    if not any(subject.homes for subject in subjects):
        return finding
    return finding.model_copy(update={"subjects": subjects, "remedy": _WITHOUT_PAGE})


def _with_addresses(finding: Finding, stands_for: Mapping[str, list[str]]) -> Finding:
    subjects = tuple(_with_pages(subject, stands_for.get(subject.page or "", ())) for subject in finding.subjects)
    moved = [subject for subject in subjects if subject.homes]
    if not moved:
        return finding
    remedy = _REMEDY if len(moved) == len(subjects) else f"{_REMEDY} {_OTHERS}"
    return finding.model_copy(
        update={"subjects": subjects, "cause": f"{_where(moved)} {finding.cause}", "remedy": remedy}
    )


def _with_pages(subject: Subject, urls: Sequence[str]) -> Subject:
    homes = tuple(sorted(urls))
    if not homes:
        return subject
    details = read(Orphan, subject.details)._replace(stands_for=homes)
    return replace(subject, details=written(details), homes=homes)


def _where(moved: Sequence[Subject]) -> str:
    """Where the pages are and where they belong: by folders if these are the same for all, else by an example."""
    pairs = [(entry.name, url) for entry in moved for url in entry.homes]
    folders = {_folders(*map(_segments, pair)) for pair in pairs} if len(pairs) > 1 else set()
    begun = f"{plural(len(moved), 'page')} {'is' if len(moved) == 1 else 'are'} stored"
    # Addresses may differ in what is behind their path.
    if len(folders) == 1 and all(stored != own for stored, own in folders):
        [(stored, own)] = folders
        return f"{begun} under {stored} in place of {own}."
    stored, own = pairs[0]
    where = "another address: " if len(pairs) == 1 else "other addresses, such as "
    differ = in_what_they_differ(pairs)
    how = "" if OTHER_PATH in differ or not differ else f" They differ in {' and '.join(differ)}."
    return f"{begun} under {where}{stored} for {own}.{how}"


def _folders(stored: Sequence[str], own: Sequence[str]) -> tuple[str, str]:
    """Two paths without their common end."""
    ends = zip(reversed(stored), reversed(own), strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    first, second = (path[: len(path) - same] for path in (stored, own))
    return (f"/{'/'.join(first)}/".replace("//", "/"), f"/{'/'.join(second)}/".replace("//", "/"))


def _segments(url: str) -> list[str]:
    return fold_path(split_url(url).path).strip("/").split("/")
