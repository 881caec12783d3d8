"""Sitemaps in every legal shape, and in the shapes that must never pass for one."""

from __future__ import annotations

import gzip
import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.http.fetch import HttpFetcher
from ragval_pipeline.sources.site.inventory import parse_lastmod
from ragval_pipeline.sources.site.sitemap import reader
from ragval_pipeline.sources.site.sitemap.file import parse_sitemap, unpacked
from ragval_pipeline.sources.site.sitemap.reader import read_sitemap
from ragval_pipeline.suite.sections import RetrySettings
from tests.support.http_host import Answer, Route, serving

SITEMAPS_ORG = "http://www.sitemaps.org/schemas/sitemap/0.9"
HTML = "<!DOCTYPE html>\n<html><head><title>Book</title></head><body>Sign in</body></html>"
HOST = "https://docs.example.com"


def urlset(*paths: str, host: str = HOST, lastmod: str | None = None) -> str:
    stamp = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    rows = "".join(f"<url><loc>{host}{path}</loc>{stamp}</url>\n" for path in paths)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{SITEMAPS_ORG}">\n{rows}</urlset>'


def index(*locs: str) -> str:
    rows = "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs)
    return f'<?xml version="1.0"?><sitemapindex xmlns="{SITEMAPS_ORG}">{rows}</sitemapindex>'


