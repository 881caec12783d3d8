"""Stored titles that are another page's: ``payload.invalid_value`` of the title."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
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
    names, folded = _names_of(evidence.pages()), cache(fold)  # all points of a page have its title

    def titled() -> Iterator[tuple[str, str] | None]:
        for row in evidence.rows("page_key", "title"):
            is_known = row["page_key"] in names and row["title"]
            yield (row["page_key"], folded(str(row["title"]))) if is_known else None

    held = {pair for pair in titled() if pair is not None and pair[1]}
    own = {(key, title) for key, title in held if _is_called(names[key], title)}
    most = MOST * len({key for key, _ in held})
    if max(len({key for key, _ in own}), len({title for _, title in held})) <= most:
        return {}
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for page in names.values():
        for name in page.main:
            owners[name].add(page.url)
    foreign = {(key, title): min(owners[title]) for key, title in held - own if title in owners}
    return {number: foreign[pair] for number, pair in enumerate(titled()) if pair in foreign} if foreign else {}


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
