"""The pages of a collection's points: where they are, what they are called and which headings their points name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from ragval_pipeline.cli.looking import Look
from ragval_pipeline.reporting.text import one_line
from ragval_pipeline.sources.site.urls import is_http_url, path_of
from ragval_pipeline.sources.stores.qdrant.reader import Point

#: A site's name at the end of a title, after a bar, a dash or a middle dot.
_SUFFIX = re.compile("\\s+[|\u2013\u2014\u00b7-]\\s+[^|\u2013\u2014\u00b7]+$")
_WORD = re.compile(r"\w")
_MARKDOWN = re.compile(r"^#{1,4}\s+(\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class DraftPage:
    """One page, or one point where points name no page.

    Args:
        url: As stored; null when the points hold none.
        title: What it is called.
        point: One of its points.
        text: Text of that point.
        module: Its module, or null.
        headings: Headings that its points name, in payload or Markdown.
    """

    url: str | None
    title: str
    point: Point
    text: str
    module: str | None
    headings: tuple[str, ...] = ()


def pages_of(look: Look, fields: Mapping[str, str]) -> list[DraftPage]:
    """Every page of the points that has a title of its own, in the order of their addresses."""
    firsts: dict[str, Point] = {}
    headings: dict[str, dict[str, None]] = {}
    for point in sorted(look.points, key=lambda point: _index(look, point, fields)):
        url = _one(look, point, fields.get("source_url"))
        key = url if isinstance(url, str) else point.id
        firsts.setdefault(key, point)
        headings.setdefault(key, {}).update(dict.fromkeys(_headings_in(look, point, fields)))
    named = {key: _title(look, point, fields) for key, point in firsts.items()}
    ends = Counter(match.group() for title in named.values() if (match := _SUFFIX.search(title)))
    suffix = next((end for end, count in ends.most_common(1) if count > 1 and 2 * count >= len(named)), "")
    titles = {key: title.removesuffix(suffix).strip() for key, title in named.items()}
    counts = Counter(title.casefold() for title in titles.values())
    own = {key: title for key, title in titles.items() if _WORD.search(title) and counts[title.casefold()] == 1}
    return [_page(look, key, own[key], firsts[key], fields, tuple(headings[key])) for key in sorted(own)]


def shared_folder(urls: Sequence[str]) -> str | None:
    """The path that all pages lie below, as ``/docs``; null when there is none, or less than two pages."""
    paths = {tuple(path_of(url).strip("/").split("/")) for url in urls if is_http_url(url)}
    if len(paths) < 2:
        return None
    # At most one of several different paths is the folder itself, as /docs/ is; all others lie below it.
    levels = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    shared = [names[0] for names in levels]
    return "/" + "/".join(shared) if any(shared) else None


def _page(
    look: Look, key: str, title: str, point: Point, fields: Mapping[str, str], headings: tuple[str, ...]
) -> DraftPage:
    module = _one(look, point, fields.get("module"))
    text = _one(look, point, fields.get("text"))
    return DraftPage(
        url=None if key == point.id else key,
        title=title,
        point=point,
        text=text if isinstance(text, str) else "",
        module=str(module) if isinstance(module, str | int) else None,
        headings=headings,
    )


def _headings_in(look: Look, point: Point, fields: Mapping[str, str]) -> list[str]:
    """The last of the point's heading path, and what its text marks as a heading in Markdown."""
    path = _one(look, point, fields.get("headings"))
    named = [path[-1]] if isinstance(path, list) and path and isinstance(path[-1], str) else []
    named += [path] if isinstance(path, str) else []
    text = _one(look, point, fields.get("text"))
    return named + (_MARKDOWN.findall(text) if isinstance(text, str) else [])


def _title(look: Look, point: Point, fields: Mapping[str, str]) -> str:
    """Its title, else its first heading, else the end of its address, else how its text begins."""
    headings = _one(look, point, fields.get("headings"))
    url = _one(look, point, fields.get("source_url"))
    candidates = (
        _one(look, point, fields.get("title")),
        headings[0] if isinstance(headings, list) else headings,
        _words_of(url) if isinstance(url, str) else None,
        _beginning(_one(look, point, fields.get("text"))),
    )
    return next((one_line(entry)[:200] for entry in candidates if isinstance(entry, str) and entry.strip()), "")


def _words_of(url: str) -> str:
    last = path_of(url).rstrip("/").rpartition("/")[2].removesuffix(".html")
    return " ".join(re.split(r"[-_+]+", last))


def _beginning(text: Any) -> str | None:
    return " ".join(text.split()[:12]) if isinstance(text, str) else None


def _index(look: Look, point: Point, fields: Mapping[str, str]) -> int:
    index = _one(look, point, fields.get("chunk_index"))
    return index if isinstance(index, int) else 0


def _one(look: Look, point: Point, path: str | None) -> Any:
    values = Look(look.facts, [point]).values(path) if path else []
    return values[0] if values else None
