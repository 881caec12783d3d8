"""Pages of the site under another host: the same path, or the same one behind a base path."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from ragval_pipeline.sources.http.addresses import host_of, is_http_url, is_loopback_or_private, split_url
from ragval_pipeline.sources.site.urls import fold_path
from ragval_pipeline.validation.coverage.indexed import IndexedPage
from ragval_pipeline.validation.thresholds import FEW


def of_another_site(indexed: Mapping[str, IndexedPage], site_keys: Collection[str], points: int) -> dict[str, str]:
    """The hosts of pages on public hosts that share no path with the site, by page; none if they are an exception."""
    found = {
        page.key: host
        for host, pages in strangers_of(indexed, site_keys).items()
        if not is_loopback_or_private(next(iter(pages[0].spellings)))
        and all(path_of_page(key) == "/" for key in site_pages_of((page.key for page in pages), site_keys).values())
        for page in pages
    }
    return found if sum(indexed[key].points for key in found) > FEW * points else {}


def strangers_of(indexed: Mapping[str, IndexedPage], site_keys: Collection[str]) -> dict[str, list[IndexedPage]]:
    """The indexed pages on hosts that are not the site's, by host."""
    site_hosts = set(map(host_of_page, site_keys))
    strangers: dict[str, list[IndexedPage]] = {}
    for key, page in indexed.items():
        host = host_of_page(key)
        if host is not None and host not in site_hosts:
            strangers.setdefault(host, []).append(page)
    return strangers


def site_pages_of(keys: Iterable[str], site_keys: Iterable[str]) -> dict[str, str]:
    """The site's page for each page of another host, if there is one.

    Both as canonical addresses.
    """
    site_pages = {path_of_page(key): key for key in site_keys}
    paths: dict[str, list[str]] = {}
    for key in keys:
        paths.setdefault(path_of_page(key), []).append(key)
    known = counterparts(paths, site_pages)
    return {key: site_pages[known[path]] for path, same in paths.items() if path in known for key in same}


def host_of_page(key: str) -> str | None:
    """The host of a canonical URL; None for other names of pages."""
    return host_of(key) if is_http_url(key) else None


def path_of_page(key: str) -> str:
    """A canonical URL without its host; a file's address without its scheme."""
    if key.lower().startswith("file:"):
        return fold_path(split_url(key).path)
    host = host_of_page(key)
    return key if host is None else key.removeprefix(f"https://{host}")


def counterparts(paths: Collection[str], site_paths: Collection[str]) -> dict[str, str]:
    """The site's path for each path of another host, if there is one.

    A deployment below a base path (``/book/docs/intro`` for ``/docs/intro``, or vice versa) is the same site; the base
    path counts if it explains several pages: a single common path ending is chance.
    """
    known = frozenset(site_paths)
    found = {path: path for path in paths if path in known}
    explained: dict[tuple[str, str], dict[str, str]] = {}
    for base, site_base, path, site_path in _shifted(paths, known):
        explained.setdefault((base, site_base), {})[path] = site_path
    for _, pairs in sorted(explained.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        if len(pairs) > 1:
            found = {**pairs, **found}
    return found


def _shifted(paths: Iterable[str], site_paths: Collection[str]) -> Iterator[tuple[str, str, str, str]]:
    """Base path of the other host and of the site (one of them empty), path and site path of every matching pair."""
    based: dict[str, list[tuple[str, str]]] = {}
    for site_path in site_paths:
        for base, end in _split(site_path):
            based.setdefault(end, []).append((base, site_path))
    for path in paths:
        for base, end in _split(path):
            if end in site_paths:
                yield base, "", path, end
        for base, site_path in based.get(path, ()):
            yield "", base, path, site_path


def _split(path: str) -> Iterator[tuple[str, str]]:
    """Every possible base path of a path, with the rest; the whole path leaves the root."""
    segments = path.split("/")[1:]
    for start in range(1, len(segments) + 1):
        if base := "/".join(segments[:start]):
            yield f"/{base}", "/" + "/".join(segments[start:])
