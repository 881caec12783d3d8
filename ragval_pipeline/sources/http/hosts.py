"""The hosts from which a suite allows reading pages, robots files and sitemaps."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

from ragval_pipeline.sources.http.addresses import host_of, is_http_url, is_public_address, parse_url

if TYPE_CHECKING:
    import httpx

    from ragval_pipeline.suite.sections import SourceSettings

#: Request extension with the original address, kept through all redirects.
ASKED = "ragval_asked"


class RefusedHostError(Exception):
    """An address that the suite does not allow.

    ``target`` is that of a redirect.
    """

    def __init__(self, problem: str, target: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.target = target


#: User name and password by host; the first element tells whether they may be sent over https only.
Logins = dict[str, tuple[bool, str, str]]


class SuiteHosts:
    """The hosts that a suite names: its sitemap's and its aliases.

    A redirect must stay on its host or lead to one of them. Names that resolve to addresses that are not public are
    allowed for these hosts only: a foreign sitemap must not make this machine query its own network.

    Args:
        named: Hosts, with their ports unless default, or addresses; a login in one of them is used for its host.
        only: Whether no other host may be asked, however public.
    """

    def __init__(self, named: Iterable[str], *, only: bool = False) -> None:
        urls = [host if "://" in host else f"http://{host}" for host in named]
        self._named = frozenset(map(_folded, urls))
        self._only = only
        self.logins: Logins = {}
        for url in urls:
            self.logins.update(login_in(url) or {})

    async def before(self, request: httpx.Request) -> None:
        """Refuse a request before anything is sent."""
        url, asked = str(request.url), str(request.extensions.get(ASKED, request.url))
        if self.trusts(url):
            return
        if _folded(url) != _folded(asked):
            raise RefusedHostError(f"it redirects to {host_of(url) or url}, which is not in the suite", url)
        if self._only:
            raise RefusedHostError(f"{host_of(url)} is another host, which is not in the suite (source.host_aliases)")

    def trusts(self, url: str) -> bool:
        """Whether the suite names the host of an address."""
        return _folded(url) in self._named


class Routes:
    """Sends requests through the proxy of the environment, or to the host.

    The name of a host that the suite does not name is resolved here, every address is checked, and the connection goes
    to a checked one: a name server may give another address to whoever asks again. A transport of httpx, whose class is
    not imported for it.
    """

    def __init__(self, *, timeout_s: float, hosts: SuiteHosts | None) -> None:
        self._timeout_s, self._hosts = timeout_s, hosts
        self._ways: dict[str | None, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request."""
        import httpx

        proxy = proxy_of(request.url.scheme, request.url.host)
        way = self._way(proxy)
        if proxy is not None or self._hosts is None or self._hosts.trusts(str(request.url)):
            return await way.handle_async_request(request)
        failure: httpx.ConnectError | httpx.ConnectTimeout | None = None
        for address in await _checked_addresses(request.url.host, str(request.url)):
            pinned = httpx.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": request.url.host},
            )
            try:
                return await way.handle_async_request(pinned)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
        # A name that does not resolve is reported by the request itself.
        if failure is None:
            return await way.handle_async_request(request)
        raise failure

    async def aclose(self) -> None:
        """Close all connections."""
        for way in self._ways.values():
            await way.aclose()

    async def __aenter__(self) -> Routes:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _way(self, proxy: str | None) -> httpx.AsyncHTTPTransport:
        import httpx

        if proxy not in self._ways:
            self._ways[proxy] = httpx.AsyncHTTPTransport(proxy=proxy)
        return self._ways[proxy]


async def _checked_addresses(host: str, url: str) -> list[str]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    if not all(is_public_address(address.split("%", maxsplit=1)[0]) for address in addresses):
        raise RefusedHostError(f"{host_of(url)} is a private address that is not in the suite")
    return addresses


def login_in(url: str) -> Logins | None:
    """The login in an address, by its host; None without one."""
    parsed = parse_url(url)
    if parsed is None or parsed.user is None:
        return None
    return {_folded(url): (parsed.scheme == "https", parsed.user, parsed.password or "")}


def login_for(url: str, logins: Logins) -> tuple[str, str] | None:
    """User name and password for an address; one that was given for https is not sent without encryption."""
    secure, user, password = logins.get(_folded(url), (False, None, ""))
    if user is None or (secure and not url.lower().startswith("https:")):
        return None
    return user, password


def hosts_of(source: SourceSettings) -> SuiteHosts:
    """The hosts that a resolved suite names, for its sitemaps; public ones that robots.txt names may be asked, too."""
    return SuiteHosts(_named(source, None))


def page_hosts_of(source: SourceSettings, *, site_host: str | None) -> SuiteHosts:
    """The hosts of a resolved suite from which pages are read.

    ``site_host`` is that of most pages: it is trusted if they are listed in the suite or a local file.
    """
    return SuiteHosts(_named(source, site_host), only=True)


def _named(source: SourceSettings, site_host: str | None) -> list[str]:
    named = source.sitemap or source.llms or ""
    own = named if is_http_url(named) else site_host
    listed = source.urls if isinstance(source.urls, tuple) else ()
    return [*([own] if own else []), *listed, *source.host_aliases]


def _folded(url: str) -> str:
    return (host_of(url) or "").removeprefix("www.")


def proxy_of(scheme: str, host: str) -> str | None:
    """The proxy of the environment for a host; None without one."""
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def goes_by_proxy(scheme: str, host: str) -> bool:
    """Whether the environment sends requests to a host through a proxy."""
    return proxy_of(scheme, host) is not None


def proxy_hint(url: str) -> str:
    """A hint for requests without a response; empty if no proxy is used."""
    if not _is_sent_by_proxy(url):
        return ""
    return (
        " The request goes through the proxy of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY: check the proxy, or set NO_PROXY."
    )


#: Statuses of a proxy that cannot reach the host, or that a host may have itself.
_GATEWAY = frozenset({502, 503, 504})


def of_proxy(url: str, status: int) -> str:
    """Who answered with a status, to follow it in a sentence; empty if that is the host."""
    if status == 407:  # proxy authentication required
        return " from the proxy in between, which asks for a login: set it in HTTP_PROXY or HTTPS_PROXY"
    if status in _GATEWAY and _is_sent_by_proxy(url):
        return " from the proxy of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or from the host behind it"
    return ""


def _is_sent_by_proxy(url: str) -> bool:
    parsed = parse_url(url)
    return parsed is not None and goes_by_proxy(parsed.scheme, parsed.host or "")
