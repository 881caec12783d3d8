"""The queries that each page asks about itself: its title, its headings and, as a last resort, its own words."""

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
from ragval_pipeline.validation.self_retrieval.names import as_read, own_titles, shared_parts

#: Snapshot columns that ``pages_from_snapshot`` and ``passage_queries`` need.
COLUMNS = ("page_key", "page_url", "title", "headings")
PASSAGE_COLUMNS = ("page_key", "text")
#: Columns of the page copies that ``with_page_titles`` needs.
PAGE_COLUMNS = ("page_key", "title", "headings")
#: Headings of a page that are asked beside its title.
HEADINGS_ASKED = 4  # work
#: A heading that stands on this many pages names none of them ("Introduction").
COMMON_HEADING = 2
#: Chunks of a page that are asked with, the longest: the shorter a text, the less it tells. Where pages repeat each
#: other's listings, the two longest are the least their own: of six honest pages that these do not find, four are found
#: by another of their chunks.
PASSAGES = 5  # work
#: Words and characters of a chunk that are asked with: what every model reads, and in scripts without blanks.
WORDS, CHARACTERS = 200, 1500  # work
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class OwnPage:
    """One indexed page and what it calls itself: its title and its headings, in page order."""

    key: str
    url: str
    title: str | None
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnQuery:
    """One query of a page about itself.

    Attributes:
        id: Of the query.
        key: Canonical form of the page.
        kind: ``title`` or ``heading``; of pages that neither finds ``heading_alone`` or ``passage``.
        text: What is asked.
        unique: False when another page has the same title, or a heading that reads like it: then the page cannot be
            identified by it.
        heading: The heading alone, where it is asked together with the title.
    """

    id: str
    key: str
    kind: str
    text: str
    unique: bool = True
    heading: str | None = None


def pages_from_snapshot(rows: Iterable[Mapping[str, Any]]) -> dict[str, OwnPage]:
    """In-scope indexed pages by canonical form, named as their payload says: title, else the first heading."""
    titles: dict[str, str] = {}
    headings: dict[str, dict[str, None]] = {}
    urls: dict[str, str] = {}
    # The chunks of a page share most of what they say of it.
    paths: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        key = row["page_key"]
        if key is None or row["page_url"] is None:
            continue
        urls.setdefault(key, row["page_url"])
        stored = tuple(row["headings"] or ())
        path = paths.get(stored)
        if path is None:
            path = paths[stored] = [read for text in stored if not is_blank(read := as_read(text))]
        title = as_read(row["title"]) if row["title"] and not is_blank(row["title"]) else (path[0] if path else None)
        if title is not None:
            titles.setdefault(key, title)
        headings.setdefault(key, {}).update(dict.fromkeys(path))
    return {key: OwnPage(key, url, titles.get(key), tuple(headings.get(key, ()))) for key, url in urls.items()}


def with_page_titles(pages: Mapping[str, OwnPage], copies: Iterable[Mapping[str, Any]]) -> dict[str, OwnPage]:
    """The pages with what their payload does not say: title and headings of their copy.

    Args:
        pages: In-scope indexed pages by canonical form.
        copies: Rows of the page copies with ``PAGE_COLUMNS``; pages that could not be read have nothing in them.
    """
    named = dict(pages)
    for copy in copies:
        page = named.get(copy["page_key"])
        if page is None:
            continue
        headings = tuple(dict.fromkeys(entry["text"] for entry in copy["headings"] if not is_blank(entry["text"])))
        title = copy["title"] if copy["title"] and not is_blank(copy["title"]) else next(iter(headings), None)
        named[page.key] = replace(page, title=page.title or title, headings=page.headings or headings)
    return named


def sample_of(pages: Collection[str], size: int) -> frozenset[str]:
    """The pages that are asked for: all, or those with the smallest hashes, which are the same in every run."""
    return frozenset(heapq.nsmallest(size, pages, key=lambda key: hashlib.sha256(key.encode()).digest()))


