"""Finding the file of a page in the folder of a built site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.site.urls import fold_path, path_of

# Enough to outvote pages that happen to exist under a shortened path, few enough to be cheap.
SAMPLE = 200


def file_inside(folder: Path, name: str) -> Path | None:
    """The regular file ``name`` of a resolved folder; None if it does not exist or lies outside."""
    path = folder / name
    try:
        if not path.is_file():
            return None
        found = path.resolve()
        return found if found.is_relative_to(folder) else None
    except (OSError, ValueError, RuntimeError):  # a name that is too long, a NUL, a symlink loop
        return None


class SiteFolder:
    """The folder of a built site, and the path under which a web server would serve it.

    Args:
        root: The folder.
        base_path: Leading part of every page's path that the folder does not have, e.g. ``/book``; None to detect it.

    Raises:
        SuiteError: The folder does not exist.
    """

    def __init__(self, root: Path, base_path: str | None) -> None:
        if not root.is_dir():
            raise SuiteError(
                f"there is no folder {root}",
                key="source.site_root",
                remedy="Build the site first, or correct the path.",
            )
        self._root = root.resolve()
        self.base_path = None if base_path is None else _trimmed(base_path)

    def find(self, url: str) -> Path | None:
        """The file of a page, looked up unchanged and then without the base path."""
        if not is_http_url(url):
            return None
        path = unquote(path_of(url))
        found = self._lookup(path)
        if self.base_path is None:
            # Decided by the first page found: later a missing page must not match a shorter path.
            self.base_path = "" if found else self._prefix_of(path)
        if found is None and self.base_path and (path + "/").startswith(self.base_path + "/"):
            found = self._lookup(path.removeprefix(self.base_path) or "/")
        return found

    def learn_base_path(self, urls: Iterable[str]) -> str | None:
        """Detect the base path from the pages of the site, unless it is known.

        Returns:
            The prefix under which most pages are found, ``""`` for none; None if no page is found.
        """
        if self.base_path is None:
            paths = (unquote(path_of(url)) for url in islice(filter(is_http_url, urls), SAMPLE))
            votes = Counter(prefix for prefix in map(self._prefix_of, paths) if prefix is not None)
            if votes:
                self.base_path = max(votes, key=lambda prefix: (votes[prefix], -len(prefix)))
        return self.base_path

    def _prefix_of(self, path: str) -> str | None:
        """The shortest prefix without which the page is found; never the whole path, since a root always exists."""
        segments = path.strip("/").split("/")
        for count in range(len(segments)):
            if self._lookup("/" + "/".join(segments[count:])):
                return "".join(f"/{segment}" for segment in segments[:count])
        return None

    def _lookup(self, path: str) -> Path | None:
        as_is, folded = path.strip("/"), fold_path(path).strip("/")
        names = [as_is, f"{folded}.html", f"{folded}/index.html" if folded else "index.html"]
        if path.endswith("/"):  # as in web servers: a slash means the folder's index page
            names[1:] = reversed(names[1:])
        found = next((found for name in names if name and (found := file_inside(self._root, name))), None)
        # llms.txt lists the addresses of a page's Markdown.
        return self._lookup(path.removesuffix(".md")) if found is None and path.endswith(".md") else found


def _trimmed(base_path: str) -> str:
    inner = base_path.strip("/")
    return f"/{inner}" if inner else ""
