"""Pages in several versions of the documentation: the same paths in different folders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.site.urls import path_of
from ragval_pipeline.validation.thresholds import FEWEST, MOST

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