def own_queries(pages: Iterable[OwnPage], asked: Collection[str] | None = None) -> list[OwnQuery]:
    """A title query a page, and up to ``HEADINGS_ASKED`` heading queries that no other page could ask.

    What the names of most pages begin or end with, as the name of the site, is cut off: it would draw all queries to
    the same chunks. A heading that then says what the title says is the same question. Headings are asked together
    with the title of their page: "Usage" alone is a question about everything, and real models answer such questions
    with the same few chunks.

    Args:
        pages: All of them: what several call themselves names none.
        asked: Canonical forms of the pages that are asked for; None: all.
    """
    whole = list(pages)
    shared = shared_parts({*page.headings, *([page.title] if page.title else [])} for page in whole)
    titles = own_titles({page.key: page.title for page in whole if page.title}, shared)
    known = [
        replace(page, headings=tuple(dict.fromkeys(map(shared.without, page.headings)))) if page.headings else page
        for page in whole
    ]
    owners = Counter(folded for page in known for folded in set(map(fold_text, page.headings)))
    bearers = Counter(fold_text(title) for title in titles.values())
    queries = []
    for page in known:
        if asked is not None and page.key not in asked:
            continue
        title, before = titles.get(page.key), ""
        if title:
            folded = fold_text(title)
            elsewhere = owners[folded] - (folded in map(fold_text, page.headings))
            unique = bearers[folded] == 1 and not elsewhere
            queries.append(OwnQuery(f"{page.key}#title", page.key, "title", title, unique))
            # A title that several pages bear would make their queries alike, and tells nothing.
            before = f"{title}: " if bearers[folded] == 1 else ""
        queries += [
            OwnQuery(f"{page.key}#{number}", page.key, "heading", f"{before}{heading}", heading=heading)
            for number, heading in enumerate(_telling(page, {title, shared.without(page.title or "")}, owners))
        ]
    return queries


def headings_alone(keys: Collection[str], asked: Iterable[OwnQuery]) -> list[OwnQuery]:
    """The headings of some pages without the title that they were asked with.

    "Example", "Usage" or "Used by" name a section and no page: of sixty honest pages of readmes, up to sixteen are not
    found by such titles, and every one of them by its own words.

    Args:
        keys: Canonical forms of the pages.
        asked: What was asked before.
    """
    wanted = frozenset(keys)
    return [
        replace(query, id=f"{query.id}#alone", kind="heading_alone", text=query.heading)
        for query in asked
        if query.key in wanted and query.heading is not None and query.heading != query.text
    ]


def passage_queries(keys: Collection[str], rows: Iterable[Mapping[str, Any]]) -> list[OwnQuery]:
    """Beginnings of the longest chunks of some pages; vectors that are not those of the page's texts find neither.

    With their blanks as they are stored: some models read them, and a text of short lines has another vector without.
    """
    longest: dict[str, list[str]] = {key: [] for key in keys}
    for row in rows:
        texts = longest.get(row["page_key"])
        # A text that is stored twice says nothing more the second time.
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
    """What was asked, without the lost pages that hold no text: a search has nothing of theirs to find.

    Args:
        asked: What was asked by names.
        lost: Canonical forms of the pages that these do not find.
        passages: What these pages ask by what they say.
    """
    blank = frozenset(lost).difference(query.key for query in passages)
    return [query for query in asked if query.key not in blank]


def _telling(page: OwnPage, titles: Collection[str | None], owners: Mapping[str, int]) -> list[str]:
    said = {fold_text(title) for title in titles if title}
    chosen = [
        heading
        for heading in page.headings
        if owners[fold_text(heading)] < COMMON_HEADING and fold_text(heading) not in said
    ]
    return chosen[:HEADINGS_ASKED]


def _beginning(text: str) -> str:
    """The first words of a text, as they stand there."""
    blanks = list(islice(_BLANKS.finditer(text), WORDS))
    end = blanks[-1].start() if len(blanks) == WORDS else len(text)
    return text[: min(end, CHARACTERS)]
