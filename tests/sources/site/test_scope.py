"""Globs over paths."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragval_pipeline.sources.site.inventory import Scope

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
