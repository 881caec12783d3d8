"""One sitemap file, read over http(s) or from disk, unpacked and parsed within limits, and its failures."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NoReturn
from urllib.parse import urlsplit
from urllib.request import url2pathname
from xml.parsers import expat

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.rules.source.malformed import RULE as SOURCE_MALFORMED
from ragval_pipeline.rules.source.unreachable import RULE as SOURCE_UNREACHABLE
from ragval_pipeline.sources.calls import asks_to_wait, wait_hint
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.http.fetch import BUSY, Fetched, HttpFetcher
from ragval_pipeline.sources.http.hosts import of_proxy
from ragval_pipeline.text.printing import shown_url


def malformed(location: str, problem: str, remedy: str = "", **details: object) -> SystemFailure:
    """The failure for a ``location`` that is not a sitemap."""
    remedy = remedy or "Fix the sitemap, or point source.sitemap at another one."
    return SystemFailure(
        problem, code=SOURCE_MALFORMED.code, system="sitemap", subject=location, remedy=remedy, details=details
    )


def html_page(location: str) -> SystemFailure:
    """The failure for a web page instead of a sitemap: a single-page app returns one for every address."""
    remedy = "Point source.sitemap at the sitemap.xml itself; check that the site builds one."
    return malformed(location, "this is an HTML page, not a sitemap", remedy, line=1, byte=0)


def too_large(location: str, max_bytes: int) -> SystemFailure:
    """The failure for a file over the limit: a bomb, or a sitemap that should be split."""
    return malformed(location, f"more than {max_bytes / 2**20:g} MiB unpacked", "Split the sitemap into several files.")


_WRONG = "Check source.sitemap."
_LATER = "Look at the host, or try again later."


def unreachable(
    location: str, problem: str, attempts: int = 1, remedy: str = _WRONG, **details: object
) -> SystemFailure:
    """The failure for a ``location`` that cannot be read."""
    return SystemFailure(
        problem,
        code=SOURCE_UNREACHABLE.code,
        system="sitemap",
        subject=location,
        remedy=remedy,
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
        if path.exists() and not path.is_file():  # reading a pipe waits for its writer
            raise unreachable(location, "is not a regular file")
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
            shown_url(answer.url),
            f"answered with status {answer.status}{of_proxy(url, answer.status)}"
            f"{asks_to_wait(wait_hint(answer.headers))}",
            attempts=answer.attempts,
            status=answer.status,
            remedy=_LATER if answer.status in BUSY else _WRONG,
        )
    shown = shown_url(answer.url)
    return SitemapBytes(shown, unpacked(answer.body, location=shown), answer.final_url)


def fetch(url: str, fetcher: HttpFetcher | None) -> Fetched:
    """Fetch an address for the sitemap reader, whatever its status."""
    if fetcher is None:
        shown = shown_url(url)
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


ENTRY_OF = {"urlset": "url", "sitemapindex": "sitemap"}
# The protocol needs three levels and its extensions five.
DEEPEST = 32
_WHOLE_ADDRESSES = "Configure the URL of the site in the site generator (baseURL, site_url), and build again."
_HTML = re.compile(rb"\s*<(!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class ParsedSitemap:
    """One file: its kind and its ``(loc, lastmod)`` pairs in file order; entries without an address are left out."""

    kind: Literal["urlset", "sitemapindex"]
    entries: list[tuple[str, str | None]] = field(default_factory=list)


def parse_sitemap(body: bytes, *, location: str, max_entries: int) -> ParsedSitemap:
    """Parse one uncompressed sitemap file: XML of any namespace prefix, or text with one address per line.

    Raises:
        SystemFailure: ``source.malformed``: broken or truncated XML, a DOCTYPE, HTML, another kind of document, no page
            with a complete address, too many entries. ``details`` has ``line`` and ``byte`` if known.
    """
    if _HTML.match(body.removeprefix(codecs.BOM_UTF8)):
        raise html_page(location)
    head = body[:1024].removeprefix(codecs.BOM_UTF8).lstrip()
    if not head:
        raise malformed(location, "the file is empty", line=1, byte=0)
    if head.startswith((b"<", *_UTF16)):
        return _Reader(location, max_entries).read(body)
    return _parse_text(body, location, max_entries)


def _parse_text(body: bytes, location: str, max_entries: int) -> ParsedSitemap:
    parsed = ParsedSitemap("urlset")
    for number, line in enumerate(body.decode("utf-8-sig", errors="replace").splitlines(), start=1):
        loc = line.strip()
        if not loc:
            continue
        if not is_http_url(loc):
            remedy = (
                "Use source.llms for an llms.txt and source.folder for a folder of Markdown or HTML; otherwise fix "
                "the sitemap."
            )
            raise malformed(location, f"neither XML nor a list of URLs, see line {number}", remedy, line=number)
        parsed.entries.append((loc, None))
        if len(parsed.entries) > max_entries:
            raise malformed(location, f"more than {max_entries:,} entries in all", line=number)
    return parsed


class _Reader:
    """Expat handlers. A page's own ``loc`` is a child of a child of the root, in the root's namespace."""

    def __init__(self, location: str, max_entries: int) -> None:
        self._location = location
        self._max_entries = max_entries
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.EntityDeclHandler = lambda *_: self._refuse("an entity declaration")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._open: list[str] = []
        self._prefix = ""
        self._namespace: str | None = None
        self._kind: Literal["urlset", "sitemapindex"] = "urlset"
        self._entries: list[tuple[str, str | None]] = []
        self._locs: list[str] = []
        #: The first address with its line and byte, and whether any has a host.
        self._first: tuple[str, int, int] | None = None
        self._has_whole = False
        self._lastmod: str | None = None
        self._buffer: list[str] | None = None

    def read(self, body: bytes) -> ParsedSitemap:
        ended = False
        try:
            self._parser.Parse(body, False)
            ended = True
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            what = "the XML ends early" if ended else "broken XML"
            self._fail(f"{what} ({expat.ErrorString(error.code)})", error.lineno, self._parser.ErrorByteIndex)
        except (ValueError, LookupError):  # an encoding that expat or Python does not know
            self._fail("an unknown text encoding")
        if self._kind == "urlset" and self._first is not None and not self._has_whole:
            loc, line, byte = self._first
            self._fail(f"URLs without a host, such as <loc>{loc[:200]}</loc>", line, byte, _WHOLE_ADDRESSES)
        return ParsedSitemap(self._kind, self._entries)

    def _fail(self, what: str, line: int | None = None, byte: int | None = None, remedy: str = "") -> NoReturn:
        line = self._parser.CurrentLineNumber if line is None else line
        byte = self._parser.CurrentByteIndex if byte is None else byte
        raise malformed(self._location, f"{what} at line {line}, byte {byte}", remedy, line=line, byte=byte) from None

    def _refuse(self, what: str) -> NoReturn:
        self._fail(f"{what}, which is refused because it can hide an XML bomb,")

    def _doctype(self, name: str, *_: object) -> None:
        if name.lower() == "html":
            raise html_page(self._location)
        self._refuse("a DOCTYPE")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._open.append(name)
        depth = len(self._open)
        prefix, _, local = name.rpartition(":")
        if depth == 1:
            self._root(prefix, local, attributes)
        elif depth > DEEPEST:
            self._fail(f"more than {DEEPEST} levels of elements")
        elif depth == 2:
            self._locs, self._lastmod = [], None
        elif depth == 3 and self._is_own(prefix, attributes) and local in ("loc", "lastmod"):
            self._buffer = []

    def _root(self, prefix: str, local: str, attributes: dict[str, str]) -> None:
        if local.lower() == "html":
            raise html_page(self._location)
        if local not in ENTRY_OF:
            self._fail(f"a <{local[:40]}> document, not a sitemap,")
        self._kind = "urlset" if local == "urlset" else "sitemapindex"
        self._prefix, self._namespace = prefix, attributes.get("xmlns")

    def _is_own(self, prefix: str, attributes: dict[str, str]) -> bool:
        parent = self._open[1].rpartition(":")
        same_namespace = attributes.get("xmlns", self._namespace) == self._namespace
        return (prefix, *parent[::2]) == (self._prefix, self._prefix, ENTRY_OF[self._kind]) and same_namespace

    def _text(self, data: str) -> None:
        if self._buffer is not None and len(self._open) == 3:
            self._buffer.append(data)

    def _end(self, name: str) -> None:
        self._open.pop()
        depth = len(self._open) + 1
        if depth == 3 and self._buffer is not None:
            self._take(name.rpartition(":")[2], "".join(self._buffer).strip())
            self._buffer = None
        elif depth == 2 and name.rpartition(":")[2] == ENTRY_OF[self._kind]:
            self._entries += [(loc, self._lastmod) for loc in self._locs]
            if len(self._entries) > self._max_entries:
                self._fail(f"more than {self._max_entries:,} entries in all")

    def _take(self, local: str, text: str) -> None:
        if text and local == "loc":
            self._locs.append(text)
            if self._first is None:
                self._first = (text, self._parser.CurrentLineNumber, self._parser.CurrentByteIndex)
            self._has_whole |= text.lower().startswith(("http://", "https://"))
        elif text:
            self._lastmod = text
