"""Editions of a site: its versions and languages, whose pages stand beside each other under a folder each.

Read the Docs has them at ``/en/latest/intro``, Docusaurus at ``/docs/3.1/intro`` beside ``/docs/intro`` and at
``/zh/docs/intro``, mike at ``/0.2/intro`` and VitePress at ``/zh/guide/intro`` beside ``/guide/intro``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Literal

from ragval_pipeline.sources.http.addresses import host_of, is_http_url
from ragval_pipeline.sources.site.urls import path_of
from ragval_pipeline.text.folding import words_of
from ragval_pipeline.validation.thresholds import FEWEST, MOST

Kind = Literal["version", "language"]
Path = tuple[str, ...]
#: Pages compared with the same page of another edition.
_COMPARED = 20  # work
#: Words by which two languages are told apart: the most frequent ones of at most so many letters.
_COMMON, _SHORT = 20, 4  # work

_VERSION = re.compile(
    r"(?:v|ver|version|release|rel|r)?[-_.]?\d+(?:[-_.]\d+)*(?:[-_.]?x)?"
    r"(?:[-_.+]?(?:alpha|beta|a|b|rc|pre|preview|dev|snapshot|lts|ga|final)[-_.]?\d*)*"
    r"|latest|stable|current|next|main|master|trunk|head|dev|devel|develop|development|nightly|canary|edge|unstable"
    r"|preview|snapshot|legacy",
    re.IGNORECASE,
)
#: ISO 639-1.
_LANGUAGES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne "
    "ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st "
    "su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
_LANGUAGE = re.compile(r"([a-z]{2})(?:[-_](?:[a-z]{4}))?(?:[-_](?:[a-z]{2}|\d{3}))?", re.IGNORECASE)


@dataclass(frozen=True)
class Family:
    """Editions beside each other.

    Attributes:
        kind: What they are.
        parent: Host and folders that they share.
        editions: The page of each path that all of them may have, by the edition's folder; the pages beside these
            folders are under an empty name.
    """

    kind: Kind
    parent: Path
    editions: Mapping[str, Mapping[Path, str]]

    def folder(self, edition: str) -> str:
        """The path of an edition's folder."""
        return "/" + "/".join((*self.parent[1:], edition) if edition else self.parent[1:])

    def groups(self) -> Iterator[dict[str, str]]:
        """Each page that several editions have, by edition."""
        paths = dict.fromkeys(path for pages in self.editions.values() for path in pages)
        for path in paths:
            found = {name: pages[path] for name, pages in self.editions.items() if path in pages}
            if len(found) > 1:
                yield found

    def pairs(self, first: str, second: str) -> list[tuple[str, str]]:
        """Some pages that two editions have, evenly spread."""
        one, other = self.editions[first], self.editions[second]
        shared = sorted(one.keys() & other.keys())
        return [(one[path], other[path]) for path in shared[:: -(-len(shared) // _COMPARED) or 1]]

    def without(self, names: Collection[str]) -> Family:
        """The same without some editions."""
        return Family(self.kind, self.parent, {name: own for name, own in self.editions.items() if name not in names})


def kind_of(name: str) -> Kind | None:
    """What the name of a folder, or the value of a field, is the name of."""
    if _VERSION.fullmatch(name):
        return "version"
    language = _LANGUAGE.fullmatch(name)
    return "language" if language and language[1].lower() in _LANGUAGES.split() else None


def kind_of_values(field: str, values: Iterable[str]) -> Kind | None:
    """What all values of a payload field are the names of; numbers alone may be tenants."""
    held = list(values)
    kinds = {kind_of(value) for value in held}
    if len(kinds) != 1 or (all(value.isdecimal() for value in held) and "version" not in field.lower()):
        return None
    return kinds.pop()


def families_in(keys: Iterable[str]) -> list[Family]:
    """Folders that are named like editions, and of which most pages are in another one, or beside them.

    Their texts are not looked at: departments may be called ``it`` and ``hr``.

    Args:
        keys: Canonical forms of addresses.
    """
    known = cache(kind_of)
    paths = {key: (host_of(key) or "", *(part for part in path_of(key).split("/") if part)) for key in keys}
    parents: dict[tuple[Kind, Path], set[str]] = defaultdict(set)
    for path in paths.values():
        for at, name in enumerate(path[1:], start=1):
            if (kind := known(name)) is not None:
                parents[kind, path[:at]].add(name)
    if not parents:
        return []
    pages: dict[tuple[Kind, Path], dict[str, dict[Path, str]]] = {where: defaultdict(dict) for where in parents}
    kinds: dict[Path, list[tuple[Kind, Path]]] = defaultdict(list)
    for where in parents:
        kinds[where[1]].append(where)
    for key, path in paths.items():
        for at in range(1, len(path) + 1):
            for where in kinds.get(path[:at], ()):
                own = path[at] if at < len(path) and path[at] in parents[where] else ""
                pages[where][own][path[at + 1 :] if own else path[at:]] = key
    families = (Family(kind, parent, _beside(each)) for (kind, parent), each in pages.items())
    return [family for family in families if len(family.editions) > 1]


def _beside(folders: Mapping[str, Mapping[Path, str]]) -> dict[str, Mapping[Path, str]]:
    """Those of some folders that have most pages of another one."""
    alike: set[str] = set()
    for one, other in combinations(folders, 2):
        if is_most(len(folders[one].keys() & folders[other].keys()), min(len(folders[one]), len(folders[other]))):
            alike |= {one, other}
    return {name: folders[name] for name in sorted(alike)}


def confirmed(family: Family, text_of: Callable[[str], str]) -> Family | None:
    """A family with the editions that its texts confirm; None if these are fewer than two.

    The same page of two versions has most of its words in common; that of two languages has others, even the most
    frequent ones. Pages that are not translated yet confirm no language, those of another folder do.

    Args:
        family: Folders that are named like editions.
        text_of: The text of a page, by its canonical form.
    """
    fits = _are_versions if family.kind == "version" else _are_languages
    alike: set[str] = set()
    for first, second in combinations(family.editions, 2):
        texts = [(text_of(one), text_of(other)) for one, other in family.pairs(first, second)]
        if len(texts) >= FEWEST and fits(texts):
            alike |= {first, second}
    return family.without(family.editions.keys() - alike) if len(alike) > 1 else None


def _are_versions(texts: Sequence[tuple[str, str]]) -> bool:
    return 2 * sum(_is_mostly(one, other) for one, other in texts) > len(texts)


def _is_mostly(one: str, other: str) -> bool:
    first, second = (set(zip(words, words[1:], words[2:], strict=False)) for words in map(words_of, (one, other)))
    return len(first & second) > MOST * min(len(first), len(second))


def _are_languages(texts: Sequence[tuple[str, str]]) -> bool:
    first, second = (_common(pair[side] for pair in texts) for side in (0, 1))
    fewer = min(len(first), len(second))
    return 2 * fewer >= _COMMON and len(first & second) < MOST * fewer


def _common(texts: Iterable[str]) -> set[str]:
    """The most frequent short words, which make a language."""
    counts = Counter(word for text in texts for word in words_of(text) if len(word) <= _SHORT and word.isalpha())
    return {word for word, _ in counts.most_common(_COMMON)}


def versions_of(urls: Iterable[str]) -> dict[str, Path]:
    """The path without the version's folder, shared by all versions of a page, by address.

    Folders are versions of each other if most paths of the smaller one also exist in the other, whatever their names.
    The pages of the newest version may be next to these folders, such as ``/docs/intro`` next to ``/docs/1.0/intro``.

    Args:
        urls: The addresses of all pages; other than http(s) are ignored.
    """
    paths = {url: tuple(part for part in path_of(url).split("/") if part) for url in urls if is_http_url(url)}
    below: dict[Path, dict[str, set[Path]]] = defaultdict(lambda: defaultdict(set))
    for path in paths.values():
        for at, name in enumerate(path):
            below[path[:at]][name].add(path[at + 1 :])
    versions = {(*parent, name) for parent, folders in below.items() for name in _alike(folders)}
    return {url: _without(path, versions) for url, path in paths.items()}


def _alike(folders: Mapping[str, set[Path]]) -> set[str]:
    """The folders that are versions of another one, or of their siblings."""
    large = {name: pages for name, pages in folders.items() if len(pages) >= FEWEST}
    pairs = ((pair, large[pair[0]], large[pair[1]]) for pair in combinations(large, 2))
    alike = (pair for pair, one, other in pairs if is_most(len(one & other), min(len(one), len(other))))
    found = {name for pair in alike for name in pair}
    every = {(name, *rest) for name, pages in folders.items() for rest in pages}
    for name, pages in large.items():
        beside = {page for page in pages if page in every and page[0] != name}
        if is_most(len(beside), min(len(pages), len(every) - len(pages))):
            found.add(name)
    return found


def is_most(shared: int, of: int) -> bool:
    """Whether several pages are shared, and most of ``of``."""
    return shared >= FEWEST and shared > MOST * of


def _without(path: Path, versions: set[Path]) -> Path:
    return tuple(name for at, name in enumerate(path) if path[: at + 1] not in versions)
