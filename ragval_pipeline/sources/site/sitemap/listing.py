"""What a site says it has: the pages of its sitemap and the files that list them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """A page as the sitemap spells it, its ``lastmod`` as it stands there, and the file that lists it first."""

    url: str
    lastmod: str | None
    sitemap: str


@dataclass(frozen=True, slots=True)
class SitemapFile:
    """One file that was read.

    ``urls`` counts the pages it names (0 for an index), ``bytes`` its unpacked size, ``duplicates`` the pages that it
    or an earlier file had named already, ``skipped`` the entries without an address.
    """

    location: str
    urls: int
    bytes: int
    duplicates: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class SitemapListing:
    """All pages, each once, in the order of the files; ``site_host`` is the most frequent host among them."""

    entries: tuple[SitemapEntry, ...]
    files: tuple[SitemapFile, ...]
    site_host: str | None
    location: str
