from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.site.docs_folder.listing import FolderReader, list_folder
from ragval_pipeline.sources.site.html.page_text import page_texts
from ragval_pipeline.sources.site.markdown_page import LONGEST, markdown_html
from ragval_pipeline.sources.site.urls import UrlFolder, path_of

SITE = "https://docs.example.com/"
DOCUSAURUS = """
// url: 'https://commented.example'
module.exports = {
  title: 'Arm', url: 'https://arm.example', baseUrl: "/book/", /* baseUrl: '/no/' */
  presets: [['classic', {
    docs: { sidebarPath: require.resolve('./sidebars.js'), routeBasePath: ROUTE, editUrl: 'https://git.example/x' },
    blog: { path: 'news', routeBasePath: '/news' },
  }]],
  plugins: [['@docusaurus/plugin-content-docs', { id: 'api', path: 'api', routeBasePath: 'reference/api' }]],
};
"""
CONF = """
import os
project = "Arm"
extensions = ["myst_parser"]
exclude_patterns = ["drafts", "**/old.md"]
html_baseurl = {base}
raise SystemExit("a configuration is never run")
"""


def lay(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text or f"# {name}\n\nWords.\n", encoding="utf-8")
    return folder


def keys(listing) -> set[str]:
    """The pages as their paths, however they are spelt."""
    fold = UrlFolder(site_host=listing.site_host)
    return {path_of(fold.key(entry.url)) for entry in listing.entries}


