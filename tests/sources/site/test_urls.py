"""Which addresses are one page, and what hostile text does to the canonicaliser: nothing."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.http.addresses import host_of, is_http_url, is_loopback_or_private
from ragval_pipeline.sources.site.urls import UrlFolder, fold_path, join, path_of

PAGE = "https://docs.example.com/docs/intro"


@pytest.mark.parametrize(
    "spelling",
    [
        "http://docs.example.com/docs/intro",
        "HTTPS://DOCS.Example.COM/docs/intro",
        "https://www.docs.example.com/docs/intro",
        "https://docs.example.com./docs/intro",
        "https://docs.example.com:443/docs/intro",
        "http://docs.example.com:80/docs/intro",
        "https://docs.example.com/docs/intro/",
        "https://docs.example.com/docs/intro//",
        "https://docs.example.com/docs/intro.html",
        "https://docs.example.com/docs/intro/index.html",
        "https://docs.example.com/docs/intro#setup",
        "https://docs.example.com/docs/intro?",
        "https://docs.example.com/docs/intro?utm_source=x&utm_medium=y&UTM_Campaign=z",
        "https://docs.example.com/docs/intro?gclid=1&fbclid=2&msclkid=3#top",
        "https://docs.example.com/docs/%69ntro",
        "https://docs.example.com/docs/./a/../intro",
        "https://user:secret@docs.example.com/docs/intro",
    ],
)
def test_spellings_of_a_page_share_one_key(spelling):
    assert UrlFolder().key(spelling) == PAGE


@given(
    host=st.sampled_from(
        ["x.org", "www.X.org", "old.org", "x.org.", "x.org:80", "x.org:99999", "-x-.org", "a..b", ".", "-"]
    ),
    path=st.text("ab./-_M", max_size=12) | st.sampled_from(["a.md", "a.html/index.html", "..html", "a/../b", "./"]),
    markdown=st.booleans(),
)
def test_plain_addresses_are_folded_as_all_others_are(host, path, markdown):
    folder = UrlFolder(site_host="x.org", host_aliases=["old.org"], markdown=markdown)
    url = f"http://{host}/{path}"
    behind_a_fragment = folder.key(f"{url}#there")
    assert folder.key(url) == (url if behind_a_fragment == f"{url}#there" else behind_a_fragment)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://x.org/a%C3%A4%20b", "https://x.org/aä b"),
        ("https://x.org/%7Euser/%c3%a4", "https://x.org/~user/ä"),
        ("https://x.org/c%2B%2B", "https://x.org/c++"),
        ("https://x.org/a?q=%C3%A4+b", "https://x.org/a?q=ä%20b"),
        ("https://bücher.example/", "https://xn--bcher-kva.example"),
        ("http://[::1]:80/", "http://[0:0:0:0:0:0:0:1]"),
        ("https://x.org", "http://www.x.org/index.html"),
        ("https://x.org/a?utm_source=1&b=2&&c=3", "https://x.org/a?b=2&c=3"),
    ],
)
def test_encodings_and_empty_parts_are_folded(one, other):
    assert UrlFolder().key(one) == UrlFolder().key(other)


@pytest.mark.parametrize(
    "other",
    [
        "https://docs.example.org/docs/intro",
        "https://example.com/docs/intro",
        "https://docs.example.com:8443/docs/intro",
        "https://docs.example.com/Docs/intro",
        "https://docs.example.com/docs/intro?version=2",
        "https://docs.example.com/docs/intro.htm",
        "https://docs.example.com/docs/introhtml",
        "https://docs.example.com/docs%2Fintro",
        "https://docs.example.com/docs//intro",
        "https://docs.example.com/docs/intro/index",
    ],
)
def test_other_pages_keep_their_own_key(other):
    assert UrlFolder().key(other) != PAGE


def test_the_query_is_kept_in_its_order():
    assert UrlFolder().key("https://x.org/a?z=1&utm_id=9&a=%2F&z=0&flag#f") == "https://x.org/a?z=1&a=/&z=0&flag"
    assert UrlFolder().key("https://x.org/a?a=1&b=2") != UrlFolder().key("https://x.org/a?b=2&a=1")


def test_www_alone_is_no_prefix_of_a_top_level_domain():
    assert UrlFolder().key("https://www.com/a") == "https://www.com/a"


def test_an_address_in_one_of_another_scheme_is_that_address():
    folder = UrlFolder(site_host="x.org")
    assert folder.key("link://https://www.x.org/a/") == folder.key("https://x.org/a")
    assert host_of("link://https://x.org/a") == "x.org"


@pytest.mark.parametrize(
    "opaque",
    [
        "",
        "doc-17",
        " https://x.org/a",
        "https://x.org/a\n",
        "ftp://x.org/a/",
        "file:///srv/a.html",
        "mailto:a@x.org",
        "http://",
        "http:///a/",
        "https:x",
        "http://a b/c",
        "http://x:99999/",
        "http://x:ab/",
        "http://[::1/",
        "//x.org/a/",
        "http://a..b/c/",
        "http://.../",
        "http://ex%41mple.com/",
        "http://[::1]@/",
        "http://x.org/\ud800",
        "\ud800",
    ],
)
def test_a_text_that_is_not_an_http_address_is_an_opaque_id_and_stays_unchanged(opaque):
    assert UrlFolder(site_host="x.org").key(opaque) == opaque
    assert not is_http_url(opaque)
    assert host_of(opaque) is None


def test_aliases_fold_to_the_site_host_and_other_hosts_never_do():
    folder = UrlFolder(
        site_host="Docs.Example.com", host_aliases=["old.vercel.app", "www.localhost.test:3000", "[::1]:80"]
    )
    assert folder.key("http://OLD.vercel.app./docs/intro/") == PAGE
    assert folder.key("https://www.old.vercel.app/docs/intro") == PAGE
    assert folder.key("http://localhost.test:3000/docs/intro") == PAGE
    assert folder.key("http://[::1]/docs/intro") == PAGE
    for other in ("old.vercel.app:8080", "localhost.test", "localhost.test:3001", "new.vercel.app", "x.old.vercel.app"):
        assert folder.key(f"https://{other}/docs/intro") == f"https://{other}/docs/intro"


def test_an_alias_that_is_the_site_itself_changes_nothing():
    folder = UrlFolder(site_host="docs.example.com", host_aliases=["docs.example.com", "www.docs.example.com"])
    assert folder.key(PAGE) == PAGE


@pytest.mark.parametrize("alias", ["not a host", "x:port", "http://", "a..b"])
def test_an_alias_that_is_no_host_is_an_error_of_the_suite(alias):
    with pytest.raises(SuiteError, match=r"source\.host_aliases"):
        UrlFolder(site_host="x.org", host_aliases=[alias])


def test_the_path_is_decoded_for_matching():
    assert path_of("https://x.org") == "/"
    assert path_of("https://x.org/%C3%A4%20b/c%2Fd/100%25?q#f") == "/ä b/c%2Fd/100%25"
    assert path_of("doc-17") == "doc-17"


def test_an_address_that_cannot_be_resolved_comes_back_as_it_is():
    assert join("https://x.org/a/b", "../c") == "https://x.org/c"
    assert join("https://x.org/a/b", "http://[::1") == "http://[::1"


@pytest.mark.parametrize(
    ("path", "folded"),
    [
        ("/", "/"),
        ("", "/"),
        ("//", "/"),
        ("/index.html", "/"),
        ("/a.html/", "/a"),
        ("/a/index.html.html", "/a"),
        ("/.html", "/.html"),
        ("/a/..html", "/a/..html"),
        ("/index.htm", "/index.htm"),
        ("/reindex.html", "/reindex"),
    ],
)
def test_the_end_of_a_path_is_folded_until_nothing_is_left_to_fold(path, folded):
    assert fold_path(path) == folded


HOSTS = [
    "http://x",
    "https://www.x.com",
    "HTTPS://old.org:3000",
    "http://[::1]",
    "https://x.com.",
    "http://",
    "//x",
    "",
]


PIECES = ["index.html", ".html", "%2e%2e", "%2F", "%25", "%zz", "..", "www.", "utm_x=1", "%C3%A4", "%e4", "é"]


TAILS = st.lists(st.sampled_from([*"/.%?&=#:@[]+*|^`{}\\<>'!$(),; aZ09~-_", *PIECES]), max_size=12).map("".join)


ANY_TEXT = st.text(st.characters(exclude_categories=[]))


@settings(max_examples=400)
@given(st.builds(str.__add__, st.sampled_from(HOSTS), TAILS | ANY_TEXT))
@example("http://[::1]@")
@example("https://x/a/...html")
@example("https://www.www.x.com/")
def test_a_key_is_its_own_key_and_nothing_crashes(url):
    folder = UrlFolder(site_host="x.com", host_aliases=["old.org:3000"])
    key = folder.key(url)
    assert folder.key(key) == key
    assert is_http_url(url) == is_http_url(key)
    assert (host_of(url) is None) == (not is_http_url(url))
    assert isinstance(path_of(url), str)
    assert isinstance(is_loopback_or_private(url), bool)
    assert path_of(key) == path_of(folder.key(key))
