"""Reading one page of a site, from its build folder or over http(s), distinguishing page from host failures."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from pathlib import Path

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.rules.source.unreachable import RULE as SOURCE_UNREACHABLE
from ragval_pipeline.sources.http.addresses import host_of, is_http_url
from ragval_pipeline.sources.http.fetch import Fetched, HttpFetcher
from ragval_pipeline.sources.http.hosts import of_proxy
from ragval_pipeline.sources.site.build_folder import SiteFolder
from ragval_pipeline.sources.site.html.document import (
    asks_not_to_be_indexed,
    canonical_address,
    decode_html,
    refresh_target,
)
from ragval_pipeline.sources.site.markdown_page import LONGEST, is_markdown, markdown_html
from ragval_pipeline.sources.site.page_cache import PageCache
from ragval_pipeline.sources.site.urls import UrlFolder
from ragval_pipeline.text.printing import shown_url

# In a row: fewer may be broken pages, and waiting out the retries of every page of a dead host takes hours.
BROKEN_IN_A_ROW = 3
REFUSED_IN_A_ROW = 5


def is_refusal(status: int) -> bool:
    """Whether a response is about the host, not the page: 401, 403, 429 and 5xx."""
    return status in (401, 403, 429) or status >= 500


@dataclass
class _Tally:
    answered: bool = False
    welcomed: bool = False
    broken: int = 0
    refused: int = 0


class HostHealth:
    """Counts responses and failures per host; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tallies: defaultdict[str | None, _Tally] = defaultdict(_Tally)

    def is_down_after_failure(self, host: str | None) -> bool:
        """Record a page without a response; returns whether the host is down: it never answered, or failed in a row."""
        with self._lock:
            tally = self._tallies[host]
            tally.broken += 1
            return not tally.answered or tally.broken >= BROKEN_IN_A_ROW

    def is_down_after_status(self, host: str | None, status: int) -> bool:
        """Record a response; returns whether the host refuses everything: only 401, 403, 429 and 5xx from the start."""
        with self._lock:
            tally = self._tallies[host]
            tally.answered, tally.broken = True, 0
            refused = is_refusal(status)
            tally.welcomed |= not refused
            tally.refused = tally.refused + 1 if refused else 0
            return not tally.welcomed and tally.refused >= REFUSED_IN_A_ROW


SYSTEM = "page host"
NOT_MODIFIED = 304
#: A page of only markup takes 1.5 seconds and 65 MiB per million bytes, and several are read in parallel.
MAX_BYTES = 8 * 2**20
_TOO_LARGE = f"the page is larger than {MAX_BYTES / 2**20:g} MiB"


@dataclass(frozen=True, slots=True)
class PageCopy:
    """A page as it was read.

    Attributes:
        url: The requested address.
        status: HTTP status; 404 when the site's folder has no file for it; None for a file.
        final_url: Target of redirects, by the server or the page itself, as it may be shown.
        html: The decoded page; None if there is none to judge.
        sha256: Hash of the page's raw bytes, hex.
        html_hash: Hash of ``html``, hex; it is known even if ``html`` itself need not be parsed again.
        problem: Why there is no page, one clause; None if there is one.
        noindex: The page asks not to be indexed.
        redirected: ``final_url`` is another page, not only a variant of the address.
        target_key: Canonical form of that page; None without one.
        named_key: Canonical form of the address that the page declares as its own; None without one.
        last_modified: From the server, UTC; None for a file, whose date is that of the checkout.
        host_failed: The host did not answer or refused: whether the page exists is unknown.
        source: The Markdown that the page was rendered from; None for an HTML page.
    """

    url: str
    status: int | None = None
    final_url: str | None = None
    html: str | None = None
    sha256: str | None = None
    html_hash: str | None = None
    problem: str | None = None
    noindex: bool = False
    redirected: bool = False
    target_key: str | None = None
    named_key: str | None = None
    last_modified: datetime | None = None
    host_failed: bool = False
    source: str | None = None


