"""The one URL canonicaliser: which addresses and file paths are the same page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.http.addresses import DEFAULT_PORTS, authority, parse_url

if TYPE_CHECKING:
    from yarl import URL

# Tracking parameters: the page is the same without them.
TRACKER = re.compile(
    r"utm_.*|_ga|_gl|_hsenc|_hsmi|hsctatracking|dclid|fbclid|gad_source|gad_campaignid|gbraid|gclid|gclsrc|igshid"
    r"|li_fat_id|mc_cid|mc_eid|mkt_tok|msclkid|srsltid|ttclid|twclid|wbraid|yclid",
    re.IGNORECASE,
)
#: Scheme and host, and a path of characters with a single representation.
_PLAIN = re.compile(r"(https?://[A-Za-z0-9.-]+(?::\d+)?)(/[A-Za-z0-9_./-]*)", re.ASCII)


class UrlFolder:
    """Maps the variants of a page's address to one key.

    Folded are scheme, ``www.``, default port, case and trailing dot of the host, trailing slash, ``index.html``,
    ``.html``, fragment, tracking parameters and percent-encoding, then the aliases of the site's host. The rest of
    the query is kept in its order, since it may choose the page. An address wrapped in another scheme is that address.

    Args:
        site_host: Host of the site, with a non-default port, e.g. ``docs.example.com``.
        host_aliases: Further hosts of the same site, with a non-default port.
        markdown: Whether a trailing ``.md`` is folded too: the same page for machines, as in ``llms.txt``.
        paths: What finds the page that a text without a host names, the first that finds one decides.
        others: Further addresses of pages, canonical form to that of the page.

    Raises:
        SuiteError: A host or alias is not a host name.
    """

    def __init__(
        self,
        *,
        site_host: str | None = None,
        host_aliases: Iterable[str] = (),
        markdown: bool = False,
        paths: Sequence[FileNames | PagePaths] = (),
        others: Mapping[str, str] | None = None,
    ) -> None:
        self._site = _fold_host(site_host) if site_host else None
        self._aliases = frozenset(_fold_host(alias) for alias in host_aliases)
        self._markdown = markdown
        self._paths = paths
        self._others = others or {}
        self._keys: dict[str, str] = {}
        self._hosts: dict[str, str] = {}

    def key(self, url: str) -> str:
        """The canonical form of the page; a text that is no http(s) URL and names no page of the site is unchanged."""
        known = self._keys.get(url)
        if known is None:
            folded = self._fold(url)
            known = self._keys[url] = self._others.get(folded, folded)
        return known

    def _fold(self, url: str) -> str:
        plain = _PLAIN.fullmatch(url)
        if plain is not None and "/." not in plain[2]:
            # Nothing to decode or cut off: only the host must be checked, once.
            host = self._hosts.get(plain[1])
            if host is None:
                parsed = parse_url(plain[1])
                host = self._hosts[plain[1]] = self._host(parsed) if parsed else ""
            path = plain[2].removesuffix(".md") if self._markdown else plain[2]
            return f"https://{host}{fold_path(path)}" if host else url
        parsed = parse_url(url)
        if parsed is None:
            return next((key for paths in self._paths if (key := paths.key(url)) is not None), url)
        host = self._host(parsed)
        # A plus is an ordinary character in a path, and a space in a query.
        raw = parsed.raw_path.replace("%2B", "+")
        path = fold_path(raw.removesuffix(".md") if self._markdown else raw)
        query = _without_trackers(parsed.raw_query_string.replace("+", "%20"))
        return f"https://{host}{path}{query}"

    def _host(self, parsed: URL) -> str:
        host = _folded_authority(parsed)
        return self._site if self._site is not None and host in self._aliases else host


def path_of(url: str) -> str:
    """The path, decoded except ``%2F`` and ``%25``; an opaque id is its own path."""
    parsed = parse_url(url)
    return url if parsed is None else parsed.path_safe or "/"


def without_fragment(url: str) -> str:
    """The address without its fragment."""
    return url.split("#", 1)[0]


def join(base: str, url: str) -> str:
    """Resolve ``url`` against ``base``; unchanged if that fails."""
    try:
        return urljoin(base, url)
    except ValueError:
        return url


def fold_path(path: str) -> str:
    """Fold trailing slash, ``index.html`` and ``.html`` of a path; the root is ``/``."""
    while True:
        trimmed = path.rstrip("/")
        parent, _, last = trimmed.rpartition("/")
        if last == "index.html":
            trimmed = parent
        elif last.endswith(".html") and last.removesuffix(".html").strip("."):
            trimmed = trimmed.removesuffix(".html")
        else:
            return trimmed or "/"
        path = trimmed


def _folded_authority(url: URL) -> str:
    # The scheme is folded, so the default port of either scheme is dropped.
    host = authority(url, set(DEFAULT_PORTS.values()))
    while host.startswith("www.") and "." in host.removeprefix("www."):
        host = host.removeprefix("www.")
    return host


def _fold_host(entry: str) -> str:
    parsed = parse_url(entry if "://" in entry else f"https://{entry}")
    if parsed is None:
        raise SuiteError(
            f"'{entry}' is not a host name",
            key="source.host_aliases",
            remedy="Write hosts like docs.example.com or localhost:3000.",
        )
    return _folded_authority(parsed)


def _without_trackers(query: str) -> str:
    kept = [part for part in query.split("&") if part and not TRACKER.fullmatch(part.partition("=")[0])]
    return "?" + "&".join(kept) if kept else ""


#: A line that ends with a file suffix: not a word or a sentence.
_FILE = re.compile(r"\S[^\x00-\x1f]*\.\w{1,10}")


def is_file_path(text: str) -> bool:
    """Whether a text is the path of a file, or a ``file:`` address."""
    return "://" not in text.removeprefix("file://") and _FILE.fullmatch(text.removeprefix("file://")) is not None


#: Folder or file that Python's ``tempfile`` makes.
_TEMPORARY = re.compile(r"(?:^|[\\/])(tmp[a-z0-9_]{8})(?=[\\/.]|$)")


def name_no_page(addresses: Sequence[str]) -> bool:
    """Whether the stored addresses of several points say nothing of their pages.

    LangChain.js, and so n8n and Flowise, calls whatever it loads from memory ``blob``. An upload may be named like its
    temporary copy (https://github.com/MihaiBuilds/memory-vault/issues/101).
    """
    distinct = set(addresses)
    if len(distinct) == 1:
        [only] = distinct
        return len(addresses) > 1 and not is_file_path(only) and not re.search(r"[\\/]", only)
    return len({found[1] for address in distinct if (found := _TEMPORARY.search(address))}) == len(distinct) > 0


class FileNames:
    """Finds the file of a path, wherever its folder was during ingestion.

    That is the one file with the longest common path suffix, if the suffix is a whole path: the file's within the
    folder, or the stored one.

    Args:
        folder: Path of the folder.
        keys: Key of each file by its path within the folder, with slashes.
    """

    def __init__(self, folder: str, keys: Mapping[str, str]) -> None:
        self._above = _parts(folder)
        self._keys = keys
        self._named: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for name in keys:
            parts = _parts(name)
            self._named[parts[-1]].append(parts)

    def key(self, path: str) -> str | None:
        """The key of a stored path's file; None if it matches none of the files, or several."""
        stored = _parts(unquote(path.removeprefix("file://")) if path.startswith("file://") else path)
        if not stored:
            return None
        shared = {parts: _common_end((*self._above, *parts), stored) for parts in self._named.get(stored[-1], ())}
        longest = max(shared.values(), default=0)
        best = [parts for parts, length in shared.items() if length == longest]
        if len(best) != 1 or longest < min(len(best[0]), len(stored)):
            return None
        return self._keys["/".join(best[0])]


class PagePaths:
    """Finds the page that a path without a host names: ``/guide/intro``, ``guide/intro.md`` or ``intro``.

    That is the page at this path, else the only one whose path ends with it. A file's path may also begin above the
    site (``content/guide/intro.md``): then it is the page with the longest path that the file's ends with.

    Args:
        keys: Key of each page by its address.
    """

    def __init__(self, keys: Mapping[str, str]) -> None:
        self._keys = keys

    @cached_property
    def _pages(self) -> dict[tuple[str, ...], str]:
        return {_parts(fold_path(path_of(url))): key for url, key in self._keys.items()}

    @cached_property
    def _ending(self) -> dict[str, list[tuple[str, ...]]]:
        """Paths of the pages by their last part."""
        ending = defaultdict[str, list[tuple[str, ...]]](list)
        for parts in self._pages:
            ending[parts[-1] if parts else ""].append(parts)
        return ending

    def key(self, path: str) -> str | None:
        """The key of the page that a path names; None if it names none, or several."""
        if "://" in path or not path.strip() or not path.isprintable():
            return None
        bare = unquote(without_fragment(path.strip()))
        stem = _PAGE_FILE.sub("", bare)
        parts = _parts(stem)
        found = self._named(parts, is_file=stem != bare)
        if found is None and parts and parts[-1].lower() in {"index", "readme"}:
            found = self._named(parts[:-1], is_file=stem != bare)
        return found

    def _named(self, parts: tuple[str, ...], *, is_file: bool) -> str | None:
        if parts in self._pages:
            return self._pages[parts]
        if not parts:
            return None
        same = self._ending.get(parts[-1], [])
        inside = [page for page in same if page[-len(parts) :] == parts]
        if not inside and is_file:
            outside = [page for page in same if parts[-len(page) :] == page]
            inside = [page for page in outside if len(page) == max(map(len, outside))]
        return self._pages[inside[0]] if len(inside) == 1 else None


#: Ending of a file that becomes a page.
_PAGE_FILE = re.compile(r"\.(?:mdx?|markdown|html?|rst|txt|ipynb|adoc)$", re.IGNORECASE)


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[\\/]+", path) if part not in ("", "."))


def _common_end(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(one), reversed(other), strict=False)))
