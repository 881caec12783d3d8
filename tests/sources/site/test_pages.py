"""Pages from a folder and from servers that answer well and badly."""

from __future__ import annotations

import hashlib
import threading
import time
from contextlib import closing
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import pytest
from upath import UPath

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.http.fetch import HttpFetcher
from ragval_pipeline.sources.site.html.document import asks_not_to_be_indexed, decode_html, refresh_target
from ragval_pipeline.sources.site.of_suite import read_pages
from ragval_pipeline.sources.site.page_cache import PageCache
from ragval_pipeline.sources.site.page_reader import PageReader
from ragval_pipeline.sources.site.urls import UrlFolder
from ragval_pipeline.suite.sections import RetrySettings
from tests.support.http_host import Answer, Route, refused_url, serving

HOST = "https://docs.example.com"
HTML = {"Content-Type": "text/html; charset=utf-8"}
ONCE = RetrySettings(max=0)


def page(text: str, head: str = "") -> str:
    return f"<!doctype html><html><head>{head}</head><body>{text}</body></html>"


def site(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(name), encoding="utf-8")
    return root


def from_folder(root: Path, base_path: str | None = None) -> PageReader:
    return PageReader(site_root=root, base_path=base_path, fetcher=None)


def found(reader: PageReader, path: str) -> str | None:
    html = reader.read(HOST + path).html
    return html and html.partition("<body>")[2].partition("</body>")[0]


# ---- from a folder


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("", "index.html"),
        ("/", "index.html"),
        ("/index.html", "index.html"),
        ("/docs/a", "docs/a.html"),
        ("/docs/a/", "docs/a.html"),
        ("/docs/a.html", "docs/a.html"),
        ("/docs/b", "docs/b/index.html"),
        ("/docs/b/", "docs/b/index.html"),
        ("/docs/b.html", "docs/b/index.html"),
        ("/docs/b/index.html?x=1#y", "docs/b/index.html"),
        ("/docs/c", "docs/c"),
        ("/docs/v1.2", "docs/v1.2.html"),
        ("/docs/%C3%A4%20%26", "docs/ä &.html"),
        ("/docs/100%25", "docs/100%.html"),
        ("/docs/both", "docs/both.html"),
        ("/docs/both/", "docs/both/index.html"),
        ("/docs/x/../a", "docs/a.html"),
    ],
)
def test_a_page_is_looked_up_as_it_is_with_html_and_as_a_folder(path, file, tmp_path):
    names = ["index.html", "docs/a.html", "docs/b/index.html", "docs/c", "docs/v1.2.html", "docs/ä &.html"]
    site(tmp_path, *names, "docs/100%.html", "docs/both.html", "docs/both/index.html")
    assert found(from_folder(tmp_path, ""), path) == file


def test_a_file_of_the_folder_carries_its_hash_and_no_status(tmp_path):
    site(tmp_path, "a.html")
    copy = from_folder(tmp_path).read(f"{HOST}/a")
    assert copy.sha256 == hashlib.sha256((tmp_path / "a.html").read_bytes()).hexdigest()
    assert (copy.status, copy.problem, copy.noindex, copy.redirected, copy.last_modified) == (
        None,
        None,
        False,
        False,
        None,
    )
    assert copy.final_url == copy.url == f"{HOST}/a"


def test_an_opaque_id_is_a_page_with_a_problem(tmp_path):
    for reader in (from_folder(site(tmp_path, "a.html")), PageReader(site_root=None, base_path=None, fetcher=None)):
        assert reader.read("doc-17").problem == "not an http(s) URL"
        assert reader.read("file:///etc/passwd").html is None


def test_a_folder_that_is_not_there_is_an_error_of_the_suite(tmp_path):
    with pytest.raises(SuiteError, match=r"source\.site_root"):
        from_folder(tmp_path / "none")


@pytest.mark.parametrize(
    "path",
    [
        "/../secret",
        "/..%2fsecret",
        "/%2e%2e/secret",
        "/%2e%2e%2fsecret.html",
        "/docs/..%2f..%2fsecret",
        "/link",
        "/folder/secret",
        "/..%5csecret",
        "/%00",
        "/a%00.html",
        "/" + "x" * 5000,
        "/loop",
        "//etc/passwd",
        "/%2Fetc%2Fpasswd",
        "/docs",
    ],
)
def test_nothing_outside_the_folder_is_ever_read(path, tmp_path):
    root = site(tmp_path / "site", "docs/a.html")
    (tmp_path / "secret.html").write_text("secret")
    (root / "link.html").symlink_to(tmp_path / "secret.html")
    (root / "folder").symlink_to(tmp_path)
    (root / "loop.html").symlink_to(root / "loop.html")
    for base_path in (None, "", "/docs"):
        reader = from_folder(root, base_path)
        assert reader.read(HOST + path).status == 404
        assert reader.learn_base_path([HOST + path]) == base_path


