"""The queries of each page about itself: its title, its headings and, as a last resort, its own words."""

from __future__ import annotations

import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.retrieval.texts import fold_text
from ragval_pipeline.validation.self_retrieval.names import SharedParts, as_read, own_titles, shared_parts

#: Snapshot columns that ``pages_from_snapshot`` and ``passage_queries`` need.
COLUMNS = ("page_key", "page_url", "title", "headings")
PASSAGE_COLUMNS = ("page_key", "text")
#: Columns of the page copies that ``with_page_titles`` needs.
PAGE_COLUMNS = ("page_key", "title", "headings")
#: Heading queries per page, besides the title.
HEADINGS_ASKED = 4  # work
#: Longest chunks of a page used as queries: short texts are less specific. If pages repeat each other's listings, the
#: two longest chunks are the least specific: of six correct pages not found by these, four are found by another chunk.
PASSAGES = 5  # work
#: Maximum words of a chunk in a query, within every model's limit, and characters for scripts without spaces.
WORDS, CHARACTERS = 200, 1500  # work
_BLANKS = re.compile(r"\s+")
#: Paths of headings remembered while the points are read.
_PATHS_HELD = 4096  # work


@dataclass(frozen=True)
class OwnPage:
    """One indexed page with its title and headings, in page order."""

    key: str
    url: str
    title: str | None
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnQuery:
    """One query of a page about itself.

    Attributes:
        id: Query id.
        key: Canonical form of the page.
        kind: ``title`` or ``heading``; for pages found by neither ``heading_alone`` or ``passage``.
        text: Text of the query.
        unique: False if another page has the same title, or an equal heading: then it does not identify the page.
        heading: The heading alone, if the query also has the title.
    """

    id: str
    key: str
    kind: str
    text: str
    unique: bool = True
    heading: str | None = None


def pages_from_snapshot(rows: Iterable[Mapping[str, Any]]) -> dict[str, OwnPage]:
    """In-scope indexed pages by canonical form, with names from the payload: title, else the first heading."""
    titles: dict[str, str] = {}
    headings: dict[str, dict[str, None]] = {}
    urls: dict[str, str] = {}
    # The chunks of a page have mostly the same page fields, and are close together.
    paths: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        key = row["page_key"]
        if key is None or row["page_url"] is None:
            continue
        urls.setdefault(key, row["page_url"])
        stored = tuple(row["headings"] or ())
        path = paths.get(stored)
        if path is None:
            if len(paths) >= _PATHS_HELD:
                paths.clear()
            path = paths[stored] = [read for text in stored if not is_blank(read := as_read(text))]
        title = as_read(row["title"]) if row["title"] and not is_blank(row["title"]) else (path[0] if path else None)
        if title is not None:
            titles.setdefault(key, title)
        headings.setdefault(key, {}).update(dict.fromkeys(path))
    # One after another: each page's headings are in memory once.
    return {key: OwnPage(key, url, titles.pop(key, None), tuple(headings.pop(key, ()))) for key, url in urls.items()}


def with_page_titles(pages: Mapping[str, OwnPage], copies: Iterable[Mapping[str, Any]]) -> dict[str, OwnPage]:
    """The pages with missing titles and headings filled from their copies.

    A stored title that several pages have identifies none of them: it is replaced. ``copies`` have ``PAGE_COLUMNS``.
    """
    named = dict(pages)
    bearers = Counter(page.title for page in pages.values())
    for copy in copies:
        page = named.get(copy["page_key"])
        if page is None:
            continue
        headings = tuple(dict.fromkeys(entry["text"] for entry in copy["headings"] if not is_blank(entry["text"])))
        title = copy["title"] if copy["title"] and not is_blank(copy["title"]) else next(iter(headings), None)
        own_title = page.title if bearers[page.title] == 1 else None
        named[page.key] = replace(page, title=own_title or title or page.title, headings=page.headings or headings)
    return named


def sample_of(pages: Collection[str], size: int) -> frozenset[str]:
    """The pages to search for: all, or a sample with the smallest hashes, the same in every run."""
    return frozenset(heapq.nsmallest(size, pages, key=lambda key: hashlib.sha256(key.encode()).digest()))


