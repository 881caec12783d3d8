"""Addresses that pages give when they are read, by redirects and canonical links: which of them are further addresses.

Sites get both wrong: a template names the home page on every page, several pages of a series name the first, a copy
for tests names the live host. Search engines take a canonical link as a hint, and ignore it then, too
(https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from ragval_pipeline.sources.http.addresses import host_of
from ragval_pipeline.sources.site.urls import path_of


def other_addresses(given: Iterable[tuple[str, str]], listed: Collection[str]) -> dict[str, str]:
    """The addresses that can only be those of one page.

    That is an address on the page's host that a single page gives, that is not listed as a page itself, and that is not
    the home page's.

    Args:
        given: Canonical forms of an address and of the page that gives it.
        listed: Keys of all pages of the site.

    Returns:
        Canonical form of each address to the key of its page.
    """
    pages: defaultdict[str, set[str]] = defaultdict(set)
    for other, page in given:
        pages[other].add(page)
    once = {other: found.pop() for other, found in pages.items() if len(found) == 1}
    return {
        other: page
        for other, page in once.items()
        if other not in listed and host_of(other) == host_of(page) and path_of(other) != "/"
    }


def of_one_page(others: Mapping[str, str], stored: Iterable[str]) -> dict[str, str]:
    """The further addresses of pages that are stored under one address at most.

    Of a page that is stored under two, the index has both: such as two versions, of which the older names the newer.

    Args:
        others: As ``other_addresses`` returns them.
        stored: Canonical forms of all stored addresses.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for key in stored:
        found[others.get(key, key)].add(key)
    return {other: page for other, page in others.items() if len(found[page]) <= 1}
