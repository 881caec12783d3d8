"""A redirect or a sitemap must not lead a run to hosts that its suite does not name."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.http import hosts as http_hosts
from ragval_pipeline.sources.http.fetch import HttpFetcher
from ragval_pipeline.sources.http.hosts import hosts_of, login_for, login_in, page_hosts_of
from ragval_pipeline.sources.site.page_reader import PageCopy, PageReader
from ragval_pipeline.suite.sections import RetrySettings, SourceSettings
from tests.support.http_host import Answer, Site, serving

PAGE = Answer("<main>secret of another host</main>", headers={"Content-Type": "text/html"})


def by_name(site: Site) -> str:
    return site.url.replace("127.0.0.1", "localhost")


#: What the suite names as its sitemap's host and as an alias, what is asked, and whether it is read.
ROWS: dict[str, tuple[Callable[[Site, Site], list[str]], Callable[[Site, Site], str], bool]] = {
    "the suite's own host": (lambda own, other: [own.url], lambda own, other: f"{own.url}/a", True),
    "a redirect on it": (lambda own, other: [own.url], lambda own, other: f"{own.url}/stay", True),
    "a redirect to another host": (lambda own, other: [own.url], lambda own, other: f"{own.url}/leave", False),
    "the same to an alias": (lambda own, other: [own.url, other.url], lambda own, other: f"{own.url}/leave", True),
    "a private address": (lambda own, other: ["https://docs.example.com"], lambda own, other: f"{other.url}/a", False),
    "a name of one": (lambda own, other: [own.url], lambda own, other: f"{by_name(other)}/a", False),
    "a name that the suite names": (
        lambda own, other: [by_name(other)], lambda own, other: f"{by_name(other)}/a", True,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("named", "asked", "read"), ROWS.values(), ids=ROWS)
def test_only_hosts_of_the_suite_are_asked(
    named: Callable[[Site, Site], list[str]], asked: Callable[[Site, Site], str], read: bool
) -> None:
    with serving({"/a": PAGE}) as other:
        leave, stay = (Answer("", 302, {"Location": to}) for to in (f"{other.url}/a", "/a"))
        with serving({"/a": PAGE, "/stay": stay, "/leave": leave}) as own:
            first, *aliases = (url.removesuffix("/") for url in named(own, other))
            hosts = [alias.partition("://")[2] for alias in aliases]
            source = SourceSettings(sitemap=f"{first}/sitemap.xml", host_aliases=hosts)
            with HttpFetcher(policy=RetrySettings(max=0), hosts=hosts_of(source)) as fetcher:
                copy = PageReader(site_root=None, base_path=None, fetcher=fetcher).read(asked(own, other))
    assert (copy.html is not None) == read
    assert read or other.asked == []
    assert read or "not in the suite" in str(copy.problem)
    assert not copy.host_failed


def test_a_redirect_that_was_not_followed_is_still_reported() -> None:
    with serving({"/leave": Answer("", 302, {"Location": "https://elsewhere.example/x?token=abc"})}) as own:
        source = SourceSettings(sitemap=f"{own.url}/sitemap.xml")
        with HttpFetcher(policy=RetrySettings(max=0), hosts=hosts_of(source)) as fetcher:
            copy = PageReader(site_root=None, base_path=None, fetcher=fetcher).read(f"{own.url}/leave")
            assert (copy.redirected, copy.final_url) == (True, "https://elsewhere.example/x?token=...")
            with pytest.raises(SystemFailure, match=r"source\.host_aliases"):
                fetcher.fetch(f"{own.url}/leave", system="sitemap")


class NameServer:
    """Answers for one name with a list of addresses, one after another."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
        self.addresses, self.asked = list(addresses), 0

        async def getaddrinfo(loop: Any, host: Any, port: Any, **more: Any) -> list[Any]:
            self.asked += 1
            address = self.addresses[min(self.asked, len(self.addresses)) - 1]
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port or 0))]

        monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "getaddrinfo", getaddrinfo)


