"""Globs over paths."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragval_pipeline.sources.site.inventory import (
    Scope,
    SiteInventory,
    SitemapEntry,
    SitemapListing,
    SitePage,
    modules_of,
    take_inventory,
)

SITE = "https://docs.example.com"


def listing(*urls: str, lastmods: dict[str, str] | None = None) -> SitemapListing:
    entries = tuple(
        SitemapEntry(url=url, lastmod=(lastmods or {}).get(url), sitemap=f"{SITE}/sitemap.xml") for url in urls
    )
    return SitemapListing(location=f"{SITE}/sitemap.xml", entries=entries, files=())


def take(
    *urls: str, include: tuple[str, ...] = (), exclude: tuple[str, ...] = (), aliases: tuple[str, ...] = ()
) -> SiteInventory:
    return take_inventory(listing(*urls), include=include, exclude=exclude, host_aliases=aliases)


def test_pages_keep_the_sitemaps_order_and_spelling() -> None:
    inventory = take(f"{SITE}/b", f"{SITE}/a/", f"{SITE}/c.html")
    assert [page.url for page in inventory.pages] == [f"{SITE}/b", f"{SITE}/a/", f"{SITE}/c.html"]
    assert inventory.scope_urls == {f"{SITE}/b": f"{SITE}/b", f"{SITE}/a": f"{SITE}/a/", f"{SITE}/c": f"{SITE}/c.html"}


def test_two_spellings_of_a_page_count_once_under_the_first() -> None:
    inventory = take(f"{SITE}/a/", f"{SITE}/a", "http://www.docs.example.com/a/index.html", f"{SITE}/a?utm_source=x")
    assert [page.url for page in inventory.pages] == [f"{SITE}/a/"]


def test_a_host_alias_is_the_site() -> None:
    inventory = take(f"{SITE}/a", "https://old.example.org/a", aliases=("old.example.org",))
    assert len(inventory.pages) == 1
    assert inventory.folder().key("http://old.example.org/a/") == inventory.pages[0].key


def test_a_host_that_is_no_alias_is_another_page() -> None:
    assert len(take(f"{SITE}/a", "https://old.example.org/a").pages) == 2


def test_pages_that_are_shut_out_stay_with_their_reason() -> None:
    inventory = take(
        f"{SITE}/docs", f"{SITE}/docs/a", f"{SITE}/docs/tags/x", f"{SITE}/blog/b",
        include=("/docs/**",), exclude=("/docs/tags/**",),
    )  # fmt: skip
    assert [page.url for page in inventory.in_scope] == [f"{SITE}/docs", f"{SITE}/docs/a"]
    reasons = {page.url: page.out_of_scope for page in inventory.pages if not page.in_scope}
    assert reasons == {
        f"{SITE}/docs/tags/x": "excluded by '/docs/tags/**'",
        f"{SITE}/blog/b": "not included by '/docs/**'",
    }


def test_lastmod_and_the_naming_sitemap_go_along() -> None:
    inventory = take_inventory(
        listing(f"{SITE}/a", lastmods={f"{SITE}/a": "2026-01-31"}), include=(), exclude=(), host_aliases=()
    )
    assert inventory.pages[0].lastmod == "2026-01-31"
    assert inventory.pages[0].sitemap == f"{SITE}/sitemap.xml"


def modules(*paths: str) -> dict[str, str]:
    pages = [SitePage(url=f"{SITE}{path}", key=path) for path in paths]
    return modules_of(pages)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (
            ("/docs/intro", "/docs/module-1-ros2/ch1", "/docs/module-1-ros2/ch2", "/docs/module-2/ch1"),
            ("intro", "module-1-ros2", "module-1-ros2", "module-2"),
        ),
        (("/docs/", "/docs/a/x", "/docs/b/y"), ("/", "a", "b")),
        (("/book/", "/book/intro", "/book/setup"), ("/", "/", "/")),
        (("/a.html", "/b.html"), ("/", "/")),
        (("/book/intro",), ("intro",)),
        (("/", "/guide/x", "/api/y"), ("/", "guide", "api")),
        (("/docs/a/x", "/blog/y"), ("docs", "blog")),
        (("/docs/one/x", "/docs/one/y"), ("/", "/")),
        (("/docs/%C3%BCber/x", "/docs/b/y"), ("über", "b")),
        ((), ()),
    ],
)
def test_the_module_is_the_segment_after_what_all_paths_share_and_a_flat_site_has_none(
    paths: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert modules(*paths) == dict(zip(paths, expected, strict=True))


def test_pages_that_are_shut_out_have_no_module_and_hide_none() -> None:
    pages = [
        SitePage(url=f"{SITE}/docs/a/x", key="1"),
        SitePage(url=f"{SITE}/docs/b/y", key="2"),
        SitePage(url=f"{SITE}/blog/z", key="3", out_of_scope="not included"),
    ]
    assert modules_of(pages) == {"1": "a", "2": "b"}


def test_files_read_are_named() -> None:
    files = (f"{SITE}/sitemap.xml",)
    read = SitemapListing(location="x", entries=(), files=files)
    assert take_inventory(read, include=(), exclude=(), host_aliases=()).files == files


HOST = "https://x.org"


def matches(glob: str, path: str) -> bool:
    return Scope([glob]).contains(HOST + path)


def test_without_globs_everything_is_in_scope():
    scope = Scope()
    for url in (HOST, f"{HOST}/a/b", "doc-17", ""):
        assert scope.contains(url)
        assert scope.reason_out(url) is None


@pytest.mark.parametrize(
    "path", ["/docs", "/docs/", "/docs.html", "/docs/index.html", "/docs/a", "/docs/a/b/c/", "/docs?x=1#y"]
)
def test_two_stars_have_the_folder_itself_and_all_below(path):
    assert matches("/docs/**", path)


@pytest.mark.parametrize("path", ["/", "/doc", "/docsearch", "/blog/docs/a", "/Docs/a"])
def test_two_stars_have_nothing_beside_the_folder(path):
    assert not matches("/docs/**", path)


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("/docs/*", ["/docs/a", "/docs/a/", "/docs/a.html"], ["/docs", "/docs/", "/docs/a/b"]),
        ("/docs/*/ch*", ["/docs/m1/ch2", "/docs/m1/ch"], ["/docs/ch2", "/docs/m1/x/ch2", "/docs/m1/xch2"]),
        ("/**/tags/**", ["/tags", "/tags/a", "/docs/tags", "/a/b/tags/c/d"], ["/tag", "/docs/tagsx"]),
        ("/a/**/z", ["/a/z", "/a/b/z", "/a/b/c/z"], ["/az", "/a", "/a/zz"]),
        ("/v*.0/**", ["/v1.0", "/v12.0/a"], ["/v1x0/a", "/v1.1/a"]),
        ("/", ["", "/", "/index.html", "/?a=b"], ["/a"]),
        ("/**", ["", "/", "/a/b"], []),
        ("/*", ["/a"], ["/", "/a/b"]),
        ("/docs/intro", ["/docs/intro", "/docs/intro/", "/docs/intro.html"], ["/docs/intro/a", "/docs/intros"]),
        ("/docs/intro.html", ["/docs/intro", "/docs/intro.html"], ["/docs/introxhtml"]),
        ("/docs/intro/", ["/docs/intro"], ["/docs/intro/a"]),
        ("docs/**", ["/docs/a"], ["/a/docs/a"]),
        ("/ä b/**", ["/%C3%A4%20b/c", "/ä b"], ["/a b/c"]),
        ("/%C3%A4%20b/**", ["/ä b/c", "/%c3%a4 b"], []),
        ("/a?b/#c", ["/a%3Fb/%23c"], ["/axb/#c"]),
        ("/a[b]/{c}+(d)", ["/a[b]/{c}+(d)"], ["/ab/c"]),
        ("/docs/**-draft", ["/docs/a/b-draft", "/docs/a-draft"], ["/docs/a-draft/b"]),
        ("https://x.org/docs/**", ["/docs/a"], ["/a"]),
    ],
)
def test_globs(glob, yes, no):
    assert [path for path in yes if not matches(glob, path)] == []
    assert [path for path in no if matches(glob, path)] == []


def test_exclude_wins_and_says_so():
    scope = Scope(["/docs/**", "/guide/*"], ["/docs/tags/**"])
    assert scope.contains(f"{HOST}/docs/a")
    assert scope.reason_out(f"{HOST}/docs/tags/a") == "excluded by '/docs/tags/**'"
    assert scope.reason_out(f"{HOST}/docs/tags.html") == "excluded by '/docs/tags/**'"
    assert scope.reason_out(f"{HOST}/blog") == "not included by '/docs/**', '/guide/*'"


def test_exclude_alone_leaves_the_rest():
    scope = Scope(exclude=["/search"])
    assert not scope.contains(f"{HOST}/search/")
    assert scope.contains(f"{HOST}/")


def test_an_opaque_id_is_matched_as_it_is():
    scope = Scope(["/docs/**"])
    assert scope.contains("/docs/a")
    assert not scope.contains("doc-17")


def test_any_host_is_in_scope_since_only_the_path_counts():
    assert Scope(["/docs/**"]).contains("http://localhost:3000/docs/a")


SEGMENTS = st.lists(st.sampled_from(["a", "docs", "index.html", "x.html", "*", "**", "*.html", "b*"]), max_size=4)


@settings(max_examples=200)
@given(SEGMENTS, SEGMENTS)
def test_a_slash_and_html_never_change_an_answer(glob, path):
    plain = "/" + "/".join(part.replace("*", "q") for part in path)
    scope = Scope(["/" + "/".join(glob)])
    answers = {scope.contains(HOST + plain.rstrip("/") + end) for end in ("", "/", "/index.html")}
    if plain != "/":
        answers.add(scope.contains(HOST + plain.rstrip("/") + ".html"))
    assert len(answers) == 1
