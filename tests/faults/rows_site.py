"""Faults of the site: a sitemap or pages that do not come, or come as something else."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.faults.fault import Fault
from tests.faults.stage import Stage
from tests.support.http_host import Answer, Route, raw_server, refused_url

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
XXE = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
)


def answering(*answers: Any, **routes: Route) -> Callable[[Stage], Any]:
    """A sitemap that answers so."""
    return lambda stage: stage.site({"/sitemap.xml": answers[0] if len(answers) == 1 else list(answers), **routes})


def at(url: str) -> Callable[[Stage], Any]:
    """A sitemap at another address."""
    return lambda stage: stage.edit(source={"sitemap": url, "timeout_s": 1, "site_root": None})


def file(content: str | bytes) -> Callable[[Stage], Any]:
    """A sitemap file of other content."""
    return lambda stage: stage.write("site/sitemap.xml", content)


def spaces(mebibytes: int) -> Callable[[Stage], Any]:
    """A gzipped sitemap file of nothing but spaces; made when it is asked for, which takes seconds."""
    return lambda stage: file(gzip.compress(b" " * mebibytes * 2**20, 9))(stage)


def talking(talk: Callable[[socket.socket, threading.Event], None]) -> Callable[[Stage], Any]:
    """A sitemap host that speaks no HTTP, or not to its end."""
    return lambda stage: at(f"{stage.stack.enter_context(raw_server(talk)).url}/sitemap.xml")(stage)


def drip(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not over.wait(0.2):
        connection.sendall(b"X-A: b\r\n")


def hang(connection: socket.socket, over: threading.Event) -> None:
    over.wait(30)


def half(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n<urlset>")


def noise(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"\x00\x01\x02 this is no HTTP\r\n\r\n")


def urlset(*urls: str) -> str:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'<?xml version="1.0"?><urlset {NS}>{entries}</urlset>'


def index(*urls: str) -> str:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f'<?xml version="1.0"?><sitemapindex {NS}>{entries}</sitemapindex>'


def pages(status: int, well: int = 0, **more: Any) -> Callable[[Stage], Any]:
    """A site whose pages, but for the first ``well``, answer with a status; 0: HTML without text."""

    def inject(stage: Stage) -> None:
        site = stage.site()
        bad = Answer(
            "<html><body><div id=root></div></body></html>", status or 200, {"Content-Type": "text/html", **more}
        )
        names = sorted(name for name in site.routes if name.startswith("/docs"))
        kept = {name.rstrip("/") for name in sorted({name.rstrip("/") for name in names})[:well]}
        site.routes.update({name: bad for name in names if name.rstrip("/") not in kept})

    return inject


def passing(status: int, times: int = 2) -> Callable[[Stage], Any]:
    """A sitemap that is well after so many refusals; two more tries are made."""

    def inject(stage: Stage) -> None:
        site = stage.site()
        site.routes["/sitemap.xml"] = [*([Answer("", status)] * times), site.routes["/sitemap.xml"]]
        stage.edit(retry={"max": 2})

    return inject


def large(megabytes: float) -> Callable[[Stage], Any]:
    """A page of so many million bytes of nested and plain markup."""

    def inject(stage: Stage) -> None:
        site = stage.site()
        path = sorted(name for name in site.routes if name.startswith("/docs"))[-1].rstrip("/")
        body = (
            "<html><body>"
            + "<div><p>Some <b>words</b> of a page.</p></div>" * int(megabytes * 21_700)
            + "</body></html>"
        )
        site.routes[path] = site.routes[f"{path}/"] = Answer(body.encode(), headers={"Content-Type": "text/html"})

    return inject


fails = partial(Fault, where="sitemap", code=3, verdict="error")
unfit = partial(Fault, where="pages", only="coverage,integrity")

ROWS = [
    fails("nothing listens", inject=lambda stage: at(f"{refused_url()}/sitemap.xml")(stage), words="connection refused"),
    fails("a name that does not resolve", inject=at("http://no-such-host.invalid/sitemap.xml"), words="does not resolve"),
    *(fails(f"status {status}", inject=answering(Answer("no", status)), words=f"{status}", slow=status not in {403, 404, 503})
      for status in (401, 403, 404, 410, 429, 500, 502, 503)),
    fails("an answer that never comes", inject=talking(hang), words="timed out"),
    fails("headers that drip", inject=talking(drip), words="timed out"),
    fails("half a body", inject=talking(half), words="connection was closed"),
    fails("something that is no HTTP", inject=talking(noise), words="connection was closed|connection", slow=True),
    fails("TLS where none is spoken", inject=lambda stage: at(
        stage.site().url.replace("http:", "https:") + "/sitemap.xml")(stage), words="TLS"),
    fails("HTML", inject=answering("<!doctype html><html><body>Sign in</body></html>"), words="HTML"),
    fails("nothing", inject=answering(""), words="source.malformed|source.empty", slow=True),
    fails("JSON", inject=answering('{"urls": []}'), words="source.malformed", slow=True),
    fails("XML of another kind", inject=answering("<rss><channel/></rss>"), words="source.malformed", slow=True),
    fails("a document type", inject=answering(f'<?xml version="1.0"?>{XXE}<urlset>&e;</urlset>'), words="source.malformed", slow=True),
    fails("a bomb of entities", inject=answering(f'<?xml version="1.0"?>{BOMB}]><urlset>&j;</urlset>'),
          words="source.malformed"),
    fails("half a file", inject=file(urlset("https://a.b/c")[:80]), words="source.malformed"),
    fails("a gzip that ends early", inject=file(gzip.compress(urlset("https://a.b/c").encode() * 50)[:60]),
          words="source.malformed"),
    fails("a gzip of 1 GB", inject=spaces(1024), words="source.malformed|larger", seconds=12, slow=True),
    fails("an encoding that it has not", inject=answering(Answer(b"this is no gzip at all" * 9, headers={"Content-Encoding": "gzip"})),
          words="Content-Encoding", slow=True),
    fails("a redirect in a circle", inject=answering(Answer("", 302, {"Location": "/sitemap.xml"})), words="without end"),
    fails("a redirect to another host", inject=answering(Answer("", 302, {"Location": "http://127.0.0.2:9/x"})),
          words="not in the suite"),
    fails("a redirect to a file", inject=answering(Answer("", 302, {"Location": "file:///etc/passwd"})),
          words="http", slow=True),
    Fault("an index of itself", "sitemap", answering(index("{base}/sitemap.xml")), 1, "fail", "source.empty"),
    fails("an index of one that is gone", inject=answering(index("{base}/gone.xml")), words="404", slow=True),
    fails("an index that leads to other hosts", inject=answering(index("http://169.254.169.254/latest/meta-data")),
          words="points to another host"),
    Fault("no pages in scope", "sitemap", lambda stage: stage.edit(source={"include": ["/x/**"]}), 1, "fail",
          "source.empty"),
    Fault("an empty set", "sitemap", file(urlset()), 1, "fail", "source.empty", slow=True),
    Fault("a 503 that passes", "sitemap", passing(503), 0, "pass", "Writing the report"),
    Fault("a 429 that passes", "sitemap", passing(429), 0, "pass", "Writing the report", slow=True),
    fails("a 503 that passes too late", inject=passing(503, times=3), words="503", slow=True),
    unfit("a page of 54 MB", inject=large(54), code=0, verdict="pass", words="larger than 8 MiB", mib=400, slow=True),
    unfit("a page just under 8 MiB", inject=large(8.3), code=1, verdict="fail", words="integrity.gone", seconds=20, mib=700, slow=True),
    unfit("503 for all but 4", inject=pages(503, 4), code=3, verdict="error", words="source.unreachable"),
    unfit("503 for all", inject=pages(503), code=3, verdict="error", words="refusal|source.unreachable"),
    unfit("401 for all", inject=pages(401), code=3, verdict="error", words="public|source.unreachable", slow=True),
    unfit("404 for all", inject=pages(404), code=1, verdict="fail", words="integrity.page_unreadable|source"),
    unfit("no text on all but 4", inject=pages(0, 4), code=4, verdict="not_measured", words="min_readable"),
]  # fmt: skip