def listed(text: str | bytes, folder: Path, name: str = "sitemap.xml"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_sitemap(path, fetcher=None)


def failure_in(text: str | bytes, folder: Path) -> SystemFailure:
    with pytest.raises(SystemFailure) as caught:
        listed(text, folder)
    return caught.value


def read_from(routes: dict[str, Route], path: str = "/sitemap.xml"):
    with serving(routes) as site, HttpFetcher(policy=RetrySettings(max=1, delay_s=0.01)) as fetcher:
        return read_sitemap(site.url + path, fetcher=fetcher), site


def failure_from(routes: dict[str, Route], path: str = "/sitemap.xml") -> SystemFailure:
    with pytest.raises(SystemFailure) as caught:
        read_from(routes, path)
    return caught.value


# ---- one file


def test_a_sitemap_file_lists_its_pages_in_order_with_lastmod_and_host(tmp_path):
    listing = listed(urlset("/b", "/a/", lastmod="2025-01-02"), tmp_path)
    assert [entry.url for entry in listing.entries] == [f"{HOST}/b", f"{HOST}/a/"]
    assert {entry.lastmod for entry in listing.entries} == {"2025-01-02"}
    assert {entry.sitemap for entry in listing.entries} == {str(tmp_path / "sitemap.xml")}
    assert listing.site_host == "docs.example.com"


def test_a_page_listed_twice_counts_once(tmp_path):
    listing = listed(urlset("/a", "/b", "/a", "/a"), tmp_path)
    assert [entry.url for entry in listing.entries] == [f"{HOST}/a", f"{HOST}/b"]


def test_blanks_and_cdata_around_an_address_are_trimmed(tmp_path):
    text = "<urlset><url><loc>\n  <![CDATA[ https://x.org/a?b=1&c=2 ]]>\n</loc><lastmod> 2025 </lastmod></url></urlset>"
    entry = listed(text, tmp_path).entries[0]
    assert (entry.url, entry.lastmod) == ("https://x.org/a?b=1&c=2", "2025")


@pytest.mark.parametrize(
    "text",
    [
        "<urlset><url><loc>https://x.org/a</loc></url></urlset>",
        '<urlset xmlns="http://www.google.com/schemas/sitemap/0.84"><url><loc>https://x.org/a</loc></url></urlset>',
        f'<s:urlset xmlns:s="{SITEMAPS_ORG}"><s:url><s:loc>https://x.org/a</s:loc></s:url></s:urlset>',
        '<?xml version="1.0"?><?xml-stylesheet href="a.xsl"?><!-- made by --><urlset><url><loc>https://x.org/a</loc></url></urlset>',
    ],
    ids=["no namespace", "old namespace", "prefix", "stylesheet and comment"],
)
def test_any_namespace_will_do(text, tmp_path):
    assert [entry.url for entry in listed(text, tmp_path).entries] == ["https://x.org/a"]


def test_addresses_of_images_videos_and_news_are_not_pages(tmp_path):
    text = f"""<urlset xmlns="{SITEMAPS_ORG}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
      xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"><url>
      <image:image><image:loc>https://x.org/a.png</image:loc><image:lastmod>1999</image:lastmod></image:image>
      <loc>https://x.org/a</loc><image:loc>https://x.org/b.png</image:loc>
      <video:video><video:player_loc>https://x.org/v</video:player_loc><loc>https://x.org/v2</loc></video:video>
      <image xmlns="http://www.google.com/schemas/sitemap-image/1.1"><loc>https://x.org/c.png</loc></image>
      <loc xmlns="http://www.google.com/schemas/sitemap-image/1.1">https://x.org/d.png</loc>
      <news:news><news:loc>https://x.org/n</news:loc></news:news>
      </url></urlset>"""
    assert [(entry.url, entry.lastmod) for entry in listed(text, tmp_path).entries] == [("https://x.org/a", None)]


def test_a_url_without_an_address_is_skipped(tmp_path):
    text = "<urlset><url><lastmod>2025</lastmod></url><url><loc> </loc></url><url><loc>https://x.org/a</loc></url></urlset>"
    listing = listed(text, tmp_path)
    assert [(entry.url, entry.lastmod) for entry in listing.entries] == [("https://x.org/a", None)]


def test_pages_without_a_host_are_a_fault_of_the_sitemap_and_no_missing_pages(tmp_path):
    failure = failure_in(urlset("/a/", "/b", host=""), tmp_path)
    assert (failure.code, failure.details["line"]) == ("source.malformed", 3)
    assert "<loc>/a/</loc>" in str(failure)
    assert "baseURL" in failure.remedy


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_the_declared_encoding_is_honoured(encoding, tmp_path):
    name = "utf-8" if encoding == "utf-8-sig" else encoding
    text = f'<?xml version="1.0" encoding="{name}"?><urlset><url><loc>https://x.org/é</loc></url></urlset>'
    assert listed(text.encode(encoding), tmp_path).entries[0].url == "https://x.org/é"


def test_a_text_sitemap_has_one_address_a_line(tmp_path):
    listing = listed("\ufeffhttps://x.org/a\r\n\r\nhttps://x.org/b", tmp_path, "sitemap.txt")
    assert [entry.url for entry in listing.entries] == ["https://x.org/a", "https://x.org/b"]
    failure = failure_in("https://x.org/a\nnonsense here\n", tmp_path)
    assert (failure.code, failure.details["line"]) == ("source.malformed", 2)


def test_the_site_host_is_the_most_frequent_one(tmp_path):
    text = urlset("https://a.org/1", "https://B.org:443/1", "https://b.org/2", "opaque", host="")
    assert listed(text, tmp_path).site_host == "b.org"


# ---- gzip


def test_gzip_is_known_by_its_bytes_and_not_by_its_name(tmp_path):
    packed = gzip.compress(urlset("/a", "/b").encode())
    assert len(listed(packed, tmp_path, "sitemap.xml").entries) == 2
    assert len(listed(urlset("/a"), tmp_path, "sitemap.xml.gz").entries) == 1


def test_gzip_of_several_members_and_padding_is_one_file(tmp_path):
    text = urlset("/a", "/b").encode()
    packed = gzip.compress(text[:50]) + gzip.compress(text[50:]) + b"\0" * 10
    assert len(listed(packed, tmp_path).entries) == 2


def test_a_gzip_bomb_is_stopped_at_the_limit():
    bomb = gzip.compress(b"<urlset>" + b" " * 2**24)
    with pytest.raises(SystemFailure) as caught:
        unpacked(bomb, location="sitemap.xml.gz", max_bytes=2**20)
    assert caught.value.code == "source.malformed"
    assert "more than 1 MiB unpacked" in caught.value.problem
    assert unpacked(gzip.compress(b"x" * 2**20), location="", max_bytes=2**20) == b"x" * 2**20


# ---- what is no sitemap


@pytest.mark.parametrize("cut", range(1, 150, 7))
def test_no_cut_passes_for_a_whole_sitemap(cut, tmp_path):
    text = urlset("/a", "/b").encode()
    assert failure_in(text[: len(text) - cut], tmp_path).code == "source.malformed"


BOMB = """<?xml version="1.0"?>
<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<urlset><url><loc>https://x.org/&b;</loc></url></urlset>"""
XXE = '<!DOCTYPE urlset [<!ENTITY a SYSTEM "file:///etc/passwd">]><urlset><url><loc>&a;</loc></url></urlset>'


@pytest.mark.parametrize("text", [BOMB, XXE, "<!DOCTYPE urlset>" + urlset("/a").split("\n", 1)[1]])
def test_a_doctype_is_refused_before_anything_is_expanded(text, tmp_path):
    failure = failure_in(text, tmp_path)
    assert failure.code == "source.malformed"
    assert "DOCTYPE" in failure.problem
    assert failure.details["line"] == (2 if text is BOMB else 1)


@pytest.mark.parametrize(
    "text",
    [
        HTML,
        "\ufeff\n <html><body>x",
        f"<!-- app -->{HTML}",
        '<?xml version="1.0"?><!DOCTYPE html PUBLIC "x" "y"><html/>',
    ],
)
def test_an_html_page_is_called_one_and_the_remedy_says_where_to_point(text, tmp_path):
    failure = failure_in(text, tmp_path)
    assert (failure.code, failure.problem) == ("source.malformed", "this is an HTML page, not a sitemap")
    assert "sitemap.xml itself" in failure.remedy


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \n ", "empty"),
        ("<rss version='2.0'><channel/></rss>", "<rss> document"),
        ('{"error": "no"}', "neither XML nor a list"),
        (b"\x89PNG\r\n\x1a\n\0\0", "neither XML nor a list"),
        ("<urlset>" + "<a>" * 40, "levels"),
        ('<?xml version="1.0" encoding="klingon"?><urlset/>', "encoding"),
        ('<?xml version="1.0" encoding="shift_jis"?><urlset/>', "encoding"),
        ("<urlset><url><loc>https://x.org/&nbsp;</loc></url></urlset>", "undefined entity"),
        (urlset("/a") + urlset("/b"), "broken XML"),
    ],
)
def test_another_kind_of_file_is_an_error_that_says_what_it_is(text, says, tmp_path):
    failure = failure_in(text, tmp_path)
    assert failure.code == "source.malformed"
    assert says in failure.problem
    assert "\n" not in str(failure)