def test_links_within_the_folder_are_followed(tmp_path):
    site(tmp_path, "a.html")
    (tmp_path / "b.html").symlink_to("a.html")
    assert found(from_folder(tmp_path), "/b") == "a.html"


# ---- base path


def test_a_given_base_path_is_taken_off_when_the_page_is_not_found_with_it(tmp_path):
    site(tmp_path, "index.html", "docs/a.html", "book/b.html")
    for base_path in ("/book", "book/", "/book/"):
        reader = from_folder(tmp_path, base_path)
        assert found(reader, "/book/docs/a") == "docs/a.html"
        assert found(reader, "/book") == found(reader, "/book/") == "index.html"
        assert found(reader, "/book/b") == "book/b.html"
        assert found(reader, "/bookdocs/a") is None


def test_the_base_path_is_learned_from_the_pages(tmp_path):
    site(tmp_path, "index.html", "docs/a.html", "docs/b/index.html")
    reader = from_folder(tmp_path)
    urls = [f"{HOST}/en/book/", f"{HOST}/en/book/docs/a", f"{HOST}/en/book/docs/b/", "doc-17", f"{HOST}/en/book/gone"]
    assert reader.learn_base_path(urls) == "/en/book"
    assert [found(reader, url.removeprefix(HOST)) for url in urls[:3]] == [
        "index.html",
        "docs/a.html",
        "docs/b/index.html",
    ]
    assert found(reader, "/en/book/gone") is None


def test_most_pages_decide_about_the_base_path_and_not_one_that_exists_by_chance(tmp_path):
    site(tmp_path, "intro.html", "docs/a.html", "docs/b.html")
    reader = from_folder(tmp_path)
    urls = [f"{HOST}/docs/intro", f"{HOST}/docs/a", f"{HOST}/docs/b"]
    assert reader.learn_base_path(urls) == ""
    assert found(reader, "/docs/intro") is None


def test_without_learning_the_first_page_found_settles_the_base_path(tmp_path):
    site(tmp_path, "intro.html", "docs/a.html")
    reader = from_folder(tmp_path)
    assert found(reader, "/docs/a") == "docs/a.html"
    assert found(reader, "/docs/intro") is None
    reader = from_folder(tmp_path)
    assert found(reader, "/book/docs/a") == "docs/a.html"
    assert found(reader, "/book/intro") == "intro.html"


def test_the_home_page_is_never_used_for_a_missing_one(tmp_path):
    reader = from_folder(site(tmp_path, "index.html"))
    assert found(reader, "/docs/gone") is None
    assert reader.learn_base_path([f"{HOST}/docs/gone"]) is None


# ---- what a page says about itself


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("é".encode(), "", "é"),
        (b"\xef\xbb\xbf\xc3\xa9", "text/html; charset=latin-1", "é"),
        ("é".encode("utf-16"), "", "é"),
        (b"\xe9\x80", "text/html; charset=ISO-8859-1", "é€"),
        (b'<meta charset="windows-1252">\xe9', "", '<meta charset="windows-1252">é'),
        (b"<meta http-equiv=content-type content='text/html; charset=iso-8859-1'>\xe9", "", None),
        (b"<meta charset=utf-16>\xc3\xa9", "", "<meta charset=utf-16>é"),
        (b"<meta charset=utf-8>\xe9", "text/html; charset=latin1", "<meta charset=utf-8>é"),
        (b"a\xe9b", "", "aéb"),
        ("ééé".encode() + b"\xe9", "", "ééé\ufffd"),
        ("é".encode(), "text/html; charset=rot13", "é"),
        ("é".encode(), "text/html; charset=klingon", "é"),
        (b"", "", ""),
    ],
)
def test_a_page_is_decoded_as_a_browser_does(body, content_type, text):
    decoded = decode_html(body, content_type=content_type)
    assert decoded == text if text is not None else decoded.endswith("é")


