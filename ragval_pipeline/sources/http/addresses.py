"""Addresses over http(s): their parts, and whether they are public."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import TYPE_CHECKING, TypeGuard
from urllib.parse import SplitResult, unquote, urlsplit

if TYPE_CHECKING:
    from yarl import URL

DEFAULT_PORTS = {"http": 80, "https": 443}
PRIVATE_NETWORKS = tuple(
    ipaddress.ip_network(block)
    for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
#: Prefixes that ingestion tools add to mark the kind of document (AnythingLLM: ``link://``).
_WRAPPED = re.compile(r"\A(?!https?:)[a-z][a-z0-9+.-]*:(?://)?(?=https?://)")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def is_http_url(text: object) -> TypeGuard[str]:
    """Whether ``text`` is an http(s) URL with a valid host and port; never raises."""
    return isinstance(text, str) and parse_url(text) is not None


def host_of(url: str) -> str | None:
    """The host in lower case without a trailing dot, with a non-default port; None without a host."""
    parsed = parse_url(url)
    return None if parsed is None else authority(parsed, {DEFAULT_PORTS[parsed.scheme]})


def split_url(url: str) -> SplitResult:
    """The parts of an address as they are written; a text that is not an address is one path. Never raises.

    ``urlsplit`` raises on half of an IPv6 address, which a payload may hold.
    """
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def is_loopback_or_private(url: str) -> bool:
    """Whether the address is not public: localhost, a private or link-local address, ``file:``."""
    if url.strip().lower().startswith("file:"):
        return True
    parsed = parse_url(url)
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


#: Networks whose addresses hold an IPv4 address in their last 32 bits: NAT64 (RFC 6052, RFC 8215), IPv4-compatible.
_HOLDING_IPV4 = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))


def is_public_address(host: str) -> bool:
    """Whether ``host`` is an IP address that the public internet routes, and so is the IPv4 address that it holds."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is None and any(address in network for network in _HOLDING_IPV4):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public_address(str(inner))
    return address.is_global and not address.is_multicast


@lru_cache(maxsize=4096)
def parse_url(text: str) -> URL | None:
    """The address in a text, without the scheme that an ingestion tool put around it; None: it is none."""
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


def authority(url: URL, default_ports: set[int]) -> str:
    """The host in lower case without a trailing dot, with its port unless that is one of ``default_ports``."""
    host = (url.host_subcomponent or "").removesuffix(".")
    port = url.explicit_port
    return host if port is None or port in default_ports else f"{host}:{port}"


def readable_path(url: str) -> str:
    """The readable part of an address; other texts are unchanged."""
    return unquote(urlsplit(url).path) or url if is_http_url(url) else url