def test_more_pages_than_the_limit_are_an_error_and_not_a_shorter_list():
    with pytest.raises(SystemFailure, match="more than 2 entries"):
        parse_sitemap(urlset("/a", "/b", "/c").encode(), location="x", max_entries=2)
    assert len(parse_sitemap(urlset("/a", "/b").encode(), location="x", max_entries=2).entries) == 2


# ---- over http


def test_an_address_that_is_none_is_not_taken_for_a_file():
    with HttpFetcher(policy=RetrySettings(max=0)) as fetcher, pytest.raises(SystemFailure, match=r"not an http\(s\)"):
        read_sitemap("ftp://x.org/sitemap.xml", fetcher=fetcher)


def test_a_root_address_means_the_sitemaps_that_robots_declares():
    robots = (
        "User-agent: *\nDisallow: /x\n  sitemap : /one.xml \nSitemap: {base}/two.xml # comment\n# Sitemap: /no.xml\n"
    )
    routes = {"/robots.txt": robots, "/one.xml": urlset("/1"), "/two.xml": urlset("/2")}
    for root in ("", "/"):
        listing, site = read_from(routes, root)
        assert [entry.url for entry in listing.entries] == [f"{HOST}/1", f"{HOST}/2"]
        assert site.paths() == ["/robots.txt", "/one.xml", "/two.xml"]
        assert listing.location == site.url + root


@pytest.mark.parametrize("robots", [Answer("", 404), "User-agent: *\n", HTML])
def test_a_root_address_means_sitemap_xml_when_robots_declares_none(robots):
    listing, site = read_from({"/robots.txt": robots, "/sitemap.xml": urlset("/a")}, "/")
    assert len(listing.entries) == 1
    assert site.paths() == ["/robots.txt", "/sitemap.xml"]


def test_the_address_of_a_site_in_a_folder_means_the_sitemap_there():
    listing, site = read_from({"/project/": HTML, "/project/sitemap.xml": urlset("/project/a")}, "/project/")
    assert [entry.url for entry in listing.entries] == [f"{HOST}/project/a"]
    assert "/robots.txt" not in site.paths()
    assert listing.location == f"{site.url}/project/"


def test_a_sitemap_whose_own_address_ends_with_a_slash_is_read():
    listing, _ = read_from({"/sitemap/": urlset("/a")}, "/sitemap/")
    assert len(listing.entries) == 1


