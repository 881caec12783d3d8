"""The hosts from which a suite allows reading pages, robots files and sitemaps."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

from ragval_pipeline.sources.http.addresses import host_of, is_http_url, is_inner_address

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


class SuiteHosts:
    """The hosts that a suite names: its sitemap's and its aliases.

    A redirect must stay on its host or lead to one of them. Names that resolve to private, loopback and link-local
    addresses are allowed for these hosts only: a foreign sitemap must not make this machine query its own network.

    Args:
        named: Hosts, with their ports unless default.
    """

    def __init__(self, named: Iterable[str]) -> None:
        self._named = frozenset(_folded(f"http://{host}" if "://" not in host else host) for host in named)

    async def before(self, request: httpx.Request) -> None:
        """Refuse a request before anything is sent."""
        url, asked = str(request.url), str(request.extensions.get(ASKED, request.url))
        host = _folded(url)
        if host in self._named:
            return
        if host != _folded(asked):
            raise RefusedHostError(f"it redirects to {host_of(url) or url}, which is not in the suite", url)
        if not _by_proxy(request):
            for address in await _addresses(request.url.host):
                self._refuse_inner(address, url)

    async def after(self, response: httpx.Response) -> None:
        """Refuse a response if the name resolved to another address than when it was checked."""
        stream, request = response.extensions.get("network_stream"), response.request
        peer = stream.get_extra_info("server_addr") if stream is not None else None
        if peer and _folded(str(request.url)) not in self._named and not _by_proxy(request):
            self._refuse_inner(peer[0], str(request.url))

    def _refuse_inner(self, address: str, url: str) -> None:
        if is_inner_address(address.split("%", maxsplit=1)[0]):
            raise RefusedHostError(f"{host_of(url)} is a private address that is not in the suite")


def hosts_of(source: SourceSettings, *, site_host: str | None = None) -> SuiteHosts:
    """The hosts that a resolved suite names.

    ``site_host`` is that of most pages: it is trusted if they are listed in the suite or a local file.
    """
    named = source.sitemap or source.llms or ""
    own = named if is_http_url(named) else site_host
    listed = source.urls if isinstance(source.urls, tuple) else ()
    return SuiteHosts([*([own] if own else []), *listed, *source.host_aliases])


def _folded(url: str) -> str:
    return (host_of(url) or "").removeprefix("www.")


def _by_proxy(request: httpx.Request) -> bool:
    """Whether a proxy resolves the name, so neither address is the host's."""
    return goes_by_proxy(request.url.scheme, request.url.host)


def goes_by_proxy(scheme: str, host: str) -> bool:
    """Whether the environment sends requests to a host through a proxy."""
    proxies = getproxies()
    return bool(proxies.get(scheme) or proxies.get("all")) and not proxy_bypass(host)


def proxy_hint(url: str) -> str:
    """A hint for requests without a response; empty if no proxy is used."""
    if not is_http_url(url) or not goes_by_proxy(url.partition(":")[0].lower(), host_of(url) or ""):
        return ""
    return (
        " The request goes through the proxy of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY: check the proxy, or set NO_PROXY."
    )


async def _addresses(host: str) -> list[str]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:  # the request will report it
        return []
    return [str(address[0]) for *_, address in found]
