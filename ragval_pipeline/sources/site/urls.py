"""The one URL canonicaliser: which addresses and file paths are the same page; parts of addresses."""

from __future__ import annotations

import ipaddress
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, TypeGuard
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from ragval_pipeline.errors import SuiteError

if TYPE_CHECKING:
    from yarl import URL

DEFAULT_PORTS = {"http": 80, "https": 443}
# Tracking parameters: the page is the same without them.
TRACKER = re.compile(
    r"utm_.*|_ga|_gl|_hsenc|_hsmi|hsctatracking|dclid|fbclid|gad_source|gad_campaignid|gbraid|gclid|gclsrc|igshid"
    r"|li_fat_id|mc_cid|mc_eid|mkt_tok|msclkid|srsltid|ttclid|twclid|wbraid|yclid",
    re.IGNORECASE,
)
PRIVATE_NETWORKS = tuple(
    ipaddress.ip_network(block)
    for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
#: Scheme and host, and a path of characters with a single representation.
_PLAIN = re.compile(r"(https?://[A-Za-z0-9.-]+(?::\d+)?)(/[A-Za-z0-9_./-]*)", re.ASCII)
#: Prefixes that ingestion tools add to mark the kind of document (AnythingLLM: ``link://``).
_WRAPPED = re.compile(r"\A(?!https?:)[a-z][a-z0-9+.-]*:(?://)?(?=https?://)")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}\Z")
_USERINFO = re.compile(r"(?<=://)[^/?#]*@")
#: Parameters that carry secrets: tokens, keys, and the signatures of cloud stores.
_SECRET_NAME = re.compile("token|key|secret|sig|passw|pwd|auth|credential", re.IGNORECASE)
_PARAMETER = re.compile(r"(?<=[?&])([^?=&#]+=)[^&#]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class UrlFolder:
    """Maps the variants of a page's address to one key.

    Folded are scheme, ``www.``, default port, case and trailing dot of the host, trailing slash, ``index.html``,
    ``.html``, fragment, tracking parameters and percent-encoding, then the aliases of the site's host. The rest of
    the query is kept in its order, since it may choose the page. An address wrapped in another scheme is that address.

    Args:
        site_host: Host of the site, with a non-default port, e.g. ``docs.example.com``.
        host_aliases: Further hosts of the same site, with a non-default port.
        markdown: Whether a trailing ``.md`` is folded too: the same page for machines, as in ``llms.txt``.
        files: The pages' source files, whose paths also name them.

    Raises:
        SuiteError: A host or alias is not a host name.
    """

    def __init__(
        self,
        *,
        site_host: str | None = None,
        host_aliases: Iterable[str] = (),
        markdown: bool = False,
        files: FileNames | None = None,
    ) -> None:
        self._site = _fold_host(site_host) if site_host else None
        self._aliases = frozenset(_fold_host(alias) for alias in host_aliases)
        self._markdown = markdown
        self._files = files
        self._keys: dict[str, str] = {}
        self._hosts: dict[str, str] = {}

    def key(self, url: str) -> str:
        """The canonical form of the page; a text that is neither an http(s) URL nor a file path is unchanged."""
        known = self._keys.get(url)
        if known is None:
            known = self._keys[url] = self._fold(url)
        return known

    def _fold(self, url: str) -> str:
        plain = _PLAIN.fullmatch(url)
        if plain is not None and "/." not in plain[2]:
            # Nothing to decode or cut off: only the host must be checked, once.
            host = self._hosts.get(plain[1])
            if host is None:
                parsed = _parse(plain[1])
                host = self._hosts[plain[1]] = self._host(parsed) if parsed else ""
            path = plain[2].removesuffix(".md") if self._markdown else plain[2]
            return f"https://{host}{fold_path(path)}" if host else url
        parsed = _parse(url)
        if parsed is None:
            return (self._files.key(url) if self._files is not None else None) or url
        host = self._host(parsed)
        # A plus is an ordinary character in a path, and a space in a query.
        raw = parsed.raw_path.replace("%2B", "+")
        path = fold_path(raw.removesuffix(".md") if self._markdown else raw)
        query = _without_trackers(parsed.raw_query_string.replace("+", "%20"))
        return f"https://{host}{path}{query}"

    def _host(self, parsed: URL) -> str:
        host = _folded_authority(parsed)
        return self._site if self._site is not None and host in self._aliases else host


def is_http_url(text: object) -> TypeGuard[str]:
    """Whether ``text`` is an http(s) URL with a valid host and port; never raises."""
    return isinstance(text, str) and _parse(text) is not None


def host_of(url: str) -> str | None:
    """The host in lower case without a trailing dot, with a non-default port; None without a host."""
    parsed = _parse(url)
    return None if parsed is None else _authority(parsed, {DEFAULT_PORTS[parsed.scheme]})


def path_of(url: str) -> str:
    """The path, decoded except ``%2F`` and ``%25``; an opaque id is its own path."""
    parsed = _parse(url)
    return url if parsed is None else parsed.path_safe or "/"


def split_url(url: str) -> SplitResult:
    """The parts of an address as they are written; a text that is not an address is one path. Never raises.

    ``urlsplit`` raises on half of an IPv6 address, which a payload may hold.
    """
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def without_userinfo(url: str) -> str:
    """The address without ``user:password@`` and values of secret parameters, for logs and reports."""
    return _PARAMETER.sub(
        lambda found: f"{found[1]}..." if _SECRET_NAME.search(found[1]) else found[0], _USERINFO.sub("", url, count=1)
    )


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


def is_loopback_or_private(url: str) -> bool:
    """Whether the address is not public: localhost, a private or link-local address, ``file:``."""
    if url.strip().lower().startswith("file:"):
        return True
    parsed = _parse(url)
    if parsed is None:
        return False
    host = (parsed.raw_host or "").removesuffix(".").split("%")[0]
    return host == "localhost" or host.endswith(".localhost") or is_inner_address(host)


def is_inner_address(host: str) -> bool:
    """Whether ``host`` is a loopback, private, link-local or unspecified IP address; False for names."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback or address.is_link_local or address.is_unspecified:
        return True
    return any(address in network for network in PRIVATE_NETWORKS)


@lru_cache(maxsize=4096)
def _parse(text: str) -> URL | None:
    from yarl import URL

    # yarl silently drops lone surrogates, outer blanks and line breaks; here such a text is not a URL.
    text = _WRAPPED.sub("", text, count=1)
    if text[:4].lower() != "http" or text != text.strip() or _CONTROL.search(text):
        return None
    try:
        text.encode()
        url = URL(text)
        valid = url.scheme in DEFAULT_PORTS and _is_host(url.raw_host or "")
    except (ValueError, IndexError):  # yarl raises IndexError on an authority such as '[::1]@'
        return None
    return url if valid else None


def _is_host(host: str) -> bool:
    if ":" in host:  # IPv6, checked by yarl
        return True
    name = host.removesuffix(".")
    return len(name) <= 253 and all(_LABEL.match(label) and label.strip("-") for label in name.split("."))


def _authority(url: URL, default_ports: set[int]) -> str:
    host = (url.host_subcomponent or "").removesuffix(".")
    port = url.explicit_port
    return host if port is None or port in default_ports else f"{host}:{port}"


def _folded_authority(url: URL) -> str:
    # The scheme is folded, so the default port of either scheme is dropped.
    host = _authority(url, set(DEFAULT_PORTS.values()))
    while host.startswith("www.") and "." in host.removeprefix("www."):
        host = host.removeprefix("www.")
    return host


def _fold_host(entry: str) -> str:
    parsed = _parse(entry if "://" in entry else f"https://{entry}")
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


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[\\/]+", path) if part not in ("", "."))


def _common_end(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(one), reversed(other), strict=False)))
