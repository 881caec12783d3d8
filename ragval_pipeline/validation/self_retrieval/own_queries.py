"""The queries that each page asks about itself.

What lives here: choosing titles and headings that name a page. What does not: asking them, and judging the answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.retrieval.texts import fold_text

#: Snapshot columns that ``pages_from_snapshot`` needs.
COLUMNS = ("page_key", "page_url", "title", "headings")
#: Headings of a page that are asked beside its title.
HEADINGS_ASKED = 4
#: A heading that stands on this many pages names none of them ("Introduction").
COMMON_HEADING = 2
#: Separators between the title of a page and the name of its site.
_SEPARATORS = (" | ", " \u2013 ", " \u2014 ", " \u00b7 ", " - ")


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

    Args:
        id: Of the query.
        key: Canonical form of the page.
        kind: ``title`` or ``heading``; of pages that neither finds ``heading_alone`` or ``passage``.
        text: What is asked.
        unique: False when another page has the same title, or a heading that reads like it: then the page cannot be
            told by it.
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
    for row in rows:
        key = row["page_key"]
        if key is None or row["page_url"] is None:
            continue
        urls.setdefault(key, row["page_url"])
        path = [text.strip() for text in row["headings"] or () if not is_blank(text)]
        title = row["title"] if row["title"] and not is_blank(row["title"]) else (path[0] if path else None)
        if title is not None:
            titles.setdefault(key, title)
        headings.setdefault(key, {}).update(dict.fromkeys(path))
    return {key: OwnPage(key, url, titles.get(key), tuple(headings.get(key, ()))) for key, url in urls.items()}


def own_queries(pages: Iterable[OwnPage]) -> list[OwnQuery]:
    """A title query a page, and up to ``HEADINGS_ASKED`` heading queries that no other page could ask.

    The name of the site that many titles end with is cut off: it would draw all queries to the same chunks. Headings
    are asked together with the title of their page: "Usage" alone is a question about everything, and real models
    answer such questions with the same few chunks.
    """
    known = list(pages)
    shared = _site_suffixes([page.title for page in known if page.title])
    owners = Counter(folded for page in known for folded in set(map(fold_text, page.headings)))
    titles = {page.key: _without_suffix(page.title, shared) for page in known if page.title}
    bearers = Counter(fold_text(title) for title in titles.values())
    queries = []
    for page in known:
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
            for number, heading in enumerate(_telling(page, title, owners))
        ]
    return queries


def _telling(page: OwnPage, title: str | None, owners: Mapping[str, int]) -> list[str]:
    chosen = [
        heading
        for heading in page.headings
        if owners[fold_text(heading)] < COMMON_HEADING and fold_text(heading) != fold_text(title or "")
    ]
    return chosen[:HEADINGS_ASKED]


def _site_suffixes(titles: Sequence[str]) -> frozenset[str]:
    endings = Counter(ending for title in titles for ending in [_ending(title)] if ending)
    return frozenset(ending for ending, count in endings.items() if count >= max(2, len(titles) // 2))


def _ending(title: str) -> str | None:
    for separator in _SEPARATORS:
        if separator in title:
            return separator + title.rsplit(separator, 1)[1]
    return None


def _without_suffix(title: str, suffixes: Iterable[str]) -> str:
    for suffix in suffixes:
        if title.endswith(suffix):
            return title.removesuffix(suffix).strip() or title
    return title.strip()
