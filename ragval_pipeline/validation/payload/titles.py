"""Stored titles that are another page's: ``payload.invalid_value`` of the title."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.sources.site.urls import path_of
from ragval_pipeline.text.folding import fold
from ragval_pipeline.validation.payload.evidence import PayloadEvidence
from ragval_pipeline.validation.self_retrieval.names import shared_parts
from ragval_pipeline.validation.thresholds import MOST


@dataclass(frozen=True)
class PageNames:
    """What a page may be called.

    Attributes:
        url: The page.
        main: Its title without the site's name, and its first heading, folded.
        every: These, its title and all its headings, folded.
    """

    url: str
    main: frozenset[str]
    every: frozenset[str]


def foreign_titles(evidence: PayloadEvidence) -> dict[int, str]:
    """The URL of the page that a point's title names, by row, for titles that name another page than the point's.

    A title names a page that has it as a name, or whose names or path contain it or are contained in it. The field
    holds titles of pages if it names their own page on most pages, or differs on most; otherwise it may hold the name
    of a chapter or of the site.
    """
    if "title" not in evidence.rules.fields:
        return {}
    names = _names_of(evidence.pages())
    held: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for number, row in enumerate(evidence.rows("page_key", "title")):
        if row["page_key"] in names and row["title"] and (title := fold(str(row["title"]))):
            held[row["page_key"], title].append(number)
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for key, page in names.items():
        for name in page.main:
            owners[name].add(key)
    pages = {key for key, _ in held}
    own = {(key, title) for key, title in held if _is_called(names[key], title)}
    distinct = {title for _, title in held}
    if max(len({key for key, _ in own}), len(distinct)) <= MOST * len(pages):
        return {}
    return {
        number: min(names[owner].url for owner in owners[title])
        for (key, title), numbers in held.items()
        if title in owners and (key, title) not in own
        for number in numbers
    }


def _names_of(pages: Iterable[Mapping[str, Any]]) -> dict[str, PageNames]:
    rows = [row for row in pages if row["title"] or row["headings"]]
    shared = shared_parts([row["title"]] for row in rows if row["title"])
    found = {}
    for row in rows:
        title, headings = row["title"] or "", [heading["text"] for heading in row["headings"]]
        main = {shared.without(title), *headings[:1]}
        every = {*main, title, *headings}
        folded = (frozenset(filter(None, map(fold, group))) for group in (main, every))
        found[row["page_key"]] = PageNames(row["url"], *folded)
    return found


def _is_called(page: PageNames, title: str) -> bool:
    return any(title in name or name in title for name in page.every) or title in fold(path_of(page.url))
