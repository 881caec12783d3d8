"""The pages that the points name: their titles, headings, and versions of the documentation."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ragval_pipeline.cli.looking import Look, value_of
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.site.urls import path_of, without_fragment
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.text.display import one_line
from ragval_pipeline.validation.self_retrieval.names import own_titles, shared_parts
from ragval_pipeline.validation.thresholds import FEWEST, MOST

_WORD = re.compile(r"\w")
#: Words of a first line that may be a title.
_TITLE_WORDS = 12
_MARKDOWN = re.compile(r"^#{1,4}\s+(\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class DraftPage:
    """One page, or one point if points have no page.

    Attributes:
        url: As stored; None if the points have none.
        title: Its title.
        point: One of its points.
        text: Text of that point.
        module: Its module, or None.
        headings: Headings in its points' payload or Markdown.
        points: Number of its points, in all versions.
        twins: Addresses of the same page in other versions of the documentation.
        texts: The texts of its points, in order.
    """

    url: str | None
    title: str
    point: Point
    text: str
    module: str | None
    headings: tuple[str, ...] = ()
    points: int = 1
    twins: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


def pages_of(look: Look, fields: Mapping[str, str]) -> list[DraftPage]:
    """Every page with a title, ordered by address."""
    firsts: dict[str, Point] = {}
    stored: dict[str, Mapping[str, Any]] = {}
    held = Counter[str]()
    headings: dict[str, dict[str, None]] = {}
    texts: dict[str, list[str]] = {}
    read = [(point, {name: value_of(point, path) for name, path in fields.items()}) for point in look.points]
    for point, values in sorted(read, key=lambda entry: _index(entry[1])):
        url = values.get("source_url")
        key = without_fragment(url) if isinstance(url, str) else point.id
        firsts.setdefault(key, point)
        stored.setdefault(key, values)
        held[key] += 1
        texts.setdefault(key, []).append(str(values.get("text") or ""))
        headings.setdefault(key, {}).update(dict.fromkeys(_headings_in(values)))
    named = {key: _title(values) for key, values in stored.items()}
    titles = own_titles(named, shared_parts([title] for title in named.values()))
    versions = versions_of(key for key, point in firsts.items() if key != point.id)
    same: dict[tuple[str, Hashable], list[str]] = {}
    for key in sorted(titles, key=lambda key: (len(key), key)):
        same.setdefault((titles[key].casefold(), versions.get(key, key)), []).append(key)
    found = [
        DraftPage(
            url=None if key == firsts[key].id else key,
            title=titles[key],
            point=firsts[key],
            text=str(stored[key].get("text") or ""),
            module=str(module) if isinstance(module := stored[key].get("module"), str | int) else None,
            headings=tuple(headings[key]),
            points=sum(held[each] for each in (key, *twins)),
            twins=tuple(twins),
            texts=tuple(texts[key]),
        )
        for key, *twins in same.values()
        if _WORD.search(titles[key])
    ]
    return sorted(found, key=lambda page: page.url or page.point.id)


def _headings_in(values: Mapping[str, Any]) -> list[str]:
    """The last heading of the point's path, and Markdown headings of its text."""
    path, text = values.get("headings"), values.get("text")
    named = [path] if isinstance(path, str) else path[-1:] if isinstance(path, list) else []
    found = _MARKDOWN.findall(text) if isinstance(text, str) else []
    return [name for name in (*named, *found) if isinstance(name, str)]


def _title(values: Mapping[str, Any]) -> str:
    """Its title, else its first heading, else the end of its address, else the beginning of its text."""
    headings, url = values.get("headings"), values.get("source_url")
    candidates = (
        values.get("title"),
        headings[0] if isinstance(headings, list) else headings,
        _words_of(url) if isinstance(url, str) else None,
        _beginning(values.get("text")),
    )
    return next((one_line(entry)[:200] for entry in candidates if isinstance(entry, str) and entry.strip()), "")


def _words_of(url: str) -> str:
    last = re.split(r"[\\/]", path_of(url).rstrip("/"))[-1]
    last = last.removesuffix(".html") if is_http_url(url) else last.rpartition(".")[0] or last
    return " ".join(re.split(r"[-_+]+", last))


def _beginning(text: Any) -> str | None:
    """The first line of a text, unless it is a sentence or part of one."""
    line = text.strip().partition("\n")[0].strip() if isinstance(text, str) else ""
    is_title = 0 < len(line.split()) <= _TITLE_WORDS and line[-1] not in ".,:;" and not line[0].islower()
    return line if is_title else None


def _index(values: Mapping[str, Any]) -> int:
    index = values.get("chunk_index")
    return index if isinstance(index, int) else 0


_Path = tuple[str, ...]


def versions_of(urls: Iterable[str]) -> dict[str, _Path]:
    """The path without the version's folder, shared by all versions of a page, by address.

    Folders are versions of each other if most paths of the smaller one also exist in the other. The pages of the newest
    version may be next to these folders, such as ``/docs/intro`` next to ``/docs/1.0/intro``.

    Args:
        urls: The addresses of all pages; other than http(s) are ignored.
    """
    paths = {url: tuple(part for part in path_of(url).split("/") if part) for url in urls if is_http_url(url)}
    below: dict[_Path, dict[str, set[_Path]]] = defaultdict(lambda: defaultdict(set))
    for path in paths.values():
        for at, name in enumerate(path):
            below[path[:at]][name].add(path[at + 1 :])
    versions = {(*parent, name) for parent, folders in below.items() for name in _alike(folders)}
    return {url: _without(path, versions) for url, path in paths.items()}


def _alike(folders: dict[str, set[_Path]]) -> set[str]:
    """The folders that are versions of another one, or of their siblings."""
    large = {name: pages for name, pages in folders.items() if len(pages) >= FEWEST}
    pairs = ((pair, large[pair[0]], large[pair[1]]) for pair in combinations(large, 2))
    alike = (pair for pair, one, other in pairs if _is_most(len(one & other), min(len(one), len(other))))
    found = {name for pair in alike for name in pair}
    every = {(name, *rest) for name, pages in folders.items() for rest in pages}
    for name, pages in large.items():
        beside = {page for page in pages if page in every and page[0] != name}
        if _is_most(len(beside), min(len(pages), len(every) - len(pages))):
            found.add(name)
    return found


def _is_most(shared: int, of: int) -> bool:
    return shared >= FEWEST and shared > MOST * of


def _without(path: _Path, versions: set[_Path]) -> _Path:
    return tuple(name for at, name in enumerate(path) if path[: at + 1] not in versions)