def test_an_index_is_followed_through_its_levels():
    routes = {
        "/sitemap.xml": index("{base}/a.xml", "{base}/more/index.xml"),
        "/a.xml": urlset("/1", "/2"),
        "/more/index.xml": index("b.xml"),
        "/more/b.xml": Answer(gzip.compress(urlset("/2", "/3").encode())),
    }
    listing, site = read_from(routes)
    assert [entry.url.removeprefix(HOST) for entry in listing.entries] == ["/1", "/2", "/3"]
    files = [file.removeprefix(site.url) for file in listing.files]
    assert files == ["/sitemap.xml", "/a.xml", "/more/index.xml", "/more/b.xml"]


def test_indexes_that_name_each_other_are_read_once():
    routes = {
        "/sitemap.xml": index("{base}/b.xml", "{base}/sitemap.xml"),
        "/b.xml": index("{base}/sitemap.xml#x", "{base}/c.xml"),
        "/c.xml": urlset("/a"),
    }
    listing, site = read_from(routes)
    assert len(listing.entries) == 1
    assert sorted(site.paths()) == ["/b.xml", "/c.xml", "/sitemap.xml"]


def test_an_index_without_end_is_an_error():
    routes = {f"/{n}.xml": index(f"{{base}}/{n + 1}.xml") for n in range(20)}
    failure = failure_from(routes, "/0.xml")
    assert (failure.code, "more than 5 deep" in failure.problem) == ("source.malformed", True)
    assert failure.subject.endswith("/5.xml")


@pytest.mark.parametrize(("limit", "problem"), [("MAX_FILES", "3 sitemap files"), ("MAX_URLS", "3 entries")])
def test_more_files_or_pages_than_the_limit_are_an_error(monkeypatch, limit, problem):
    monkeypatch.setattr(reader, limit, 3)
    routes = {"/sitemap.xml": index(*[f"{{base}}/{n}.xml" for n in range(5)])}
    routes |= {f"/{n}.xml": urlset(f"/{n}") for n in range(5)}
    assert f"more than {problem}" in failure_from(routes).problem


def test_a_child_that_cannot_be_read_fails_the_whole_and_is_named():
    routes = {"/sitemap.xml": index("{base}/a.xml", "{base}/b.xml"), "/a.xml": urlset("/1")}
    failure = failure_from(routes)
    assert (failure.code, failure.subject.rpartition("/")[2]) == ("source.unreachable", "b.xml")


def test_a_host_that_is_busy_is_waited_for_and_not_called_a_wrong_address():
    busy = failure_from({"/sitemap.xml": Answer("later", 429, {"Retry-After": "3600"})})
    assert busy.problem == "answered with status 429 and asks to wait 3,600 s"
    assert busy.remedy == "Look at the host, or try again later."
    assert failure_from({}).remedy == "Check source.sitemap."


def test_the_files_of_an_index_are_fetched_some_at_a_time_and_used_in_its_order():
    at_once, most, lock = [0], [0], threading.Lock()

    def slow(number: int):
        def answer() -> str:
            with lock:
                at_once[0] += 1
                most[0] = max(most[0], at_once[0])
            time.sleep(0.05 if number % 2 else 0.01)
            with lock:
                at_once[0] -= 1
            return urlset(f"/{number}")

        return answer

    names = range(12)
    routes = {"/sitemap.xml": index(*[f"{{base}}/{n}.xml" for n in names])} | {f"/{n}.xml": slow(n) for n in names}
    listing, site = read_from(routes)
    assert [entry.url.rpartition("/")[2] for entry in listing.entries] == [str(n) for n in names]
    assert 1 < most[0] <= 4
    assert len(site.asked) == 13


def test_of_several_broken_files_of_an_index_the_first_is_named_whichever_fails_first():
    def late() -> Answer:
        time.sleep(0.1)
        return Answer("", 410)

    routes = {"/sitemap.xml": index("{base}/a.xml", "{base}/late.xml", "{base}/soon.xml"), "/a.xml": urlset("/1")}
    failure = failure_from(routes | {"/late.xml": late, "/soon.xml": Answer("", 404)})
    assert failure.subject.endswith("/late.xml")


def test_an_index_may_not_send_us_to_another_host():
    with serving({"/x.xml": urlset("/a")}) as other:
        failure = failure_from({"/sitemap.xml": index(f"{other.url}/x.xml")})
        assert (failure.code, other.asked) == ("source.malformed", [])
        assert "another host" in failure.problem
        robots = f"Sitemap: {{base}}/sitemap.xml\nSitemap: {other.url}/x.xml"
        listing, _ = read_from({"/robots.txt": robots, "/sitemap.xml": index(f"{other.url}/x.xml")}, "/")
        assert len(listing.entries) == 1


