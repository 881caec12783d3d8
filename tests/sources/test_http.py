"""The fetcher against servers that really misbehave."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
import tracemalloc
import zlib

import httpx
import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.http.failures import explain
from ragval_pipeline.sources.http.fetch import HttpFetcher
from ragval_pipeline.sources.site.sitemap.file import fetch_bytes
from ragval_pipeline.suite.sections import RetrySettings
from tests.support.http_host import Answer, raw_server, refused_url, serving

ONCE = RetrySettings(max=0)
QUICK = RetrySettings(max=2, delay_s=0.01, deadline_s=10)


def failure_of(url: str, *, policy: RetrySettings = ONCE, **more) -> SystemFailure:
    with HttpFetcher(policy=policy, timeout_s=5, **more) as fetcher, pytest.raises(SystemFailure) as caught:
        fetcher.fetch(url, system="sitemap")
    return caught.value


def test_an_answer_carries_its_body_its_type_and_the_headers_that_are_judged():
    headers = {"Content-Type": "text/html; charset=utf-8", "X-Robots-Tag": "noindex", "Set-Cookie": "a=b"}
    with serving({"/a": Answer("Grüße", headers=headers)}) as site, HttpFetcher() as fetcher:
        answer = fetcher.fetch(f"{site.url}/a", system="page host")
    assert answer.body.decode() == "Grüße"
    assert (answer.status, answer.ok, answer.attempts) == (200, True, 1)
    assert answer.content_type == "text/html; charset=utf-8"
    assert dict(answer.headers) == {"content-type": "text/html; charset=utf-8", "x-robots-tag": "noindex"}


def test_redirects_are_followed_and_recorded():
    routes = {
        "/a": Answer(status=301, headers={"Location": "/b"}),
        "/b": Answer(status=302, headers={"Location": "{base}/c"}),
        "/c": "here",
    }
    with serving(routes) as site, HttpFetcher() as fetcher:
        answer = fetcher.fetch(f"{site.url}/a", system="page host")
    assert (answer.url, answer.final_url, answer.body) == (f"{site.url}/a", f"{site.url}/c", b"here")


def test_redirects_without_end_are_a_failure():
    with serving({"/a": Answer(status=302, headers={"Location": "/a"})}) as site:
        failure = failure_of(f"{site.url}/a", policy=QUICK)
    assert failure.code == "source.unreachable"
    assert "redirects without end" in failure.problem
    assert len(site.asked) == 11


def test_a_redirect_away_from_http_is_a_failure():
    with serving({"/a": Answer(status=302, headers={"Location": "file:///etc/passwd"})}) as site:
        failure = failure_of(f"{site.url}/a")
    assert failure.code == "source.unreachable"


def test_a_body_that_keeps_coming_may_take_longer_than_the_limit():
    def steady(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 160000\r\n\r\n")
        for _ in range(8):
            connection.sendall(b"x" * 20000)
            over.wait(0.08)

    with raw_server(steady) as site, HttpFetcher(timeout_s=0.3, policy=ONCE) as fetcher:
        assert len(fetcher.fetch(site.url, system="sitemap").body) == 160000


def reset_in_the_middle(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def end_in_the_middle(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")


@pytest.mark.parametrize("talk", [reset_in_the_middle, end_in_the_middle])
def test_a_connection_that_breaks_in_the_middle_is_never_half_an_answer(talk):
    with raw_server(talk) as site:
        failure = failure_of(site.url, policy=QUICK)
    assert failure.problem == "the connection was closed before the answer was complete"
    assert (failure.attempts, len(site.asked)) == (3, 3)


def test_a_500_then_a_200_is_a_success_that_counts_its_tries():
    with (
        serving({"/": [Answer("", 500), Answer("", 503), Answer("well")]}) as site,
        HttpFetcher(policy=QUICK) as fetcher,
    ):
        answer = fetcher.fetch(f"{site.url}/", system="sitemap")
    assert (answer.status, answer.body, answer.attempts) == (200, b"well", 3)


def test_the_wait_that_a_429_asks_for_is_kept():
    busy = Answer("", 429, {"Retry-After": "1"})
    started = time.monotonic()
    with serving({"/": [busy, Answer("well")]}) as site, HttpFetcher(policy=QUICK) as fetcher:
        answer = fetcher.fetch(f"{site.url}/", system="sitemap")
    assert answer.body == b"well"
    assert 0.95 < time.monotonic() - started < 5


def test_a_429_that_asks_for_more_than_the_deadline_is_given_up_at_once():
    started = time.monotonic()
    with serving({"/": Answer("", 429, {"Retry-After": "3600"})}) as site, HttpFetcher(policy=QUICK) as fetcher:
        assert fetcher.fetch(f"{site.url}/", system="sitemap").status == 429
    assert time.monotonic() - started < 5


def test_a_proxy_of_the_environment_is_named_where_it_may_be_to_blame(monkeypatch):
    proxy = refused_url()
    monkeypatch.setenv("HTTP_PROXY", proxy.replace("http://", "http://user:s%40cret@"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    through = failure_of("http://docs.example/sitemap.xml")
    assert "goes through the proxy of HTTP_PROXY" in through.remedy
    assert "cret" not in str(through)
    assert "proxy" not in failure_of(f"{proxy}/sitemap.xml").remedy


def test_parameters_that_look_like_secrets_are_part_of_the_request_and_hidden_where_they_are_shown():
    path = "/a?token=s3cret&author=ada&keyword=k&design=new&X-Amz-Signature=f00"
    with serving({path: "x"}) as site, HttpFetcher() as fetcher:
        answer = fetcher.fetch(f"{site.url}{path}", system="sitemap")
    assert site.paths() == [path]
    assert answer.url == answer.final_url == f"{site.url}{path}"
    failure = failure_of(f"{refused_url()}{path}")
    assert failure.subject.endswith("/a?token=...&author=ada&keyword=k&design=new&X-Amz-Signature=...")


@pytest.mark.parametrize(("status", "words"), [(407, "asks for a login"), (502, "the proxy of HTTP_PROXY")])
def test_an_answer_of_a_proxy_is_told_as_the_proxys(status, words, monkeypatch):
    with serving({"http://docs.example/sitemap.xml": Answer("no", status)}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        with HttpFetcher(policy=ONCE, timeout_s=5) as fetcher, pytest.raises(SystemFailure) as caught:
            fetch_bytes("http://docs.example/sitemap.xml", fetcher)
    assert words in caught.value.problem
    assert str(status) in caught.value.problem


def bombs() -> dict[str, bytes]:
    """Bodies of a few kilobytes that become a hundred megabytes."""
    plain = zlib.compressobj(9)
    raw = zlib.compressobj(9, wbits=-15)
    packed = zlib.compressobj(9, wbits=31)
    blank = bytes(2**20)
    return {
        "gzip": b"".join([*(packed.compress(blank) for _ in range(100)), packed.flush()]),
        "deflate": b"".join([*(plain.compress(blank) for _ in range(100)), plain.flush()]),
        "raw deflate": b"".join([*(raw.compress(blank) for _ in range(100)), raw.flush()]),
    }


@pytest.mark.parametrize("kind", ["gzip", "deflate", "raw deflate"])
def test_a_bomb_is_refused_after_the_limit_and_never_unpacked(kind):
    body = Answer(bombs()[kind], headers={"Content-Encoding": kind.removeprefix("raw ")})
    with serving({"/": body}) as site:
        tracemalloc.start()
        failure = failure_of(f"{site.url}/", max_bytes=2**22)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert "larger than 4 MiB" in failure.problem
    assert most < 2**24


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "unknown"])
def test_encodings_that_no_request_offers_are_refused(encoding):
    with serving({"/": Answer(b"x" * 100, headers={"Content-Encoding": encoding})}) as site:
        failure = failure_of(f"{site.url}/")
    assert (failure.code, failure.problem) == (
        "source.malformed", "the answer's Content-Encoding cannot be decoded",
    )  # fmt: skip


@pytest.mark.parametrize("wbits", [31, 15, -15])
def test_compressed_bodies_are_read_whole_or_refused(wbits):
    packed = zlib.compressobj(wbits=wbits)
    text = b"a page " * 50_000
    body = packed.compress(text) + packed.flush()
    headers = {"Content-Encoding": "gzip" if wbits == 31 else "deflate"}
    with serving({"/": Answer(body, headers=headers), "/cut": Answer(body[:-9], headers=headers)}) as site:
        with HttpFetcher() as fetcher:
            assert fetcher.fetch(f"{site.url}/", system="page host").body == text
        assert failure_of(f"{site.url}/cut").code == "source.malformed"


def test_a_body_without_end_is_cut_off_after_ten_times_the_limit():
    def pour(connection, over):
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not over.wait(0.02):
            connection.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")

    started = time.monotonic()
    with (
        raw_server(pour) as server,
        HttpFetcher(policy=ONCE, timeout_s=0.1) as fetcher,
        pytest.raises(SystemFailure, match="timed out"),
    ):
        fetcher.fetch(server.url, system="page host")
    assert 0.5 < time.monotonic() - started < 5


def test_a_body_over_the_limit_is_refused():
    with serving({"/": b"x" * 3000}) as site:
        failure = failure_of(f"{site.url}/", max_bytes=2**10, policy=QUICK)
    assert failure.code == "source.malformed"
    assert "larger than" in failure.problem
    assert len(site.asked) == 1


@pytest.mark.parametrize("url", ["ftp://x/a", "file:///etc/passwd", "/etc/passwd", "http://", "http://a b/", ""])
def test_only_http_addresses_are_fetched(url):
    failure = failure_of(url, policy=QUICK)
    assert (failure.code, failure.attempts) == ("source.unreachable", 1)
    assert failure.problem == "not an http(s) URL"


def test_a_login_in_the_address_serves_the_host_and_is_never_shown():
    with serving({"/a": "x", "/b": "x"}) as site, HttpFetcher() as fetcher:
        with_login = site.url.replace("http://", "http://user:s%40cret@")
        answer = fetcher.fetch(f"{with_login}/a", system="sitemap")
        fetcher.fetch(f"{site.url}/b", system="sitemap")
    assert [headers.get("authorization") for _, headers in site.asked] == ["Basic dXNlcjpzQGNyZXQ="] * 2
    assert answer.url == answer.final_url == f"{site.url}/a"
    failure = failure_of(refused_url().replace("http://", "http://user:s%40cret@"))
    assert "cret" not in f"{failure} {failure.subject} {failure.details}"


def test_a_login_is_not_sent_to_another_host():
    with (
        serving({"/": "x"}) as other,
        serving({"/a": Answer(status=302, headers={"Location": other.url + "/"})}) as site,
        HttpFetcher() as fetcher,
    ):
        fetcher.fetch(site.url.replace("http://", "http://user:secret@") + "/a", system="sitemap")
    assert "authorization" not in other.asked[0][1]


def test_failures_that_cannot_be_staged_here_have_their_words():
    certificate = ssl.SSLCertVerificationError()
    certificate.verify_message = "certificate has expired"
    told = explain(certificate, timeout_s=1)
    assert (told.problem, told.retry) == ("TLS certificate problem: certificate has expired", False)
    unknown = ConnectionError()
    unknown.__cause__ = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    told = explain(unknown, timeout_s=1)
    assert (told.problem, told.retry) == ("the host name does not resolve", False)
    assert explain(socket.gaierror(socket.EAI_AGAIN, "try again"), timeout_s=1).retry


def test_a_fault_of_our_own_is_not_dressed_up_as_an_unreachable_system():
    def broken(request: httpx.Request) -> httpx.Response:
        raise KeyError("a bug")

    with HttpFetcher(transport=httpx.MockTransport(broken), policy=QUICK) as fetcher, pytest.raises(KeyError):
        fetcher.fetch("http://example.com/", system="sitemap")


def test_a_closed_fetcher_leaves_no_thread_and_stays_closed():
    with serving({"/": "x"}) as site:
        fetcher = HttpFetcher()
        fetcher.fetch(f"{site.url}/", system="sitemap")
        mine = fetcher._connection._thread
        fetcher.close()
        fetcher.close()
        assert not mine.is_alive()
        with pytest.raises(RuntimeError, match="closed"):
            fetcher.fetch(f"{site.url}/", system="sitemap")


@pytest.mark.parametrize("busy", [False, True], ids=["while it waits for an answer", "while it waits to try again"])
def test_closing_ends_a_fetch_in_another_thread_at_once(busy):
    asked = threading.Event()

    def talk(connection: socket.socket, over: threading.Event) -> None:
        asked.set()
        if busy:
            connection.sendall(b"HTTP/1.1 503 Busy\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n")
        over.wait(10)

    ended: list[BaseException] = []

    def fetch() -> None:
        try:
            fetcher.fetch(site.url, system="sitemap")
        except RuntimeError as error:
            ended.append(error)

    with raw_server(talk) as site:
        fetcher = HttpFetcher()
        thread = threading.Thread(target=fetch)
        thread.start()
        assert asked.wait(5)
        fetcher.close()
        thread.join(5)
    assert not thread.is_alive()
    assert "closed" in str(ended[0])
