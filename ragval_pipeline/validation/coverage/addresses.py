"""Pages that are stored under another address than the site gives them, told by the texts that they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from urllib.parse import urlsplit

from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.site.urls import fold_path
from ragval_pipeline.suite.printing import plural

ORPHAN, MISSING = "coverage.orphan_page", "coverage.missing_page"
#: In the details of an indexed page: the missing pages whose text it holds, as the sitemap has them.
STANDS_FOR = "stands_for"

_REMEDY = (
    "Re-ingest the pages under reingest_urls in remediation.json, whose texts are stored under other URLs, or "
    "correct these URLs. Only then delete what is left under the other URLs."
)
_OTHERS = "Delete the points of the other pages, or bring those pages into scope."


def with_addresses(findings: Iterable[Finding], moved: Mapping[str, Iterable[str]]) -> list[Finding]:
    """The findings, pages out of scope with the missing pages of the site whose texts they hold.

    Such a page did not leave the site: deleting it alone would take its text from the index.

    Args:
        findings: All findings of the run.
        moved: By key of a page that lacks something, what holds its text (``Site.moved``).
    """
    told = list(findings)
    missing = {entry.page: entry.name for finding in told if finding.code == MISSING for entry in finding.subjects}
    stands_for: dict[str, list[str]] = {}
    for key in missing.keys() & moved.keys():
        for holder in moved[str(key)]:
            stands_for.setdefault(holder, []).append(missing[key])
    return [_with_addresses(finding, stands_for) if finding.code == ORPHAN else finding for finding in told]


def _with_addresses(finding: Finding, stands_for: Mapping[str, list[str]]) -> Finding:
    subjects = tuple(_with_pages(subject, stands_for.get(subject.page or "", ())) for subject in finding.subjects)
    moved = [subject for subject in subjects if STANDS_FOR in subject.details]
    if not moved:
        return finding
    remedy = _REMEDY if len(moved) == len(subjects) else f"{_REMEDY} {_OTHERS}"
    return finding.model_copy(
        update={"subjects": subjects, "cause": f"{_where(moved)} {finding.cause}", "remedy": remedy}
    )


def _with_pages(subject: Subject, urls: Sequence[str]) -> Subject:
    return replace(subject, details={**subject.details, STANDS_FOR: sorted(urls)}) if urls else subject


def _where(moved: Sequence[Subject]) -> str:
    """Where the pages stand and where they belong: by folders where these are the same for all, else by an example."""
    pairs = [(entry.name, url) for entry in moved for url in entry.details[STANDS_FOR]]
    folders = {_folders(*map(_segments, pair)) for pair in pairs} if len(pairs) > 1 else set()
    begun = f"{plural(len(moved), 'page')} {'is' if len(moved) == 1 else 'are'} stored"
    if len(folders) == 1:
        [(stored, own)] = folders
        return f"{begun} under {stored} in place of {own}."
    stored, own = pairs[0]
    return f"{begun} under {'another address: ' if len(pairs) == 1 else 'other addresses, such as '}{stored} for {own}."


def _folders(stored: Sequence[str], own: Sequence[str]) -> tuple[str, str]:
    """What leads two paths, without the end that both have."""
    ends = zip(reversed(stored), reversed(own), strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    first, second = (path[: len(path) - same] for path in (stored, own))
    return (f"/{'/'.join(first)}/".replace("//", "/"), f"/{'/'.join(second)}/".replace("//", "/"))


def _segments(url: str) -> list[str]:
    return fold_path(urlsplit(url).path).strip("/").split("/")