def read_foreign(url: str) -> PageCopy:
    """Read a page of a host that the suite does not name, as of a sitemap that robots.txt names."""
    source = SourceSettings(sitemap="https://docs.example.com/sitemap.xml")
    with HttpFetcher(policy=RetrySettings(max=0), hosts=hosts_of(source)) as fetcher:
        return PageReader(site_root=None, base_path=None, fetcher=fetcher).read(url)


def test_a_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server of an attacker answers the check with a public address and the connection with a private one."""
    monkeypatch.setattr(http_hosts, "is_public_address", lambda address: address == "127.0.0.1")
    server = NameServer(monkeypatch, "127.0.0.1", "127.0.0.9")
    with serving({"/a": PAGE}) as site:
        name = site.url.replace("127.0.0.1", "pages.example")
        copy = read_foreign(f"{name}/a")
    assert copy.html is not None
    assert copy.final_url == f"{name}/a"
    assert server.asked == 1
    assert [headers["host"] for _, headers in site.asked] == [name.removeprefix("http://")]


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "198.18.0.7", "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "::1",
                "::ffff:127.0.0.1", "2001:0:4136:e378:8000:63bf:80ff:fffe", "224.0.0.1", "0.0.0.0", "fe80::1"]
)  # fmt: skip
def test_a_name_of_an_address_that_is_not_public_is_refused_before_it_is_asked(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    NameServer(monkeypatch, address)
    with serving({"/a": PAGE}) as inner:
        copy = read_foreign(f"{inner.url.replace('127.0.0.1', 'pages.example')}/a")
    assert copy.html is None
    assert "is a private address that is not in the suite" in str(copy.problem)
    assert inner.asked == []


@pytest.mark.parametrize(("aliases", "read"), [([], False), (["pages.example"], True)])
def test_pages_of_another_host_are_read_only_if_the_suite_names_it(
    aliases: list[str], read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_hosts, "is_public_address", lambda address: True)
    NameServer(monkeypatch, "127.0.0.1")
    with serving({"/a": PAGE}) as site:
        name = site.url.replace("127.0.0.1", "pages.example")
        source = SourceSettings(
            sitemap="https://docs.example.com/sitemap.xml", host_aliases=[name.partition("://")[2] for _ in aliases]
        )
        hosts = page_hosts_of(source, site_host="docs.example.com")
        with HttpFetcher(policy=RetrySettings(max=0), hosts=hosts) as fetcher:
            copy = PageReader(site_root=None, base_path=None, fetcher=fetcher).read(f"{name}/a")
    assert (copy.html is not None) == read
    assert read or site.asked == []


def test_the_login_of_the_sitemap_serves_the_pages_of_its_host_alone() -> None:
    with serving({"/a": PAGE}) as other, serving({"/a": PAGE, "/sitemap.xml": "x"}) as site:
        source = SourceSettings(
            sitemap=f"{site.url}/sitemap.xml".replace("http://", "http://ada:s%40cret@"),
            host_aliases=[other.url.removeprefix("http://")],
        )
        hosts = page_hosts_of(source, site_host=None)
        with HttpFetcher(policy=RetrySettings(max=0), hosts=hosts) as fetcher:
            fetcher.fetch(f"{site.url}/a", system="page host")
            fetcher.fetch(f"{other.url}/a", system="page host")
    assert [headers.get("authorization") for _, headers in site.asked] == ["Basic YWRhOnNAY3JldA=="]
    assert [headers.get("authorization") for _, headers in other.asked] == [None]


def test_a_login_for_https_is_never_sent_without_encryption() -> None:
    logins = login_in("https://ada:secret@docs.example.com/sitemap.xml")
    assert logins is not None
    assert login_for("https://www.docs.example.com/a", logins) == ("ada", "secret")
    assert login_for("http://docs.example.com/a", logins) is None
    assert login_for("https://other.example.com/a", logins) is None