LAYOUTS = {
    "mkdocs": (
        {
            "mkdocs.yml": "site_url: https://arm.example/book/\ntheme: {name: material}\n"
            "exclude_docs: |\n  secret/\n  !secret/open.md\n  /*.draft.md\n"
            "markdown_extensions:\n  - x: !!python/name:os.system\n  - y: !ENV [A, b]\n",
            "docs/index.md": "",
            "docs/01-start.md": "",
            "docs/guide/README.md": "",
            "docs/guide/My page.md": "",
            "docs/both/index.md": "",
            "docs/both/README.md": "",
            "docs/secret/a.md": "",
            "docs/secret/open.md": "",
            "docs/x.draft.md": "",
            "docs/.hidden/a.md": "",
            "docs/a.txt": "",
            "docs/drafted.md": "---\ndraft: true\n---\n",
            "README.md": "",
        },
        "docs",
        {"/book", "/book/01-start", "/book/guide", "/book/guide/My page", "/book/both", "/book/secret/open"},
    ),
    "docusaurus": (
        {
            "docusaurus.config.js": DOCUSAURUS.replace("ROUTE", "'handbook'"),
            "docs/01-intro.md": "",
            "docs/02-Guides/index.mdx": "",
            "docs/02-Guides/03_Arm.md": "",
            "docs/02-Guides/2024-01-02-news.md": "",
            "docs/04-tools/tools.md": "",
            "docs/slugged.md": "---\nslug: /welcome\n---\n",
            "docs/02-Guides/near.md": "---\nslug: ../far\n---\n",
            "docs/02-Guides/named.md": "---\nid: own-id\n---\n",
            "docs/_partial.md": "",
            "docs/_parts/a.md": "",
            "docs/unlisted.md": "---\nunlisted: true\n---\n",
            "api/index.md": "",
            "news/2024-05-06-release.md": "",
            "src/pages/about.md": "",
            "node_modules/x/README.md": "",
        },
        ".",
        {
            "/book/handbook/intro", "/book/handbook/Guides", "/book/handbook/Guides/Arm",
            "/book/handbook/Guides/2024-01-02-news", "/book/handbook/tools", "/book/handbook/welcome",
            "/book/handbook/far", "/book/handbook/Guides/own-id", "/book/reference/api",
            "/book/news/2024/05/06/release", "/book/about",
        },
    ),
    "docusaurus, docs only and with versions": (
        {
            "docusaurus.config.ts": DOCUSAURUS.replace("ROUTE", "'/'"),
            "versions.json": '["2.0", "1.0"]',
            "docs/intro.md": "",
            "versioned_docs/version-2.0/intro.md": "",
            "versioned_docs/version-1.0/intro.md": "",
        },
        ".",
        {"/book/next/intro", "/book/intro", "/book/1.0/intro"},
    ),
    "sphinx": (
        {
            "source/conf.py": CONF.format(base='"https://arm.example/en/latest/"'),
            "source/index.rst": "Arm\n===\n",
            "source/guide/README.md": "",
            "source/guide/index.md": "",
            "source/drafts/a.md": "",
            "source/guide/old.md": "",
            "source/_build/html/index.html": "",
        },
        ".",
        {"/en/latest", "/en/latest/guide/README", "/en/latest/guide"},
    ),
    "plain": (
        {
            "README.md": "",
            "a/b.mdx": "",
            "a/c.md": "---\npermalink: /fixed/\n---\n",
            "conf.py": "DEBUG = True",
        },
        ".",
        {"/", "/a/b", "/fixed"},
    ),
    "book": (
        {
            "src/SUMMARY.md": "# Summary\n\n[Preface](README.md)\n\n* [Arm](<arm/my hand.md>)\n"
            "  - [Wrist](./arm/wrist.md#turn)\n* [Elsewhere](https://a.example/x.md)\n* [Still to come](arm/none.md)\n",
            "src/README.md": "",
            "src/arm/my hand.md": "",
            "src/arm/wrist.md": "",
            "src/arm/notes.md": "",
        },
        ".",
        {"/", "/arm/my hand", "/arm/wrist"},
    ),
    "a page called summary": (
        {"SUMMARY.md": "# What I did\n\nSee [my page](https://a.example/).\n", "a.md": ""},
        ".",
        {"/SUMMARY", "/a"},
    ),
    "html": (
        {
            "index.html": "<h1>Home</h1>",
            "a/index.html": "<h1>A</h1>",
            "b.html": "<h1>B</h1>",
            "moved.html": '<meta http-equiv="refresh" content="0; url=b.html">',
            "404.html": "<h1>None</h1>",
            "_sources/a.md": "",
        },
        ".",
        {"/", "/a", "/b"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_file_has_the_address_that_its_generator_gives_it(tmp_path, layout):
    files, named, expected = LAYOUTS[layout]
    configured = layout not in ("plain", "html", "book", "a page called summary")
    listing = list_folder(lay(tmp_path, files) / named, None if configured else SITE)
    assert keys(listing) == expected
    assert len(listing.entries) == len(expected)
    reader = FolderReader(tmp_path / named, {entry.url: entry.sitemap for entry in listing.entries})
    read = [reader.read(entry.url) for entry in listing.entries]
    unread = [copy.problem for copy in read if copy.problem]
    wanted = "reStructuredText is not supported: set source.site_root to the built site"
    assert unread == [wanted] * (layout == "sphinx")


def test_a_folder_inside_the_docs_keeps_its_place(tmp_path):
    files, _, _ = LAYOUTS["docusaurus"]
    listing = list_folder(lay(tmp_path, files) / "docs" / "02-Guides", "https://other.example/")
    assert keys(listing) == {
        "/handbook/Guides", "/handbook/Guides/Arm", "/handbook/Guides/2024-01-02-news", "/handbook/far",
        "/handbook/Guides/own-id",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("files", "site_url", "key", "words"),
    [
        ({"a.md": ""}, None, "source.site_url", "https://docs.example.com/"),
        ({"a.md": ""}, "docs.example.com", "source.site_url", "not known"),
        ({"conf.py": CONF.format(base="os.environ['URL']"), "a.md": ""}, None, "source.site_url", "computes"),
        ({"mkdocs.yml": "site_url: [", "docs/a.md": ""}, None, "source.site_url", "not known"),
        ({"a.txt": "x"}, SITE, "source.folder", "contains no pages"),
        (None, SITE, "source.folder", "there is no folder"),
    ],
)
def test_what_cannot_be_listed_names_its_key_and_says_what_to_do(tmp_path, files, site_url, key, words):
    folder = tmp_path / "project"
    if files is not None:
        lay(folder, files)
    with pytest.raises(SuiteError) as caught:
        list_folder(folder, site_url)
    assert caught.value.key == key
    assert words in str(caught.value)


def test_no_file_outside_the_folder_is_read(tmp_path):
    lay(tmp_path, {"docs/a.md": "", "secret.md": "canary"})
    (tmp_path / "docs" / "link.md").symlink_to(tmp_path / "secret.md")
    listing = list_folder(tmp_path / "docs", SITE)
    reader = FolderReader(
        tmp_path / "docs", {**{entry.url: entry.sitemap for entry in listing.entries}, "x": "../secret.md"}
    )
    copies = [reader.read(url) for url in (f"{SITE}link", "x", f"{SITE}none")]
    assert [(copy.status, copy.html) for copy in copies] == [(404, None)] * 3
    assert {copy.problem for copy in copies} == {"the folder has no file for it"}


@pytest.mark.parametrize(
    ("markdown", "seen"),
    [
        ("---\ntitle: The arm\ndescription: How\n---\n\nWords.", "The arm\nWords."),
        ("---\ntitle: The arm\n---\n# Own title\n\nWords.", "Own title\nWords."),
        ("+++\ntitle = 'T'\n+++\nWords.", "T\nWords."),
        ("--- no front matter", "--- no front matter"),
        ("[a link](b.md#x) and ![no text](c.png) **bold** `code`", "a link and bold code"),
        ("## Steps {#the-steps}", "Steps"),
        ("!!! warning \"Hot\"\n    Do not touch.\n\nAfter.", "Hot\nDo not touch.\nAfter."),
        ("??? note\n    Folded.", "Note\nFolded."),
        ('=== "Linux"\n\n    apt\n\n=== "Mac"\n\n    brew', "Linux\napt\nMac\nbrew"),
        (":::tip[Mind]\nKeep *away*.\n:::\nAfter.", "Mind\nKeep away.\nAfter."),
        (":::note\nKeep.\n:::", "Note\nKeep."),
        ("```{note} Listen\n:class: x\n\nThis is *prose*.\n```\n\n```\ncode\n```", "Listen\nThis is prose.\ncode"),
        ("```{code-block} python\n:linenos:\n\nprint()\n```", "print()"),
        ("```{toctree}\na\nb\n```\nAfter {ref}`the base <base>`, {py:class}`~a.B`.", "After the base, a.B."),
        ("import A from 'a'\nexport const x = {\n  b: {c: 1},\n}\n\nText {/* hidden\nwords */} here.", "Text here."),
        ('<Tabs>\n<TabItem value="x" label="npm">\n\nrun **it**\n\n</TabItem>\n</Tabs>', "npm\nrun it"),
        ("Press <Key name={'a'} /> now.", "Press now."),
        ("<Fix\n  title='Cache'\n  lines={[\n    { text: 'do {' },\n    { text: `it's <B />`, by: {a: 1} }]}\n/>\n\n"
         "A.", "Cache\nA."),
        ("```js\nimport A from 'a'\n<Tabs label=\"x\">\n:::\n```", "import A from 'a'\n<Tabs label=\"x\">\n:::"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a\tb\n1\t2"),
        ("[TOC]\n\n--8<-- \"a.md\"\n\n*[API]: Interface\n\nA {% raw %}b{% endraw %} :material-check: c{ .x }", "A b c"),
        ("- [x] done\n- [ ] open", "done\nopen"),
        ("<!-- hidden -->\n\nSeen <b>here</b>.", "Seen here."),
        ("", ""),
    ],
)  # fmt: skip
def test_a_page_holds_what_its_reader_sees(markdown, seen):
    assert page_texts(markdown_html(markdown)).main == seen


def test_title_and_description_are_the_pages():
    html = markdown_html('---\ntitle: "A & <b>"\ndescription: Says "so"\n---\n\ntext')
    assert page_texts(html).title == "A & <b>"
    assert 'content="Says &quot;so&quot;"' in html


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["{/*", "{% ", "{:.a ", "<A b={{c", "<A b={'{' c={\"", ":::a\n", "```{a}\n", "export const x = {\n", "!!! a\n    ",
     "{a}`b ", "a\n="],
)  # fmt: skip
def test_hostile_files_cost_no_more_than_their_length(unit):
    def cost(size: int) -> float:
        text = unit * (size // len(unit))
        return min(_seconds(text) for _ in range(2))

    small, large = cost(4_000), cost(16_000)
    assert large < 10 * small + 0.1


def _seconds(text: str) -> float:
    started = time.process_time()
    markdown_html(text)
    return time.process_time() - started


def test_a_file_that_is_too_long_is_reported_and_not_rendered(tmp_path):
    lay(tmp_path, {"a.md": "x" * (LONGEST + 1)})
    copy = FolderReader(tmp_path, {SITE: "a.md"}).read(SITE)
    assert "larger than" in (copy.problem or "")


@pytest.mark.parametrize(
    "text", ["---\n{{{\n---\nx", "---\n- a\n---\nx", "---\n&a [*a]\n---\nx", "\ufeff# x", "\x00\ud800x"]
)
def test_odd_files_are_pages_too(text):
    assert "x" in page_texts(markdown_html(text)).main


def test_configurations_that_are_broken_or_odd_end_in_an_address_or_a_clear_error(tmp_path):
    for name, text in {
        "mkdocs.yml": "- a", "docusaurus.config.js": "{{{{ routeBasePath: 'x', path: ", "conf.py": "project = (",
        "versions.json": json.dumps({"a": 1}),
    }.items():  # fmt: skip
        folder = lay(tmp_path / name.replace(".", "_"), {name: text, "docs/a.md": "", "a.md": ""})
        assert keys(list_folder(folder, SITE)) >= {"/a"} or keys(list_folder(folder, SITE)) >= {"/docs/a"}
