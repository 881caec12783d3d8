"""Versions and languages of a site, as Read the Docs, Docusaurus, mike, VitePress and others put them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from ragval_pipeline.validation.editions import Family, confirmed, families_in, kind_of, versions_of

SITE = "https://docs.example"
PAGES = ("intro", "guide/install", "guide/upgrade", "reference/api")
#: Sentences of a page, in two languages.
ENGLISH = "To set up the tool, run it on a host that is in the list and add all of the keys it asks you for: {}."
GERMAN = "Um das Tool auf dem Host zu nutzen, gib die Keys ein, die es von dir will, und ruf es mit der Datei auf: {}."


def keys(*folders: str, pages: Iterable[str] = PAGES) -> list[str]:
    return [f"{SITE}{folder}/{page}" for folder in folders for page in pages]


def named(families: Iterable[Family]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for family in families:
        found.setdefault(family.kind, set()).update(family.folder(name) for name in family.editions)
    return found


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (["/en/latest", "/en/stable"], {"version": {"/en/latest", "/en/stable"}}),  # Read the Docs
        (
            ["/en/latest", "/en/3.1", "/de/latest"],
            {"version": {"/en/latest", "/en/3.1"}, "language": {"/en", "/de"}},
        ),
        (["/docs", "/docs/next", "/docs/3.1.x"], {"version": {"/docs", "/docs/next", "/docs/3.1.x"}}),  # Docusaurus
        (["/docs", "/zh-Hans/docs", "/pt-BR/docs"], {"language": {"/", "/zh-Hans", "/pt-BR"}}),
        (["/latest", "/0.2", "/0.1"], {"version": {"/latest", "/0.2", "/0.1"}}),  # mike
        (["/guide", "/zh/guide"], {"language": {"/", "/zh"}}),  # VitePress, Starlight
        (["/docs/v1.30", "/docs/v1.31"], {"version": {"/docs/v1.30", "/docs/v1.31"}}),
        (["/5.0-rc1", "/4.2-lts"], {"version": {"/5.0-rc1", "/4.2-lts"}}),
    ],
)
def test_folders_that_are_named_like_editions_and_have_the_same_pages_may_be_some(
    folders: list[str], expected: dict[str, set[str]]
) -> None:
    assert named(families_in(keys(*folders))) == expected


@pytest.mark.parametrize(
    "addresses",
    [
        keys("/docs"),
        keys("/react", "/vue"),  # same pages, other names
        [*keys("/blog/2023", pages=("a", "b", "c")), *keys("/blog/2024", pages=("d", "e", "f"))],
        [*keys("/docs"), *keys("/docs/3.1", pages=("changes", "intro", "notes"))],  # hardly a page in common
        keys("/docs", "/docs/3.1", pages=("intro", "install")),  # too few
        ["report.pdf", "3.1", "de/intro.md"],
    ],
)
def test_other_folders_are_no_editions(addresses: list[str]) -> None:
    assert families_in(addresses) == []


def texts_of(folders: Mapping[str, str]) -> dict[str, str]:
    return {key: text.format(key.rpartition("/")[2]) for folder, text in folders.items() for key in keys(folder)}


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        ({"/docs": ENGLISH, "/docs/3.1": ENGLISH}, {"version": {"/docs", "/docs/3.1"}}),
        ({"/1": ENGLISH, "/2": GERMAN}, {}),  # chapters, each with a summary and exercises
        ({"": ENGLISH, "/de": GERMAN}, {"language": {"/", "/de"}}),
        ({"": ENGLISH, "/de": ENGLISH}, {}),  # not translated yet
        ({"/it": ENGLISH, "/hr": ENGLISH}, {}),  # departments
        ({"/cs": ENGLISH, "/ts": ENGLISH}, {}),  # programming languages
    ],
)
def test_the_texts_of_the_pages_decide(folders: dict[str, str], expected: dict[str, set[str]]) -> None:
    texts = texts_of(folders)
    found = (confirmed(family, texts.__getitem__) for family in families_in(texts))
    wanted = {kind: {"/" if name == "/" else name for name in names} for kind, names in expected.items()}
    assert named(family for family in found if family is not None) == wanted


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("3.1", "version"), ("v2", "version"), ("1.x", "version"), ("release-1.2", "version"), ("latest", "version"),
        ("6.1-SNAPSHOT", "version"), ("2.0.0-beta.3", "version"), ("de", "language"), ("zh_CN", "language"),
        ("sr-Latn-RS", "language"), ("es-419", "language"), ("go", None), ("js", None), ("docs", None), ("v", None),
        ("module-1", None), ("ch1", None), ("api", None),
    ],
)  # fmt: skip
def test_a_name_tells_a_version_from_a_language(name: str, kind: str | None) -> None:
    assert kind_of(name) == kind


def test_folders_that_share_a_page_are_no_versions_of_each_other() -> None:
    urls = [
        f"{SITE}/{folder}/{page}" for folder in "ab" for page in ("overview", *(f"{folder}{at}" for at in range(4)))
    ]
    assert versions_of(urls) == {url: tuple(url.removeprefix(f"{SITE}/").split("/")) for url in urls}