@pytest.mark.parametrize(
    ("head", "header", "expected"),
    [
        ('<meta name="robots" content="noindex">', "", True),
        ('<META NAME="ROBOTS" CONTENT="follow, NoIndex">', "", True),
        ('<meta name="robots" content="none">', "", True),
        ('<meta name="robots" content="index, nofollow">', "", False),
        ('<meta name="description" content="robots: noindex">', "", False),
        ('<noscript><meta name="robots" content="noindex"></noscript>', "", False),
        ('<!-- <meta name="robots" content="noindex"> -->', "", False),
        ("", "noindex", True),
        ("", "unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", True),
        ("", "googlebot: noindex", False),
        ("", "all", False),
    ],
)
def test_noindex_is_read_from_meta_and_header(head, header, expected):
    assert asks_not_to_be_indexed(page("", head), header=header) is expected


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/docs/new", f"{HOST}/docs/new"),
        ("0;URL='../new'", f"{HOST}/new"),
        ('5, url="new"', f"{HOST}/docs/new"),
        ("0; https://x.org/a", "https://x.org/a"),
        ("60", None),
        ("60;", None),
        ("", None),
        ("0; url=", None),
    ],
)
def test_a_meta_refresh_names_its_target(content, target):
    html = page("", f'<meta http-equiv="Refresh" content="{escape(content)}">')
    assert refresh_target(html, base=f"{HOST}/docs/old") == target


def test_the_target_of_a_meta_refresh_begins_at_the_base_of_its_page():
    html = page("", '<base href="/book/"><meta http-equiv="refresh" content="0; url=new">')
    assert refresh_target(html, base=f"{HOST}/docs/old") == f"{HOST}/book/new"


def test_a_page_that_sends_on_is_redirected_and_one_that_reloads_itself_is_not(tmp_path):
    (tmp_path / "old.html").write_text(page("", '<meta http-equiv="refresh" content="0; url=/docs/new">'))
    (tmp_path / "live.html").write_text(page("", '<meta http-equiv="refresh" content="60">'))
    (tmp_path / "self.html").write_text(page("", '<meta http-equiv="refresh" content="0; url=/self/">'))
    reader = from_folder(tmp_path)
    old = reader.read(f"{HOST}/old")
    assert (old.redirected, old.final_url) == (True, f"{HOST}/docs/new")
    assert (old.target_key, reader.read(f"{HOST}/live").target_key) == (f"{HOST}/docs/new", None)
    assert not reader.read(f"{HOST}/live").redirected
    assert not reader.read(f"{HOST}/self").redirected


# ---- over http


def fetched(routes: dict[str, Route], *paths: str, **options):
    with serving(routes) as server, HttpFetcher(policy=ONCE, timeout_s=2) as fetcher:
        reader = PageReader(site_root=None, base_path=None, fetcher=fetcher, **options)
        return [reader.read(server.url + path) for path in paths], server


