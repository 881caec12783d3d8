"""A redirect or a sitemap must not lead a run to hosts that its suite does not name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.http import hosts as http_hosts
from ragval_pipeline.sources.http.fetch import HttpFetcher
from ragval_pipeline.sources.http.hosts import hosts_of
from ragval_pipeline.sources.site.page_reader import PageReader
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


def test_a_name_that_resolves_to_another_address_when_it_is_asked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server of an attacker answers the check with a public address and the connection with a private one."""

    async def public(host: str) -> list[str]:
        return ["93.184.215.14"]

    monkeypatch.setattr(http_hosts, "_addresses", public)
    with serving({"/a": PAGE}) as inner:
        source = SourceSettings(sitemap="https://docs.example.com/sitemap.xml")
        with HttpFetcher(policy=RetrySettings(max=0), hosts=hosts_of(source)) as fetcher:
            copy = PageReader(site_root=None, base_path=None, fetcher=fetcher).read(f"{by_name(inner)}/a")
    assert copy.html is None
    assert "is a private address that is not in the suite" in str(copy.problem)
