from __future__ import annotations

import pytest

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.http.fetch import HttpFetcher
from ragval_pipeline.sources.http.hosts import hosts_of
from ragval_pipeline.sources.site.of_suite import inventory_of, list_llms, reader_of
from ragval_pipeline.suite.sections import RetrySettings, SourceSettings
from tests.support.http_host import Answer, serving

LLMS = """# Arm

> How the arm works. [Not a page](https://docs.example.com/quoted)

Details with [a link](https://docs.example.com/prose) in prose.

## Docs

- [Start](https://docs.example.com/start.md): begin here, see [also](https://docs.example.com/second)
- [Guide](https://docs.example.com/guide/index.html.md#top)
- [Again](https://docs.example.com/start)
* [Code](https://github.com/x/y)

## Optional

- [More](https://docs.example.com/more.html)
"""


def inventory(settings, fetcher=None):
    return inventory_of(SourceSettings(**settings), fetcher)


def typed(kind, body):
    return Answer(body, headers={"Content-Type": kind})


def test_a_list_in_the_suite_or_in_a_file_is_the_site(tmp_path):
    urls = ["https://a.example/x", "https://a.example/y/#top", "https://a.example/x/", "https://a.example/tags/z"]
    (tmp_path / "urls.txt").write_text("\ufeff# pages\n" + "\n\n".join(urls) + "\n", encoding="utf-8")
    for given in (urls, tmp_path / "urls.txt"):
        found = inventory({"urls": given, "exclude": ["/tags/**"]})
        assert [page.url for page in found.in_scope] == ["https://a.example/x", "https://a.example/y/"]
        assert found.site_host == "a.example"
        assert len(found.pages) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [("https://a.example/x\n/docs/y\n", "line 2"), ("ftp://u:canary@a.example", "line 1"), (None, "cannot be read")],
)
def test_a_list_that_holds_no_addresses_names_its_line(tmp_path, text, words):
    if text is not None:
        (tmp_path / "urls.txt").write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError, match=words) as caught:
        inventory({"urls": tmp_path / "urls.txt"})
    assert caught.value.key == "source.urls"
    assert "canary" not in str(caught.value)


def test_llms_txt_names_the_pages_of_its_own_host_and_markdown_is_the_same_page(tmp_path):
    (tmp_path / "llms.txt").write_text(LLMS, encoding="utf-8")
    found = inventory({"llms": str(tmp_path / "llms.txt")})
    spelt = ["start.md", "guide/index.html.md", "more.html"]
    assert [page.url for page in found.in_scope] == [f"https://docs.example.com/{name}" for name in spelt]
    fold = found.folder().key
    assert fold("https://docs.example.com/guide/") == fold("https://docs.example.com/guide/index.html.md")
    assert found.scope_urls.keys() >= {fold("https://docs.example.com/start.html")}


@pytest.mark.parametrize("body", ["<!doctype html><p>x", "# Nothing\n\nno list", ""])
def test_a_file_that_is_not_an_llms_txt_is_malformed(tmp_path, body):
    (tmp_path / "llms.txt").write_text(body, encoding="utf-8")
    with pytest.raises(SystemFailure, match=r"source\.llms") as caught:
        list_llms(str(tmp_path / "llms.txt"), fetcher=None)
    assert caught.value.code == "source.malformed"


def test_pages_that_a_host_serves_as_markdown_are_read_as_their_readers_see_them():
    routes = {
        "/llms.txt": typed("text/plain", "- [A](/a.md)\n- [B](/b.md)\n- [C](/c)\n"),
        "/a.md": typed("text/markdown; charset=utf-8", "# Title\n\n**Bold** [link](x)\n"),
        "/b.md": typed("text/plain", "**Plain** text"),
        "/c": typed("text/html", "<main>**not** Markdown</main>"),
    }
    with serving(routes) as site:
        source = SourceSettings(llms=f"{site.url}/llms.txt")
        with HttpFetcher(policy=RetrySettings(max=0), hosts=hosts_of(source)) as fetcher:
            found = inventory_of(source, fetcher)
            reader = reader_of(source, found, fetcher)
            pages = [reader.read(page.url).html or "" for page in found.in_scope]
    assert "<strong>Bold</strong>" in pages[0]
    assert "<strong>Plain</strong>" in pages[1]
    assert pages[2] == "<main>**not** Markdown</main>"