class PageReader:
    """Reads pages; safe to use from several threads.

    Args:
        site_root: Folder of the built site, read instead of fetching.
        base_path: Leading part of every path that the folder does not have; None to detect it.
        fetcher: Opens addresses if there is no folder.
        cache: Responses of the last run, for unchanged pages.
        folder: Canonicalises addresses, to distinguish redirects to other pages from those to variants.

    Raises:
        SuiteError: The folder ``site_root`` does not exist.
    """

    def __init__(
        self,
        *,
        site_root: Path | None,
        base_path: str | None,
        fetcher: HttpFetcher | None,
        cache: PageCache | None = None,
        folder: UrlFolder | None = None,
    ) -> None:
        self._site = None if site_root is None else SiteFolder(site_root, base_path)
        self._fetcher = fetcher
        self._cache = cache
        self._folder = folder or UrlFolder()
        self._health = HostHealth()

    @property
    def reads_files(self) -> bool:
        """Whether pages come from a folder, without fetching."""
        return self._site is not None

    def learn_base_path(self, urls: Iterable[str]) -> str | None:
        """Detect the base path from the pages of the site; see ``SiteFolder.learn_base_path``."""
        return None if self._site is None else self._site.learn_base_path(urls)

    def read(self, url: str) -> PageCopy:
        """Read one page; its copy says what is wrong with the page itself.

        Raises:
            SystemFailure: ``source.unreachable``: the host does not answer, or refuses access.
        """
        if not is_http_url(url):
            return PageCopy(url, problem="not an http(s) URL")
        if self._site is not None:
            return self._read_file(self._site, url)
        if self._fetcher is None:
            return PageCopy(url, problem="not fetched: fetching is switched off")
        return self._read_answer(self._fetcher, url)

    def _read_file(self, site: SiteFolder, url: str) -> PageCopy:
        path = site.find(url)
        if path is None:
            return PageCopy(url, status=404, problem="the site's folder has no file for it")
        try:
            if path.stat().st_size > MAX_BYTES:
                return PageCopy(url, problem=_TOO_LARGE)
            body = path.read_bytes()
        except OSError as error:
            return PageCopy(url, problem=f"the file cannot be read: {(error.strerror or str(error)).lower()}")
        return self._judged(url, url, body, status=None)

    def _read_answer(self, fetcher: HttpFetcher, url: str) -> PageCopy:
        host = host_of(url)
        try:
            answer = self._answer(fetcher, url)
        except SystemFailure as failure:
            if failure.code == SOURCE_UNREACHABLE.code and self._health.is_down_after_failure(host):
                raise
            target = failure.redirects_to
            return PageCopy(
                url,
                final_url=target,
                problem=failure.problem,
                redirected=target is not None,
                target_key=None if target is None else self._folder.key(target),
                host_failed=failure.code == SOURCE_UNREACHABLE.code,
            )
        if self._health.is_down_after_status(host, answer.status):
            raise _refused(answer)
        if not answer.ok:
            problem = f"the server answered with status {answer.status}{of_proxy(url, answer.status)}"
            failed = is_refusal(answer.status)
            return PageCopy(url, answer.status, shown_url(answer.final_url), problem=problem, host_failed=failed)
        return self._copy(url, answer)

    def _answer(self, fetcher: HttpFetcher, url: str) -> Fetched:
        if self._cache is None:
            return fetcher.fetch(url, system=SYSTEM)
        answer = fetcher.fetch(url, system=SYSTEM, headers=self._cache.validators(url))
        if answer.status == NOT_MODIFIED:
            kept = self._cache.get(url)
            # Redirects may have changed and lead to another page.
            same = kept is not None and kept.final_url == answer.final_url
            answer = kept if kept is not None and same else fetcher.fetch(url, system=SYSTEM)
        self._cache.put(url, answer)
        return answer

    def _copy(self, url: str, answer: Fetched) -> PageCopy:
        kind = answer.content_type.partition(";")[0].strip().lower()
        if kind and not kind.startswith("text/") and kind != "application/xhtml+xml":
            problem = f"the server sent {kind[:60]}, not a web page"
            return PageCopy(url, status=answer.status, final_url=shown_url(answer.final_url), problem=problem)
        return self._judged(url, answer.final_url, answer.body, status=answer.status, answer=answer)

    def _judged(
        self, url: str, final_url: str, body: bytes, *, status: int | None, answer: Fetched | None = None
    ) -> PageCopy:
        if len(body) > MAX_BYTES:
            return PageCopy(url, status=status, final_url=shown_url(final_url), problem=_TOO_LARGE)
        headers = answer.headers if answer else {}
        kind = answer.content_type if answer else ""
        html = decode_html(body, content_type=kind)
        source = html if is_markdown(kind, url) and len(html) <= LONGEST else None
        if source is not None:
            html = markdown_html(source)
        final_url = refresh_target(html, base=final_url) or final_url
        target_key = self._folder.key(final_url)
        redirected = target_key != self._folder.key(url)
        named = canonical_address(html, base=final_url)
        return PageCopy(
            url=url,
            status=status,
            final_url=shown_url(final_url),
            html=html,
            sha256=sha256(body).hexdigest(),
            noindex=asks_not_to_be_indexed(html, header=headers.get("x-robots-tag", "")),
            redirected=redirected,
            target_key=target_key if redirected else None,
            named_key=self._folder.key(named) if named and is_http_url(named) else None,
            last_modified=_http_date(headers.get("last-modified")),
            source=source,
        )


def _refused(answer: Fetched) -> SystemFailure:
    return SystemFailure(
        f"refused every page; the last status was {answer.status}{of_proxy(answer.url, answer.status)}",
        code=SOURCE_UNREACHABLE.code,
        system=SYSTEM,
        subject=shown_url(answer.url),
        remedy="Check that the pages are public, or read them from source.site_root.",
        attempts=answer.attempts,
        details={"status": answer.status},
    )


def _http_date(text: str | None) -> datetime | None:
    try:
        when = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
