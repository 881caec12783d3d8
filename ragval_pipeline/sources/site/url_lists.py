"""Lists of pages that are no sitemap: plain lists of addresses, and ``llms.txt`` (https://llmstxt.org)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.http.fetch import HttpFetcher
from ragval_pipeline.sources.site.sitemap.content import as_path, fetch_bytes, malformed, read_bytes
from ragval_pipeline.sources.site.sitemap.listing import SitemapEntry, SitemapFile, SitemapListing
from ragval_pipeline.sources.site.urls import host_of, is_http_url, join, without_fragment, without_userinfo

log = logging.getLogger(__name__)
MAX_URLS = 500_000


def list_urls(urls: Sequence[str] | Path) -> SitemapListing:
    """The pages of a list in the suite, or in a file with one address a line; ``#`` starts a comment.

    Raises:
        SuiteError: The file cannot be read, or an entry is no http(s) address.
    """
    if isinstance(urls, Path):
        lines = _lines(urls)
        return _listing([(_checked(url, f"line {number}"), None) for number, url in lines], str(urls))
    return _listing([(_checked(url, f"[{number}]"), None) for number, url in enumerate(urls)], "the suite")


def list_llms(location: str, *, fetcher: HttpFetcher | None) -> SitemapListing:
    """The pages that an ``llms.txt`` links to, on the host of most of them.

    Args:
        location: Address or path of the file.
        fetcher: Opens addresses; None when nothing may be fetched.

    Raises:
        SystemFailure: ``source.unreachable`` or ``source.malformed``.
    """
    source = fetch_bytes(location, fetcher) if is_http_url(location) else read_bytes(as_path(location))
    text = source.body.decode("utf-8", "replace").removeprefix("\ufeff")
    if text.lstrip()[:1] == "<":
        raise malformed(source.location, "this is a web page, not an llms.txt", "Correct source.llms")
    links = [without_fragment(join(source.final_url or "", link)) for link in _links(text)]
    urls = [url for url in links if is_http_url(url)]
    own = host_of(source.final_url) if source.final_url else None
    hosts = Counter(host_of(url) for url in urls)
    if own not in hosts:
        own = max(hosts, key=hosts.__getitem__, default=None)
    kept = [url for url in urls if host_of(url) == own]
    if not kept:
        raise malformed(source.location, "no list of links to pages", "Correct source.llms")
    skipped = len(links) - len(kept)
    if skipped:
        log.info("%d links of %s lead to other hosts and are left out", skipped, without_userinfo(source.location))
    return _listing([(url, None) for url in kept], source.location, skipped=skipped)


def _links(text: str) -> Iterator[str]:
    """The targets of the first link of each item of a list, which is where the format has them."""
    from markdown_it import MarkdownIt

    opens_item = False
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "inline" and opens_item:
            links = [child for child in token.children or [] if child.type == "link_open"]
            yield from (str(link.attrs["href"]) for link in links[:1])
        if token.type != "paragraph_open":  # which stands between an item and its text
            opens_item = token.type == "list_item_open"


def _lines(file: Path) -> list[tuple[int, str]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise SuiteError(
            f"{file} cannot be read: {reason.lower()}",
            key="source.urls",
            remedy="Name a file with one address a line, or write a list.",
        ) from None
    stripped = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    return [(number, line) for number, line in stripped if line and not line.startswith("#")]


def _checked(url: str, place: str) -> str:
    if is_http_url(url):
        return without_fragment(url)
    shown = without_userinfo(url)[:80]
    raise SuiteError(
        f"{place} is no http(s) address: {shown!r}", key="source.urls", remedy="Write it whole, https://..."
    )


def _listing(found: list[tuple[str, str | None]], location: str, *, skipped: int = 0) -> SitemapListing:
    if len(found) > MAX_URLS:
        raise malformed(location, f"more than {MAX_URLS:,} addresses")
    shown = without_userinfo(location)
    entries = {url: SitemapEntry(url, lastmod, shown) for url, lastmod in found}
    hosts = Counter(host for host in map(host_of, entries) if host)
    most = max(hosts, key=hosts.__getitem__, default=None)
    files = (SitemapFile(shown, len(found), 0, len(found) - len(entries), skipped),)
    return SitemapListing(tuple(entries.values()), files, most, shown)
