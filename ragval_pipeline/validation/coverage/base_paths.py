"""Which page of the site a page of another host stands for: the same path, or the same behind one base path.

What lives here: matching of paths. What does not: which hosts are wrong (``hosts``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

#: Pages that one base path must explain: that a single path ends like another happens between any two sites.
MIN_SHARED = 2


def counterparts(paths: Collection[str], site_paths: Collection[str]) -> dict[str, str]:
    """The site's path for each path of another host that has one.

    A deployment below a base path (``/book/docs/intro`` for ``/docs/intro``, or the other way round) is the same site;
    the base path counts when it explains at least ``MIN_SHARED`` pages.

    Args:
        paths: Folded paths of the pages of one other host.
        site_paths: Folded paths of the site's pages.
    """
    known = frozenset(site_paths)
    found = {path: path for path in paths if path in known}
    explained: dict[tuple[str, str], dict[str, str]] = {}
    for base, site_base, path, site_path in _shifted(paths, known):
        explained.setdefault((base, site_base), {})[path] = site_path
    for _, pairs in sorted(explained.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        if len(pairs) >= MIN_SHARED:
            found = {**pairs, **found}
    return found


def _shifted(paths: Iterable[str], site_paths: Collection[str]) -> Iterator[tuple[str, str, str, str]]:
    """Base path of the other host and of the site (one of them empty), path and site path of every pair that fits."""
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
    """Every base path that a path can have, with the rest; the whole path leaves the root."""
    segments = path.split("/")[1:]
    for start in range(1, len(segments) + 1):
        if base := "/".join(segments[:start]):
            yield f"/{base}", "/" + "/".join(segments[start:])
