"""Reading one sitemap file over http(s) or from disk, unpacked, within limits, and its failures."""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.http.fetch import Fetched, HttpFetcher
from ragval_pipeline.suite.printing import without_userinfo


def malformed(location: str, problem: str, remedy: str = "", **details: object) -> SystemFailure:
    """The failure for a ``location`` that is not a sitemap."""
    remedy = remedy or "Fix the sitemap, or point source.sitemap at another one."
    return SystemFailure(
        problem, code="source.malformed", system="sitemap", subject=location, remedy=remedy, details=details
    )


def html_page(location: str) -> SystemFailure:
    """The failure for a web page instead of a sitemap: a single-page app returns one for every address."""
    remedy = "Point source.sitemap at the sitemap.xml itself; check that the site builds one."
    return malformed(location, "this is an HTML page, not a sitemap", remedy, line=1, byte=0)


def too_large(location: str, max_bytes: int) -> SystemFailure:
    """The failure for a file over the limit: a bomb, or a sitemap that should be split."""
    return malformed(location, f"more than {max_bytes / 2**20:g} MiB unpacked", "Split the sitemap into several files.")


def unreachable(location: str, problem: str, attempts: int = 1, **details: object) -> SystemFailure:
    """The failure for a ``location`` that cannot be read."""
    return SystemFailure(
        problem,
        code="source.unreachable",
        system="sitemap",
        subject=location,
        remedy="Check source.sitemap.",
        attempts=attempts,
        details=details,
    )


GZIP_MAGIC = b"\x1f\x8b"
# The protocol allows 50 MiB unpacked; we allow twice that. More is a bomb or a mistake.
MAX_BYTES = 100 * 2**20


@dataclass(frozen=True)
class SitemapBytes:
    """One unpacked file; ``final_url`` is the target of redirects, None for a file on disk."""

    location: str
    body: bytes
    final_url: str | None = None


def as_path(location: str) -> Path:
    """The path of a path or ``file:`` URL."""
    if location.lower().startswith("file:"):
        return Path(url2pathname(urlsplit(location).path))
    return Path(location)


def read_bytes(path: Path) -> SitemapBytes:
    """Read a sitemap file from disk.

    Raises:
        SystemFailure: ``source.unreachable`` if it cannot be read, ``source.malformed`` if it cannot be unpacked.
    """
    location = str(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise too_large(location, MAX_BYTES)
        body = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise unreachable(location, f"cannot be read: {reason.lower()}") from error
    return SitemapBytes(location, unpacked(body, location=location))


def fetch_bytes(url: str, fetcher: HttpFetcher | None) -> SitemapBytes:
    """Fetch a sitemap file.

    Raises:
        SystemFailure: ``source.unreachable`` without a response or with a status other than 2xx, ``source.malformed``
            if it cannot be unpacked.
    """
    answer = fetch(url, fetcher)
    if not answer.ok:
        raise unreachable(
            answer.url,
            f"answered with status {answer.status}",
            attempts=answer.attempts,
            status=answer.status,
        )
    return SitemapBytes(answer.url, unpacked(answer.body, location=answer.url), answer.final_url)


def fetch(url: str, fetcher: HttpFetcher | None) -> Fetched:
    """Fetch an address for the sitemap reader, whatever its status."""
    if fetcher is None:
        shown = without_userinfo(url)
        raise unreachable(shown, "would have to be fetched, and fetching is switched off")
    return fetcher.fetch(url, system="sitemap")


def unpacked(body: bytes, *, location: str, max_bytes: int = MAX_BYTES) -> bytes:
    """Unpack gzip, detected by content; several members are joined as by gzip(1).

    Raises:
        SystemFailure: ``source.malformed`` for damaged, truncated or too large data.
    """
    if not body.startswith(GZIP_MAGIC):
        if len(body) > max_bytes:
            raise too_large(location, max_bytes)
        return body
    packed = io.BytesIO(body)
    try:
        text = gzip.GzipFile(fileobj=packed).read(max_bytes + 1)
    except EOFError:
        raise malformed(location, f"the gzip data ends early, at byte {len(body)}", byte=len(body)) from None
    except (gzip.BadGzipFile, zlib.error):
        raise malformed(location, f"damaged gzip data before byte {packed.tell()}", byte=packed.tell()) from None
    if len(text) > max_bytes:
        raise too_large(location, max_bytes)
    return text