@pytest.mark.parametrize("loc", ["file:///etc/passwd", "ftp://x.org/a.xml", "http://[::1"])
def test_an_index_may_not_send_us_away_from_http(loc):
    assert failure_from({"/sitemap.xml": index(loc)}).code == "source.malformed"


# ---- an index on disk


def test_a_file_index_finds_its_children_beside_it(tmp_path):
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "a.xml").write_text(urlset("/1"))
    (tmp_path / "b.xml").write_text(urlset("/2"))
    (tmp_path / "c.xml").write_text(urlset("/3"))
    locs = [f"{HOST}/maps/a.xml", f"{HOST}/base/path/b.xml?v=1", "c.xml"]
    assert [entry.url for entry in listed(index(*locs), tmp_path).entries] == [f"{HOST}/{n}" for n in (1, 2, 3)]


def test_a_file_index_fetches_files_that_are_not_next_to_it(tmp_path):
    with serving({"/a.xml": urlset("/1")}) as site, HttpFetcher() as fetcher:
        (tmp_path / "sitemap.xml").write_text(index(f"{site.url}/a.xml"))
        assert len(read_sitemap(tmp_path / "sitemap.xml", fetcher=fetcher).entries) == 1
    assert failure_in(index(f"{HOST}/a.xml"), tmp_path).code == "source.unreachable"


def test_a_file_index_never_leaves_its_folder(tmp_path):
    (tmp_path / "outside.xml").write_text(urlset("/secret"))
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "link.xml").symlink_to(tmp_path / "outside.xml")
    for loc in ("../outside.xml", str(tmp_path / "outside.xml"), (tmp_path / "outside.xml").as_uri(), "link.xml", ".."):
        assert failure_in(index(loc), inside).code == "source.malformed"
    assert failure_in(index(f"{HOST}/%2e%2e/outside.xml"), inside).code == "source.unreachable"


# ---- lastmod


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025", (2025, 1, 1)),
        ("2025-03", (2025, 3, 1)),
        (" 2025-03-04 ", (2025, 3, 4)),
        ("2025-03-04T05:06Z", (2025, 3, 4, 5, 6)),
        ("2025-03-04T05:06:07+02:00", (2025, 3, 4, 3, 6, 7)),
        ("2025-03-04T05:06:07-0530", (2025, 3, 4, 10, 36, 7)),
        ("2025-03-04T05:06:07.123456789Z", (2025, 3, 4, 5, 6, 7, 123456)),
        ("2025-03-04T05:06:07.5", (2025, 3, 4, 5, 6, 7, 500000)),
        ("2025-03-04 05:06:07", (2025, 3, 4, 5, 6, 7)),
    ],
)
def test_a_lastmod_is_read_in_utc(text, expected):
    assert parse_lastmod(text) == datetime(*expected, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "yesterday",
        "2025-13-01",
        "2025-02-30",
        "20250304",
        "2025-W10",
        "2025-03-04T25:00Z",
        "04.03.2025",
        "0000-01-01",
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59-14:00",
        "٢٠٢٥",
        "2025-03-04T05Z",
        "1741000000",
    ],
)
def test_a_text_that_is_not_a_date_is_none(text):
    assert parse_lastmod(text) is None


def test_a_login_inside_a_sitemap_is_never_kept_and_what_is_shown_of_its_address_has_no_secret(tmp_path: Path):
    text = urlset("/a?page=2", host="https://ada:s3cret@docs.example.com")
    assert [entry.url for entry in listed(text, tmp_path).entries] == [f"{HOST}/a?page=2"]
    with serving({"/sitemap.xml?token=s3cret": urlset("/a")}) as site, HttpFetcher() as fetcher:
        listing = read_sitemap(f"{site.url}/sitemap.xml?token=s3cret", fetcher=fetcher)
    assert [entry.url for entry in listing.entries] == [f"{HOST}/a"]
    assert "s3cret" not in str(listing)


def test_a_sitemap_that_is_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "sitemap.xml")
    with pytest.raises(SystemFailure, match="not a regular file"):
        read_sitemap(tmp_path / "sitemap.xml", fetcher=None)