def test_a_page_is_fetched_with_its_signals():
    headers = HTML | {"Last-Modified": "Wed, 01 Jan 2025 10:00:00 GMT", "X-Robots-Tag": "noindex"}
    (copy,), _ = fetched({"/a": Answer(page("Grüße"), headers=headers)}, "/a")
    assert (copy.status, copy.problem, copy.noindex, copy.redirected) == (200, None, True, False)
    assert copy.html is not None
    assert "Grüße" in copy.html
    assert copy.sha256 == hashlib.sha256(page("Grüße").encode()).hexdigest()
    assert copy.last_modified == datetime(2025, 1, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("status", [404, 410, 403, 500])
def test_a_page_with_another_status_has_a_problem_and_no_text(status):
    (well, copy), _ = fetched({"/a": Answer(page("x"), headers=HTML), "/b": Answer(page("no"), status)}, "/a", "/b")
    assert well.problem is None
    assert (copy.status, copy.html, copy.sha256) == (status, None, None)
    assert copy.problem == f"the server answered with status {status}"


def test_a_response_that_is_not_a_web_page_has_a_problem():
    (copy, typeless), _ = fetched(
        {"/a.pdf": Answer(b"%PDF", headers={"Content-Type": "application/pdf"}), "/b": "x"}, "/a.pdf", "/b"
    )
    assert copy.problem == "the server sent application/pdf, not a web page"
    assert typeless.html == "x"


def test_a_redirect_to_another_page_is_distinguished_from_one_to_a_variant_of_the_address():
    routes = {
        "/old": Answer(status=301, headers={"Location": "/new"}),
        "/new": Answer(status=302, headers={"Location": "/new/"}),
        "/new/": page("new"),
    }
    (old, new), server = fetched(routes, "/old", "/new")
    assert (old.redirected, old.final_url) == (True, f"{server.url}/new/")
    assert (new.redirected, new.final_url) == (False, f"{server.url}/new/")


def test_a_redirect_to_an_alias_of_the_site_is_no_other_page():
    with (
        serving({"/a": page("here")}) as other,
        serving({"/a": Answer(status=301, headers={"Location": f"{other.url}/a"})}) as server,
    ):
        folder = UrlFolder(site_host=server.url, host_aliases=[other.url])
        with HttpFetcher(policy=ONCE) as fetcher:
            plain = PageReader(site_root=None, base_path=None, fetcher=fetcher)
            knowing = PageReader(site_root=None, base_path=None, fetcher=fetcher, folder=folder)
            assert plain.read(f"{server.url}/a").redirected
            assert not knowing.read(f"{server.url}/a").redirected


def test_one_page_that_hangs_is_a_problem_of_that_page_and_three_in_a_row_are_the_host():
    release = threading.Event()

    def hang() -> Answer:
        release.wait(5)
        return Answer()

    with serving({"/a": page("x"), "/slow": hang}) as server, HttpFetcher(policy=ONCE, timeout_s=0.2) as fetcher:
        reader = PageReader(site_root=None, base_path=None, fetcher=fetcher)
        assert reader.read(f"{server.url}/a").problem is None
        for path in ("/slow", "/slow", "/a", "/slow", "/slow"):
            assert reader.read(server.url + path).problem == (None if path == "/a" else "timed out after 0.2 s")
        with pytest.raises(SystemFailure):
            reader.read(f"{server.url}/slow")
        release.set()


def test_a_page_too_large_is_a_problem_of_that_page():
    with serving({"/a": "x" * 5000}) as server, HttpFetcher(policy=ONCE, max_bytes=1000) as fetcher:
        copy = PageReader(site_root=None, base_path=None, fetcher=fetcher).read(f"{server.url}/a")
    assert "larger than" in (copy.problem or "")


class Revised:
    """A page that answers 304 to whoever has its present state; ``state`` changes it."""

    def __init__(self, validator: str) -> None:
        self.validator, self.state = validator, "1"

    def answer(self, asked: dict[str, str]) -> Answer:
        value = f'"{self.state}"' if self.validator == "ETag" else f"Wed, 0{self.state} Jan 2025 10:00:00 GMT"
        wanted = asked.get("if-none-match" if self.validator == "ETag" else "if-modified-since")
        headers = HTML | {self.validator: value, "X-Robots-Tag": "noindex"}
        return (
            Answer("", 304, {self.validator: value}) if wanted == value else Answer(page(self.state), headers=headers)
        )


@pytest.mark.parametrize("validator", ["ETag", "Last-Modified"])
def test_a_page_that_did_not_change_is_not_sent_again(tmp_path, validator):
    revised, sent = Revised(validator), []

    def answer() -> Answer:
        sent.append(revised.answer(server.asked[-1][1]))
        return sent[-1]

    def run(name: str):
        cache = PageCache(UPath(tmp_path / "cache.parquet"), UPath(tmp_path / name / "draft.parquet"))
        with closing(cache), HttpFetcher(policy=ONCE) as fetcher:
            reader = PageReader(site_root=None, base_path=None, fetcher=fetcher, cache=cache)
            copies = [reader.read(server.url + path) for path in ("/a", "/plain")]
            cache.keep()
        return copies

    with serving({"/a": answer, "/plain": Answer(page("no validator"), headers=HTML)}) as server:
        first, second = run("one"), run("two")
        revised.state = "2"
        third, fourth = run("three"), run("four")
    assert [entry.status for entry in sent] == [200, 304, 200, 304]
    assert first == second
    assert third == fourth
    assert first[0].sha256 != third[0].sha256
    assert all(copies[0].noindex and copies[1].problem is None for copies in (first, second, third, fourth))


@pytest.mark.parametrize("spoilt", [b"", b"PAR1 nothing", None])
def test_a_cache_that_cannot_be_read_is_as_good_as_none(tmp_path, spoilt):
    file = tmp_path / "cache.parquet"
    file.mkdir() if spoilt is None else file.write_bytes(spoilt)
    with (
        serving({"/a": Answer(page("x"), headers=HTML | {"ETag": "1"})}) as server,
        HttpFetcher(policy=ONCE) as fetcher,
    ):
        cache = PageCache(UPath(file), UPath(tmp_path / "draft.parquet"))
        reader = PageReader(site_root=None, base_path=None, fetcher=fetcher, cache=cache)
        assert reader.read(f"{server.url}/a").problem is None
        cache.keep()
        cache.close()
    assert not (tmp_path / "draft.parquet").exists()


def test_what_must_not_be_stored_or_cannot_be_asked_about_is_not_kept(tmp_path):
    routes = {
        "/secret": Answer(page("x"), headers=HTML | {"ETag": "1", "Cache-Control": "private, no-store"}),
        "/gone": Answer("", 410, {"ETag": "1"}),
        "/plain": Answer(page("x"), headers=HTML),
    }
    with serving(routes) as server, HttpFetcher(policy=ONCE) as fetcher:
        cache = PageCache(UPath(tmp_path / "cache.parquet"), UPath(tmp_path / "draft.parquet"))
        reader = PageReader(site_root=None, base_path=None, fetcher=fetcher, cache=cache)
        for path in routes:
            reader.read(server.url + path)
        cache.keep()
        cache.close()
    assert list(tmp_path.iterdir()) == []


# ---- many pages


def test_pages_come_in_order_from_both_kinds_of_source_with_progress(tmp_path):
    names = [f"p{n:02}" for n in range(30)]
    site(tmp_path, *(f"{name}.html" for name in names))
    seen: list[tuple[int, int]] = []
    copies = list(read_pages([f"{HOST}/book/{name}" for name in names], from_folder(tmp_path), max_pages=100))
    assert [copy.html and copy.html[-40:-20] for copy in copies] == [page(f"{name}.html")[-40:-20] for name in names]
    with serving({f"/{name}": page(name) for name in names}) as server, HttpFetcher(policy=ONCE) as fetcher:
        reader = PageReader(site_root=None, base_path=None, fetcher=fetcher)
        urls = [f"{server.url}/{name}" for name in names]
        fetched_copies = list(read_pages(urls, reader, max_pages=100, on_progress=lambda *at: seen.append(at)))
    assert [copy.url for copy in fetched_copies] == urls
    assert all(copy.html for copy in fetched_copies)
    assert seen == [(n, 30) for n in range(1, 31)]


def test_a_host_of_few_pages_that_is_down_leaves_the_pages_of_the_others_readable():
    names = [f"p{n:02}" for n in range(18)]
    with serving({f"/{name}": page(name) for name in names}) as server, HttpFetcher(policy=ONCE) as fetcher:
        reader = PageReader(site_root=None, base_path=None, fetcher=fetcher)
        down = refused_url()
        urls = [f"{down}/a", *[f"{server.url}/{name}" for name in names], f"{down}/b"]
        copies = list(read_pages(urls, reader, max_pages=100, min_readable=0.9))
        assert [copy.url for copy in copies if copy.host_failed] == [f"{down}/a", f"{down}/b"]
        with pytest.raises(SystemFailure):
            list(read_pages(urls, reader, max_pages=100, min_readable=0.95))


def test_no_more_pages_are_read_than_allowed_and_the_rest_is_logged(tmp_path, caplog):
    site(tmp_path, "a.html", "b.html", "c.html")
    urls = [f"{HOST}/{name}" for name in "abc"]
    assert [copy.url for copy in read_pages(urls, from_folder(tmp_path), max_pages=2)] == urls[:2]
    assert "2 of 3 pages are read" in caplog.text


def test_a_reader_that_is_left_early_leaves_nothing_running():
    with serving({f"/{n}": page(str(n)) for n in range(50)}) as server:
        with HttpFetcher(policy=ONCE) as fetcher:
            reader = PageReader(site_root=None, base_path=None, fetcher=fetcher)
            pages = read_pages([f"{server.url}/{n}" for n in range(50)], reader, max_pages=50)
            assert next(pages).problem is None
            pages.close()
        deadline = time.monotonic() + 5
        while any(t.name.startswith("ragval-pages") for t in threading.enumerate()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(server.asked) < 20