def own_queries(pages: Iterable[OwnPage], asked: Collection[str] | None = None) -> list[OwnQuery]:
    """A title query per page, and up to ``HEADINGS_ASKED`` unique heading queries.

    Shared beginnings and endings of names, such as the site's name, are removed: they would draw all queries to the
    same chunks. A heading equal to the title is skipped. Headings are combined with the title of their page: "Usage"
    alone is not specific, and real models answer such queries with the same few chunks. Names shared by several of all
    pages identify none; ``asked`` are the pages to search for.
    """
    whole = list(pages)
    shared = shared_parts({*page.headings, *([page.title] if page.title else [])} for page in whole)
    titles = own_titles({page.key: page.title for page in whole if page.title}, shared)
    known = [_shortened(page, shared) for page in whole if asked is None or page.key in asked]
    # Of a million names only those are counted that are asked for.
    names = {fold_text(name) for page in known for name in (*page.headings, titles.get(page.key) or "")}
    owners = Counter(
        folded
        for page in whole
        for folded in {fold_text(shared.without(heading)) for heading in page.headings}
        if folded in names
    )
    bearers = Counter(folded for title in titles.values() if (folded := fold_text(title)) in names)
    queries = []
    for page in known:
        title, before = titles.get(page.key), ""
        if title:
            folded = fold_text(title)
            elsewhere = owners[folded] - (folded in map(fold_text, page.headings))
            unique = bearers[folded] == 1 and not elsewhere
            queries.append(OwnQuery(f"{page.key}#title", page.key, "title", title, unique))
            # A title shared by several pages would make their queries alike.
            before = f"{title}: " if bearers[folded] == 1 else ""
        queries += [
            OwnQuery(f"{page.key}#{number}", page.key, "heading", f"{before}{heading}", heading=heading)
            for number, heading in enumerate(_telling(page, {title, shared.without(page.title or "")}, owners))
        ]
    return queries


def _shortened(page: OwnPage, shared: SharedParts) -> OwnPage:
    """The page with headings without shared parts."""
    return replace(page, headings=tuple(dict.fromkeys(map(shared.without, page.headings)))) if page.headings else page


def headings_alone(keys: Collection[str], asked: Iterable[OwnQuery]) -> list[OwnQuery]:
    """Heading queries of some pages without the title.

    "Example", "Usage" or "Used by" identify a section but not a page: of sixty correct readme pages, up to sixteen are
    not found by such titles, but all of them by their own words.
    """
    wanted = frozenset(keys)
    return [
        replace(query, id=f"{query.id}#alone", kind="heading_alone", text=query.heading)
        for query in asked
        if query.key in wanted and query.heading is not None and query.heading != query.text
    ]


def passage_queries(keys: Collection[str], rows: Iterable[Mapping[str, Any]]) -> list[OwnQuery]:
    """Beginnings of the longest chunks of some pages; they do not find pages with wrong vectors.

    With the stored whitespace: some models use it, and a text of short lines has another vector without.
    """
    longest: dict[str, list[str]] = {key: [] for key in keys}
    for row in rows:
        texts = longest.get(row["page_key"])
        # A text stored twice is used once.
        if texts is not None and row["text"] and not is_blank(row["text"]) and row["text"] not in texts:
            texts.append(row["text"])
            texts.sort(key=lambda text: (-len(text), text))
            del texts[PASSAGES:]
    return [
        OwnQuery(f"{key}#passage{number}", key, "passage", _beginning(text))
        for key, texts in longest.items()
        for number, text in enumerate(texts)
    ]


def of_pages_with_text(
    asked: Iterable[OwnQuery], lost: Collection[str], passages: Iterable[OwnQuery]
) -> list[OwnQuery]:
    """The queries without those of lost pages without text, which no search can find.

    ``passages`` are the passage queries of the lost pages.
    """
    blank = frozenset(lost).difference(query.key for query in passages)
    return [query for query in asked if query.key not in blank]


def _telling(page: OwnPage, titles: Collection[str | None], owners: Mapping[str, int]) -> list[str]:
    """Headings of a page that no other page has, unlike "Introduction", and that are not its title."""
    said = {fold_text(title) for title in titles if title}
    chosen = [heading for heading in page.headings if owners[fold_text(heading)] < 2 and fold_text(heading) not in said]
    return chosen[:HEADINGS_ASKED]


def _beginning(text: str) -> str:
    """The first words of a text, unchanged."""
    blanks = list(islice(_BLANKS.finditer(text), WORDS))
    end = blanks[-1].start() if len(blanks) == WORDS else len(text)
    return text[: min(end, CHARACTERS)]
