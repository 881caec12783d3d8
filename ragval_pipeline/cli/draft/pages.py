"""The pages that the points name: their titles, headings, and versions of the documentation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.site.urls import path_of, without_fragment
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.text.display import one_line
from ragval_pipeline.validation.editions import kind_of, versions_of
from ragval_pipeline.validation.first_look.points import Look, value_of
from ragval_pipeline.validation.self_retrieval.names import own_titles, shared_parts

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
        locales: Addresses of the same page in other languages.
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
    locales: tuple[str, ...] = ()


def pages_of(look: Look, fields: Mapping[str, str]) -> list[DraftPage]:
    """Every page with a title, ordered by address."""
    firsts: dict[str, Point] = {}
    stored: dict[str, Mapping[str, Any]] = {}
    counts = Counter[str]()
    headings: dict[str, dict[str, None]] = {}
    texts: dict[str, list[str]] = {}
    read = [(point, {name: value_of(point, path) for name, path in fields.items()}) for point in look.points]
    for point, values in sorted(read, key=lambda entry: _index(entry[1])):
        url = values.get("source_url")
        key = without_fragment(url) if isinstance(url, str) else point.id
        firsts.setdefault(key, point)
        stored.setdefault(key, values)
        counts[key] += 1
        texts.setdefault(key, []).append(str(values.get("text") or ""))
        headings.setdefault(key, {}).update(dict.fromkeys(_headings_in(values)))
    named = {key: _title(values) for key, values in stored.items()}
    titles = own_titles(named, shared_parts([title] for title in named.values()))
    versions = versions_of(key for key, point in firsts.items() if key != point.id)
    same: dict[tuple[str, Hashable], list[str]] = {}
    beside: dict[Hashable, list[str]] = {}
    for key in sorted(titles, key=lambda key: (len(key), key)):
        same.setdefault((titles[key].casefold(), versions.get(key, key)), []).append(key)
        beside.setdefault(versions.get(key, key), []).append(key)
    found = [
        DraftPage(
            url=None if key == firsts[key].id else key,
            title=titles[key],
            point=firsts[key],
            text=str(stored[key].get("text") or ""),
            module=str(module) if isinstance(module := stored[key].get("module"), str | int) else None,
            headings=tuple(headings[key]),
            points=sum(counts[each] for each in (key, *twins)),
            twins=tuple(twins),
            locales=tuple(other for other in beside[versions.get(key, key)] if _is_in_another_language(key, other)),
            texts=tuple(texts[key]),
        )
        for key, *twins in same.values()
        if _WORD.search(titles[key])
    ]
    return sorted(found, key=lambda page: page.url or page.point.id)


def _is_in_another_language(url: str, other: str) -> bool:
    """Whether two addresses of a page differ in the folder of a language, which one of them may lack."""
    one, two = ([part for part in path_of(address).split("/") if part] for address in (url, other))
    folders = [part for part in (*one, *two) if (part in one) != (part in two)]
    return 0 < len(folders) < 3 and all(kind_of(folder) == "language" for folder in folders)


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
